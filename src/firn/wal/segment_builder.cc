#include "firn/wal/segment_builder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "firn/order/key_bound.h"
#include "firn/order/key_encoder.h"
#include "firn/parquet_io/footer_seal.h"
#include "firn/types/arrow_types.h"
#include "firn/wal/key_samples.h"
#include "firn/wal/segment_format.h"
#include "firn/wal/sorted_rows.h"

namespace firn::wal {
namespace {

/// In memory; a partition of so many bytes does not share row groups.
constexpr std::int64_t kOwnRowGroupBytes = 1 << 20;
/// Segments are read once or twice: speed counts more than size.
constexpr int kCompressionLevel = 1;
/// Before anything was compressed. Rather too high: a row group becomes too small.
constexpr double kFirstCompressionRatio = 0.4;
/// Of a small row group headers are a large part: it says little about a full one.
constexpr int kTellingPart = 4;

types::Field HiddenField(FieldId id, std::string name, types::TypeKind kind,
                         const types::Schema& schema) {
  while (types::FindField(schema, name) != nullptr) name.insert(0, "_");
  return {.id = id, .name = std::move(name), .type = types::Type(kind)};
}

types::Schema FileSchema(const types::Schema& schema) {
  types::Schema file = schema;
  file.fields.push_back(
      HiddenField(kSourceFieldId, "source", types::TypeKind::kInt, schema));
  file.fields.push_back(
      HiddenField(kOffsetFieldId, "offset", types::TypeKind::kLong, schema));
  return file;
}

order::SortOrder AsSortOrder(const types::PartitionSpec& spec) {
  order::SortOrder order;
  for (const types::PartitionField& field : spec.fields) {
    order.fields.push_back({.source_id = field.source_id, .transform = field.transform});
  }
  return order;
}

parquet_io::FileWriterOptions WriterOptions(parquet_io::Codec codec) {
  return {
      .codec = codec,
      .compression_level = kCompressionLevel,
      // Row groups end where runs end, not where the writer would end them.
      .row_group_bytes = std::numeric_limits<std::int64_t>::max() / 2,
      // Metrics are wanted by run, not of the file.
      .metrics = {.default_mode = {.kind = parquet_io::MetricsMode::Kind::kNone}},
  };
}

/// Lays sorted rows out in row groups, and writes them down.
class SegmentAssembly {
 public:
  struct Context {
    const TableLayout& layout;
    const SegmentOptions& options;
    std::string_view segment;
    /// Updated.
    double& compression_ratio;
  };

  SegmentAssembly(Context context, const SortedRows& sorted,
                  parquet_io::FileWriter& writer)
      : context_(context), sorted_(sorted), writer_(writer) {}

  Result<std::vector<std::vector<SegmentRun>>> Write() && {
    for (const PartitionRows& partition : sorted_.partitions) {
      if (MemoryBytes(partition) >= OwnRowGroupBytes()) {
        FIRN_RETURN_NOT_OK(WriteAlone(partition));
      } else {
        FIRN_RETURN_NOT_OK(WriteShared(partition));
      }
    }
    FIRN_RETURN_NOT_OK(EndRowGroup());
    return std::move(row_groups_);
  }

 private:
  std::int64_t OwnRowGroupBytes() const {
    return std::min(kOwnRowGroupBytes, context_.options.row_group_bytes);
  }

  std::int64_t MemoryBytes(const PartitionRows& partition) const {
    return sorted_.bytes(partition.first_row, partition.rows);
  }

  /// Size in memory of what will just fill a row group.
  std::int64_t RowGroupMemoryBytes() const {
    return std::max<std::int64_t>(
        1,
        static_cast<std::int64_t>(static_cast<double>(context_.options.row_group_bytes) /
                                  context_.compression_ratio));
  }

  Status WriteAlone(const PartitionRows& partition) {
    FIRN_RETURN_NOT_OK(EndRowGroup());
    const std::int64_t end = partition.first_row + partition.rows;
    for (std::int64_t row = partition.first_row; row < end;) {
      const std::int64_t rows = RowsThatFit(row, end);
      AddRun(partition.tuple, row, rows);
      FIRN_RETURN_NOT_OK(EndRowGroup());
      row += rows;
    }
    return Status::OK();
  }

  Status WriteShared(const PartitionRows& partition) {
    const std::int64_t bytes = OpenMemoryBytes() + MemoryBytes(partition);
    if (bytes > RowGroupMemoryBytes()) FIRN_RETURN_NOT_OK(EndRowGroup());
    AddRun(partition.tuple, partition.first_row, partition.rows);
    return Status::OK();
  }

  /// At least one.
  std::int64_t RowsThatFit(std::int64_t row, std::int64_t end) const {
    const auto begin = sorted_.row_bytes.begin();
    const std::int64_t limit = begin[row] + RowGroupMemoryBytes();
    const std::int64_t fitting_end =
        std::upper_bound(begin + row, begin + end + 1, limit) - begin - 1;
    return std::max<std::int64_t>(1, fitting_end - row);
  }

  std::int64_t OpenMemoryBytes() const {
    return sorted_.bytes(open_first_row_, open_rows_);
  }

  void AddRun(const types::PartitionTuple& tuple, std::int64_t row, std::int64_t rows) {
    if (open_runs_.empty()) open_first_row_ = row;
    open_runs_.push_back({
        .first_row = row - open_first_row_,
        .rows = rows,
        .partition = tuple,
        .first_key = order::TruncateKeyDown(sorted_.key(row)),
        .last_key = order::TruncateKeyUp(sorted_.key(row + rows - 1)),
        .samples = SampleKeys(sorted_, row, rows, SampleCount(sorted_.bytes(row, rows)),
                              SampleShift(context_.segment, row_groups_.size())),
    });
    open_rows_ += rows;
  }

  /// A small run gets few samples: there are many of its kind, and each has a first key.
  std::size_t SampleCount(std::int64_t memory_bytes) const {
    const auto share =
        static_cast<double>(memory_bytes) / static_cast<double>(OwnRowGroupBytes());
    const double count = share * static_cast<double>(kKeySamplesMax);
    return static_cast<std::size_t>(
        std::clamp(count, 1.0, static_cast<double>(kKeySamplesMax)));
  }

  Status EndRowGroup() {
    if (open_runs_.empty()) return Status::OK();
    FIRN_RETURN_NOT_OK(writer_.Write(*sorted_.batch->Slice(open_first_row_, open_rows_)));
    FIRN_RETURN_NOT_OK(writer_.EndRowGroup());
    const std::int64_t bytes = writer_.row_groups().back().bytes;
    ShareOut(bytes);
    if (open_runs_.size() == 1) CollectRunMetrics();
    Learn(bytes);
    row_groups_.push_back(std::exchange(open_runs_, {}));
    open_rows_ = 0;
    return Status::OK();
  }

  /// Each run gets its share by size in memory; what is rounded off goes to the next.
  void ShareOut(std::int64_t bytes) {
    const auto total = static_cast<double>(OpenMemoryBytes());
    std::int64_t given = 0;
    for (SegmentRun& run : open_runs_) {
      const auto memory =
          static_cast<double>(sorted_.bytes(open_first_row_, run.first_row + run.rows));
      const auto up_to_here =
          static_cast<std::int64_t>(static_cast<double>(bytes) * (memory / total));
      run.bytes = up_to_here - given;
      given = up_to_here;
    }
    FIRN_CHECK(given == bytes, "{} of {} bytes", given, bytes);
  }

  void CollectRunMetrics() {
    arrow::ArrayVector columns =
        sorted_.batch->Slice(open_first_row_, open_rows_)->columns();
    columns.resize(context_.layout.schema.fields.size());
    const auto rows = arrow::RecordBatch::Make(
        types::ToArrowSchema(context_.layout.schema), open_rows_, std::move(columns));
    open_runs_.front().metrics = parquet_io::CollectMetrics(
        context_.layout.schema, context_.options.metrics, *rows);
  }

  void Learn(std::int64_t bytes) {
    // Either way: rows that are compressed far better than the guess never fill a row
    // group, and rows that are compressed worse fill it before it is large in memory.
    const bool is_telling = bytes >= context_.options.row_group_bytes / kTellingPart ||
                            OpenMemoryBytes() >= RowGroupMemoryBytes() / kTellingPart;
    if (!is_telling) return;
    context_.compression_ratio =
        static_cast<double>(bytes) / static_cast<double>(OpenMemoryBytes());
  }

  const Context context_;
  const SortedRows& sorted_;
  parquet_io::FileWriter& writer_;
  std::vector<std::vector<SegmentRun>> row_groups_;
  std::vector<SegmentRun> open_runs_;
  std::int64_t open_first_row_ = 0;
  std::int64_t open_rows_ = 0;
};

}  // namespace

Status CheckRows(const types::Schema& schema, const arrow::RecordBatch& rows) {
  const auto expected = types::ToArrowSchema(schema);
  if (rows.num_columns() != expected->num_fields()) {
    return InvalidError("rows have {} columns, the table {}", rows.num_columns(),
                        expected->num_fields());
  }
  for (int i = 0; i < rows.num_columns(); ++i) {
    const arrow::Field& field = *expected->field(i);
    const arrow::Array& column = *rows.column(i);
    if (!column.type()->Equals(*field.type())) {
      return InvalidError("column '{}' is {} in the rows, but {} in the table",
                          field.name(), column.type()->ToString(),
                          field.type()->ToString());
    }
    if (!field.nullable() && column.null_count() > 0) {
      return InvalidError("column '{}' is required, but {} rows have no value",
                          field.name(), column.null_count());
    }
  }
  return Status::OK();
}

SegmentBuilder::SegmentBuilder(TableLayout layout, SegmentOptions options)
    : layout_(std::move(layout)),
      options_(std::move(options)),
      file_schema_(FileSchema(layout_.schema)),
      partition_order_(AsSortOrder(layout_.spec)),
      compression_ratio_(kFirstCompressionRatio) {}

Result<SegmentBuilder> SegmentBuilder::Make(TableLayout layout, SegmentOptions options) {
  if (options.row_group_bytes <= 0) {
    return InvalidError("a row group must have a positive size, not {} bytes",
                        options.row_group_bytes);
  }
  FIRN_RETURN_NOT_OK(types::PartitionTypes(layout.spec, layout.schema).status());
  SegmentBuilder builder(std::move(layout), std::move(options));
  const Status partition =
      order::KeyEncoder::Make(builder.partition_order_, builder.layout_.schema).status();
  FIRN_RETURN_NOT_OK(AddContext(partition, "partition spec"));
  FIRN_ASSIGN_OR_RETURN(
      const order::KeyEncoder encoder,
      order::KeyEncoder::Make(builder.layout_.order, builder.layout_.schema));
  builder.key_types_ = encoder.KeyTypesText();
  return builder;
}

Result<FrozenSegment> SegmentBuilder::Build(const std::vector<SegmentRows>& rows,
                                            std::vector<SourceRange> ranges,
                                            std::string_view segment) {
  FIRN_ASSIGN_OR_RETURN(auto writer, parquet_io::FileWriter::Make(
                                         file_schema_, WriterOptions(options_.codec)));
  FrozenSegment frozen = {.footer = {.table_uuid = layout_.uuid,
                                     .schema_id = layout_.schema.id,
                                     .spec_id = layout_.spec.id,
                                     .order_id = layout_.order.id,
                                     .key_types = key_types_,
                                     .ranges = std::move(ranges)}};
  if (!rows.empty()) {
    FIRN_ASSIGN_OR_RETURN(
        const SortedRows sorted,
        SortRows(layout_, partition_order_, types::ToArrowSchema(file_schema_), rows));
    SegmentAssembly assembly({.layout = layout_,
                              .options = options_,
                              .segment = segment,
                              .compression_ratio = compression_ratio_},
                             sorted, *writer);
    FIRN_ASSIGN_OR_RETURN(frozen.footer.row_groups, std::move(assembly).Write());
    frozen.rows = sorted.batch->num_rows();
  }
  KeyValues key_values = EncodeSegmentFooter(frozen.footer);
  key_values.push_back(parquet_io::AskForSeal());
  FIRN_ASSIGN_OR_RETURN(parquet_io::WrittenFile file,
                        writer->Finish(std::move(key_values)));
  frozen.bytes = std::move(file.bytes);
  return frozen;
}

}  // namespace firn::wal
