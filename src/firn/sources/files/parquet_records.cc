#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <utility>

#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include "firn/core/one_line.h"
#include "firn/sources/files/column_cast.h"
#include "firn/sources/files/format_readers.h"
#include "firn/sources/files/parquet_schema.h"
#include "firn/sources/files/row_text.h"
#include "firn/types/arrow_types.h"
#include "firn/types/schema_union.h"

namespace firn::sources {
namespace {

constexpr std::int64_t kRowsPerBatchMax = 8192;
/// Decoded, about.
constexpr std::int64_t kBytesPerBatch = 8LL << 20;

Status Damaged(const std::string& name, std::string_view words) {
  return InvalidError("{}: is damaged, or no Parquet file ({})", name, OneLine(words));
}

/// What libparquet throws or returns becomes an error about the file `name`.
template <typename Call>
auto Reading(const std::string& name, Call&& call) -> decltype(call()) {
  try {
    auto outcome = call();
    if (outcome.ok()) return outcome;
    if constexpr (std::is_same_v<decltype(outcome), Status>) {
      return Damaged(name, outcome.message());
    } else {
      return Damaged(name, outcome.status().message());
    }
  } catch (const std::exception& e) {
    return Damaged(name, e.what());
  }
}

/// So many rows that they take about kBytesPerBatch, even where row groups differ.
std::int64_t RowsPerBatch(const parquet::FileMetaData& metadata) {
  std::int64_t rows = kRowsPerBatchMax;
  for (int i = 0; i < metadata.num_row_groups(); ++i) {
    const auto group = metadata.RowGroup(i);
    const std::int64_t row_bytes =
        group->total_byte_size() / std::max<std::int64_t>(group->num_rows(), 1);
    rows = std::min(rows, kBytesPerBatch / std::max<std::int64_t>(row_bytes, 1));
  }
  return std::max<std::int64_t>(rows, 1);
}

struct OpenedFile {
  std::unique_ptr<parquet::arrow::FileReader> reader;
  std::shared_ptr<arrow::Schema> schema;
};

Result<OpenedFile> OpenWithoutContext(const std::string& path) {
  FIRN_ASSIGN_OR_RETURN(auto input, arrow::io::ReadableFile::Open(path));
  parquet::ReaderProperties properties;
  // Pages are read as they are needed, not whole column chunks.
  properties.enable_buffered_stream();
  parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
  arrow_properties.set_pre_buffer(false);
  // Dates far from now have no nanoseconds.
  arrow_properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
  parquet::arrow::FileReaderBuilder builder;
  FIRN_RETURN_NOT_OK(builder.Open(std::move(input), properties));
  arrow_properties.set_batch_size(RowsPerBatch(*builder.raw_reader()->metadata()));
  builder.properties(arrow_properties);
  OpenedFile file;
  FIRN_ASSIGN_OR_RETURN(file.reader, builder.Build());
  FIRN_RETURN_NOT_OK(file.reader->GetSchema(&file.schema));
  return file;
}

Result<OpenedFile> OpenFile(const std::string& path) {
  return Reading(path, [&] { return OpenWithoutContext(path); });
}

class ParquetRecordReader : public RecordReader {
 public:
  static Result<std::unique_ptr<RecordReader>> Make(FileRequest request) {
    std::unique_ptr<ParquetRecordReader> reader(
        new ParquetRecordReader(std::move(request)));
    FIRN_RETURN_NOT_OK(reader->Open());
    return reader;
  }

  Result<std::optional<RecordBlock>> Next() override {
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const auto rows,
                            Reading(request_.path, [&] { return rows_->Next(); }));
      if (rows == nullptr) return std::nullopt;
      const std::int64_t first = next_row_;
      next_row_ += rows->num_rows();
      const std::int64_t known =
          std::clamp<std::int64_t>(request_.first_record - first, 0, rows->num_rows());
      if (known == rows->num_rows()) continue;
      auto block = BlockOf(*rows->Slice(known), first + known);
      FIRN_RETURN_NOT_OK(AddContext(block.status(), request_.path));
      return *std::move(block);
    }
  }

  std::int64_t next_record() const override { return next_row_; }

  FileProgress progress() const override {
    const double share = rows_in_file_ == 0 ? 1 : 1.0 * next_row_ / rows_in_file_;
    return {.bytes_read = static_cast<std::int64_t>(share * file_bytes_),
            .bytes_total = static_cast<std::int64_t>(file_bytes_)};
  }

  RecordFormat record_format() const override {
    return {.format = FileFormat::kNdjson, .columns = {}, .options = request_.options};
  }

 private:
  explicit ParquetRecordReader(FileRequest request) : request_(std::move(request)) {}

  Status Open() {
    const std::string& path = request_.path;
    FIRN_ASSIGN_OR_RETURN(OpenedFile file, OpenFile(path));
    file_ = std::move(file.reader);
    auto cast = ColumnCast::Make(*file.schema, request_.schema,
                                 {.time_units = request_.options.time_units,
                                  .ignore_unknown = request_.options.ignore_unknown});
    FIRN_RETURN_NOT_OK(AddContext(cast.status(), path));
    cast_ = *std::move(cast);
    const auto metadata = file_->parquet_reader()->metadata();
    rows_in_file_ = metadata->num_rows();
    std::error_code error;
    file_bytes_ = static_cast<double>(std::filesystem::file_size(request_.path, error));
    std::vector<int> row_groups;
    for (int i = 0; i < metadata->num_row_groups(); ++i) {
      const std::int64_t rows = metadata->RowGroup(i)->num_rows();
      const bool is_behind = next_row_ + rows <= request_.first_record;
      if (row_groups.empty() && is_behind) {
        next_row_ += rows;
      } else {
        row_groups.push_back(i);
      }
    }
    return Reading(path,
                   [&] { return file_->GetRecordBatchReader(row_groups).Value(&rows_); });
  }

  Result<RecordBlock> BlockOf(const arrow::RecordBatch& rows, std::int64_t first) const {
    RecordBlock block = {.first = first, .next = first + rows.num_rows()};
    arrow::RecordBatchVector fitting;
    FIRN_RETURN_NOT_OK(AddRows(rows, first, block, fitting));
    if (fitting.empty()) {
      FIRN_ASSIGN_OR_RETURN(block.rows, arrow::RecordBatch::MakeEmpty(
                                            types::ToArrowSchema(request_.schema)));
    } else {
      FIRN_ASSIGN_OR_RETURN(block.rows, arrow::ConcatenateRecordBatches(fitting));
    }
    return block;
  }

  /// A batch that cannot be cast is halved until the rows that cannot be are alone.
  Status AddRows(const arrow::RecordBatch& rows, std::int64_t first, RecordBlock& block,
                 arrow::RecordBatchVector& fitting) const {
    const auto cast = cast_->Cast(rows);
    if (cast.ok()) return AddCast(rows, *cast, first, block, fitting);
    if (rows.num_rows() > 1) {
      const std::int64_t half = rows.num_rows() / 2;
      FIRN_RETURN_NOT_OK(AddRows(*rows.Slice(0, half), first, block, fitting));
      return AddRows(*rows.Slice(half), first + half, block, fitting);
    }
    block.rejected.push_back({.record = first,
                              .raw = RowAsJson(rows, request_.schema, 0),
                              .reason = ErrorText(cast.status())});
    return Status::OK();
  }

  /// `cast`: what `rows` became.
  Status AddCast(const arrow::RecordBatch& rows,
                 const std::shared_ptr<arrow::RecordBatch>& cast, std::int64_t first,
                 RecordBlock& block, arrow::RecordBatchVector& fitting) const {
    Rejections rejections;
    RejectInvalidRows(*cast, request_.schema, rejections);
    for (const std::int64_t row : RowsThatFit(cast->num_rows(), rejections)) {
      block.records.push_back(first + row);
    }
    for (auto& [row, reason] : rejections) {
      block.rejected.push_back({.record = first + row,
                                .raw = RowAsJson(rows, request_.schema, row),
                                .reason = std::move(reason.text),
                                .reason_class = reason.reason_class});
    }
    FIRN_ASSIGN_OR_RETURN(auto fit, WithoutRejected(cast, rejections));
    if (fit->num_rows() > 0) fitting.push_back(std::move(fit));
    return Status::OK();
  }

  const FileRequest request_;
  std::unique_ptr<parquet::arrow::FileReader> file_;
  std::unique_ptr<arrow::RecordBatchReader> rows_;
  std::optional<ColumnCast> cast_;
  std::int64_t next_row_ = 0;
  std::int64_t rows_in_file_ = 0;
  double file_bytes_ = 0;
};

/// Nanoseconds need a newer table format than most readers know.
types::Type InMicroseconds(const types::Type& type) {
  using types::TypeKind;
  if (type.kind() == TypeKind::kTimestampNs) return types::Type(TypeKind::kTimestamp);
  if (type.kind() == TypeKind::kTimestamptzNs) {
    return types::Type(TypeKind::kTimestamptz);
  }
  if (type.is_primitive()) return type;
  std::vector<types::Field> fields = type.fields();
  for (types::Field& field : fields) field.type = InMicroseconds(field.type);
  return types::TypeOver(type.kind(), std::move(fields));
}

/// True if one of the columns in `field` has no null, and so no field around it has one.
bool HasColumnWithoutNulls(const parquet::arrow::SchemaField& field,
                           const parquet::FileMetaData& metadata) {
  if (!field.children.empty()) {
    return std::ranges::any_of(field.children, [&](const auto& child) {
      return HasColumnWithoutNulls(child, metadata);
    });
  }
  for (int i = 0; i < metadata.num_row_groups(); ++i) {
    const auto statistics =
        metadata.RowGroup(i)->ColumnChunk(field.column_index)->statistics();
    const bool is_known = statistics != nullptr && statistics->HasNullCount();
    if (!is_known || statistics->null_count() > 0) return false;
  }
  return true;
}

/// Arrow knows these only as bytes of a length. Invalid for an interval, which Iceberg
/// has no type for: as bytes nobody would understand it.
Status SetTypeOfBytes(const parquet::ColumnDescriptor& column, types::Field& field) {
  const auto& logical = column.logical_type();
  if (logical == nullptr) return Status::OK();
  if (logical->is_UUID()) field.type = types::Type(types::TypeKind::kUuid);
  if (!logical->is_interval()) return Status::OK();
  return InvalidError(
      "Iceberg has no type for Parquet's INTERVAL; write it as a number or a text, or "
      "declare it as fixed[12] with --schema");
}

/// The same for nested fields.
Status SetTypesOfBytes(const parquet::arrow::SchemaField& seen,
                       const parquet::SchemaDescriptor& columns, types::Field& field) {
  if (field.type.is_primitive()) {
    if (seen.column_index < 0) return Status::OK();
    return SetTypeOfBytes(*columns.Column(seen.column_index), field);
  }
  const bool is_map = field.type.kind() == types::TypeKind::kMap;
  const auto& children = is_map ? seen.children.at(0).children : seen.children;
  std::vector<types::Field> fields = field.type.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    FIRN_RETURN_NOT_OK(SetTypesOfBytes(children.at(i), columns, fields[i]));
  }
  field.type = types::TypeOver(field.type.kind(), std::move(fields));
  return Status::OK();
}

/// What to do about a column that no type can be told of.
std::string AdviceFor(const arrow::DataType& type) {
  if (type.id() == arrow::Type::UINT64) {
    return "declare it with --schema: as decimal(20, 0), which holds every value, or as "
           "long, if all are below 2^63";
  }
  return "declare it with --schema";
}

/// What is seen of `field` in the file, nested fields too.
void SetRequired(const parquet::arrow::SchemaField& seen,
                 const parquet::FileMetaData& metadata, types::Field& field) {
  field.required = !seen.field->nullable() || HasColumnWithoutNulls(seen, metadata);
  if (field.type.is_primitive()) return;
  const bool is_map = field.type.kind() == types::TypeKind::kMap;
  const auto& children = is_map ? seen.children.at(0).children : seen.children;
  std::vector<types::Field> fields = field.type.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    SetRequired(children.at(i), metadata, fields[i]);
  }
  field.type = types::TypeOver(field.type.kind(), std::move(fields));
}

}  // namespace

Result<types::Schema> ReadParquetSchema(const std::string& path) {
  FIRN_ASSIGN_OR_RETURN(const OpenedFile file, OpenFile(path));
  const auto metadata = file.reader->parquet_reader()->metadata();
  types::Schema schema;
  for (const auto& seen : file.reader->manifest().schema_fields) {
    const auto& column = seen.field;
    if (column->type()->id() == arrow::Type::NA) continue;
    const auto type = types::FromArrowType(*column->type());
    if (!type.ok()) {
      return AddContext(type.status(),
                        fmt::format("{}: column '{}' ({})", path, column->name(),
                                    AdviceFor(*column->type())));
    }
    schema.fields.push_back({.name = column->name(), .type = InMicroseconds(*type)});
    FIRN_RETURN_NOT_OK(
        AddContext(SetTypesOfBytes(seen, *metadata->schema(), schema.fields.back()),
                   fmt::format("{}: column '{}'", path, column->name())));
    SetRequired(seen, *metadata, schema.fields.back());
  }
  return schema;
}

Result<std::unique_ptr<RecordReader>> OpenParquetRecords(FileRequest request) {
  return ParquetRecordReader::Make(std::move(request));
}
}  // namespace firn::sources
