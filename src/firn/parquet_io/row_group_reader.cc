#include <algorithm>
#include <utility>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "firn/parquet_io/fetched_ranges.h"
#include "firn/parquet_io/parquet_errors.h"
#include "firn/parquet_io/projection.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/types/arrow_types.h"

namespace firn::parquet_io {
namespace {

struct RowRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// What libparquet needs to read one row group; members in the order in which they
/// depend on each other.
struct OpenRowGroup {
  std::unique_ptr<parquet::arrow::FileReader> reader;
  std::shared_ptr<arrow::RecordBatchReader> batches;
};

class ProjectedReader final : public arrow::RecordBatchReader {
 public:
  ProjectedReader(OpenRowGroup open, types::Schema schema, RowRange range,
                  std::string name)
      : open_(std::move(open)),
        schema_(std::move(schema)),
        arrow_schema_(types::ToArrowSchema(schema_)),
        name_(std::move(name)),
        to_skip_(range.first),
        to_read_(range.count) {}

  std::shared_ptr<arrow::Schema> schema() const override { return arrow_schema_; }

  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    return Reading(name_, [&] { return Next(out); });
  }

 private:
  Status Next(std::shared_ptr<arrow::RecordBatch>* out) {
    out->reset();
    while (to_read_ > 0) {
      std::shared_ptr<arrow::RecordBatch> decoded;
      FIRN_RETURN_NOT_OK(open_.batches->ReadNext(&decoded));
      if (decoded == nullptr) {
        return Error(ErrorKind::kCorruption, "the row group ends {} rows too early",
                     to_read_);
      }
      const std::int64_t skipped = std::min(to_skip_, decoded->num_rows());
      to_skip_ -= skipped;
      decoded = decoded->Slice(skipped, to_read_);
      if (decoded->num_rows() == 0) continue;
      to_read_ -= decoded->num_rows();
      return Project(*decoded, open_.reader->manifest().schema_fields, schema_)
          .Value(out);
    }
    return Status::OK();
  }

  const OpenRowGroup open_;
  const types::Schema schema_;
  const std::shared_ptr<arrow::Schema> arrow_schema_;
  const std::string name_;
  std::int64_t to_skip_;
  std::int64_t to_read_;
};

/// Field ids are the only identity of columns: without any, each would be read as
/// missing.
Status CheckHasFieldIds(const parquet::SchemaDescriptor& schema) {
  for (int i = 0; i < schema.group_node()->field_count(); ++i) {
    if (schema.group_node()->field(i)->field_id() >= 0) return Status::OK();
  }
  return Error(ErrorKind::kCorruption, "its columns have no field ids");
}

std::vector<arrow::io::ReadRange> ChunkRanges(const parquet::RowGroupMetaData& row_group,
                                              const std::vector<int>& columns) {
  std::vector<arrow::io::ReadRange> ranges;
  for (const int column : columns) {
    ranges.push_back(ChunkRange(*row_group.ColumnChunk(column)));
  }
  return ranges;
}

Result<std::shared_ptr<arrow::io::RandomAccessFile>> BytesToRead(
    const RowGroupSource& source, std::vector<arrow::io::ReadRange> ranges) {
  if (source.is_near) return source.file;
  auto fetched = FetchedRanges::Fetch(source.file, std::move(ranges));
  if (!fetched.ok()) return AddContext(fetched.status(), source.name);
  return *std::move(fetched);
}

Result<OpenRowGroup> Open(const RowGroupSource& source,
                          std::shared_ptr<arrow::io::RandomAccessFile> bytes,
                          const std::vector<int>& columns, std::int64_t batch_rows) {
  parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_batch_size(batch_rows);
  // Pre-buffering would start threads.
  properties.set_pre_buffer(false);
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
  // A value that changed on the disk must not get into a table.
  parquet::ReaderProperties file_properties;
  file_properties.set_page_checksum_verification(true);
  if (source.is_near) {
    file_properties.enable_buffered_stream();
    file_properties.set_buffer_size(kNearReadBytes);
  }
  auto file =
      parquet::ParquetFileReader::Open(std::move(bytes), file_properties, source.footer);
  OpenRowGroup open;
  FIRN_ASSIGN_OR_RETURN(open.reader,
                        parquet::arrow::FileReader::Make(arrow::default_memory_pool(),
                                                         std::move(file), properties));
  FIRN_ASSIGN_OR_RETURN(open.batches,
                        open.reader->GetRecordBatchReader({source.row_group}, columns));
  return open;
}

Status CheckRange(const RowGroupSource& source, RowRange range, std::int64_t batch_rows) {
  if (source.row_group < 0 || source.row_group >= source.footer->num_row_groups()) {
    return InvalidError("{}: there is no row group {} among {}", source.name,
                        source.row_group, source.footer->num_row_groups());
  }
  const std::int64_t rows = source.footer->RowGroup(source.row_group)->num_rows();
  const bool inside = range.first >= 0 && range.count >= 0 && range.first <= rows &&
                      range.count <= rows - range.first;
  if (inside && batch_rows > 0) return Status::OK();
  return InvalidError(
      "{}: rows {}+{} in batches of {} asked of row group {} with {} rows", source.name,
      range.first, range.count, batch_rows, source.row_group, rows);
}

}  // namespace

Result<std::unique_ptr<arrow::RecordBatchReader>> ReadRowGroup(
    const RowGroupSource& source, const types::Schema& schema, std::int64_t first_row,
    std::int64_t rows, std::int64_t batch_rows) {
  const RowRange range{.first = first_row, .count = rows};
  FIRN_RETURN_NOT_OK(CheckRange(source, range, batch_rows));
  std::vector<int> columns;
  std::vector<arrow::io::ReadRange> ranges;
  FIRN_RETURN_NOT_OK(Reading(source.name, [&] {
    FIRN_RETURN_NOT_OK(CheckHasFieldIds(*source.footer->schema()));
    columns = ColumnsToRead(*source.footer->schema(), schema);
    ranges = ChunkRanges(*source.footer->RowGroup(source.row_group), columns);
    return Status::OK();
  }));
  FIRN_ASSIGN_OR_RETURN(auto bytes, BytesToRead(source, std::move(ranges)));
  return Reading(source.name, [&]() -> Result<std::unique_ptr<arrow::RecordBatchReader>> {
    FIRN_ASSIGN_OR_RETURN(OpenRowGroup open,
                          Open(source, std::move(bytes), columns, batch_rows));
    return std::make_unique<ProjectedReader>(std::move(open), schema, range, source.name);
  });
}

}  // namespace firn::parquet_io
