// Writes a Parquet file of every type for tests/parquet_io: rows come from stdin in
// Arrow's JSON form, the metrics go to stdout as lines "<field id> <values> <nulls> <NaN>
// <lower> <upper>", bounds in hex, "-" for what is not there.
//
// Usage: parquet_io_tool OUT ROW_GROUP_BYTES < rows.json
//
// The rows are written twice: encoded, then as a copy of a row group with a hidden
// column.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <parquet/file_reader.h>

#include "firn/parquet_io/file_writer.h"
#include "firn/types/arrow_types.h"

namespace firn::parquet_io {
namespace {

using types::Field;
using types::Type;
using types::TypeKind;

Field Column(FieldId id, std::string name, Type type) {
  return {.id = id, .name = std::move(name), .type = std::move(type)};
}

types::Schema SampleSchema() {
  const Type text(TypeKind::kString);
  Field key = Column(25, "key", text);
  key.required = true;
  return {
      .id = SchemaId(0),
      .fields = {
          Column(1, "flag", Type(TypeKind::kBoolean)),
          Column(2, "i", Type(TypeKind::kInt)),
          Column(3, "l", Type(TypeKind::kLong)),
          Column(4, "f", Type(TypeKind::kFloat)),
          Column(5, "d", Type(TypeKind::kDouble)),
          Column(6, "day", Type(TypeKind::kDate)),
          Column(7, "clock", Type(TypeKind::kTime)),
          Column(8, "ts", Type(TypeKind::kTimestamp)),
          Column(9, "tstz", Type(TypeKind::kTimestamptz)),
          Column(10, "ts_ns", Type(TypeKind::kTimestampNs)),
          Column(11, "tstz_ns", Type(TypeKind::kTimestamptzNs)),
          Column(12, "s", text),
          Column(13, "u", Type(TypeKind::kUuid)),
          Column(14, "fx", Type::Fixed(4)),
          Column(15, "b", Type(TypeKind::kBinary)),
          Column(16, "dec9", Type::Decimal(9, 2)),
          Column(17, "dec18", Type::Decimal(18, 4)),
          Column(18, "dec38", Type::Decimal(38, 10)),
          Column(19, "st",
                 Type::Struct({Column(20, "x", Type(TypeKind::kDouble)),
                               Column(21, "name", text)})),
          Column(22, "tags", Type::List(Column(23, "element", text))),
          Column(24, "attrs", Type::Map(key, Column(26, "value", Type(TypeKind::kLong)))),
      }};
}

types::Schema WithHidden(types::Schema schema) {
  schema.fields.insert(schema.fields.begin(),
                       Column(2147483101, "_offset", Type(TypeKind::kLong)));
  return schema;
}

Result<std::shared_ptr<arrow::RecordBatch>> ParseRows(const types::Schema& schema,
                                                      const std::string& json) {
  const auto type = arrow::struct_(types::ToArrowSchema(schema)->fields());
  FIRN_ASSIGN_OR_RETURN(const auto rows, arrow::json::ArrayFromJSONString(type, json));
  return arrow::RecordBatch::FromStructArray(rows);
}

/// Of "l" and "s".
FileWriterOptions SampleOptions() { return {.bloom_filters = {{3, {}}, {12, {}}}}; }

Result<WrittenFile> WriteHidden(const arrow::RecordBatch& rows) {
  arrow::Int64Builder offsets;
  for (std::int64_t i = 0; i < rows.num_rows(); ++i) {
    FIRN_RETURN_NOT_OK(offsets.Append(i));
  }
  FIRN_ASSIGN_OR_RETURN(const auto column, offsets.Finish());
  FIRN_ASSIGN_OR_RETURN(const auto hidden, rows.AddColumn(0, "_offset", column));
  FIRN_ASSIGN_OR_RETURN(const auto writer,
                        FileWriter::Make(WithHidden(SampleSchema()), SampleOptions()));
  FIRN_RETURN_NOT_OK(writer->Write(*hidden));
  return writer->Finish({});
}

Status Copy(const WrittenFile& from, FileWriter& writer) {
  const auto file = std::make_shared<arrow::io::BufferReader>(from.bytes);
  return writer.CopyRowGroup(
      {.file = file,
       .footer = parquet::ParquetFileReader::Open(file)->metadata(),
       .name = "hidden"},
      from.metrics);
}

Result<WrittenFile> WriteSample(const std::string& json, std::int64_t row_group_bytes) {
  FIRN_ASSIGN_OR_RETURN(const auto rows, ParseRows(SampleSchema(), json));
  FileWriterOptions options = SampleOptions();
  options.row_group_bytes = row_group_bytes;
  options.page_bytes = 4096;
  options.sorting_columns.push_back({.field_id = 3});
  FIRN_ASSIGN_OR_RETURN(const auto writer, FileWriter::Make(SampleSchema(), options));
  FIRN_RETURN_NOT_OK(writer->Write(*rows));
  FIRN_ASSIGN_OR_RETURN(const WrittenFile hidden, WriteHidden(*rows));
  FIRN_RETURN_NOT_OK(Copy(hidden, *writer));
  return writer->Finish({{"firn.sample", "yes"}});
}

std::string Hex(const std::optional<std::string>& bytes) {
  if (!bytes) return "-";
  std::string text = "x";
  for (const char byte : *bytes) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

void Print(const FileMetrics& metrics) {
  for (const auto& [id, column] : metrics) {
    fmt::print("{} {} {} {} {} {}\n", id, column.value_count, column.null_count,
               column.nan_count ? std::to_string(*column.nan_count) : "-",
               Hex(column.lower_bound), Hex(column.upper_bound));
  }
}

}  // namespace
}  // namespace firn::parquet_io

int main(int argc, char** argv) {
  using firn::parquet_io::Print;
  using firn::parquet_io::WriteSample;
  if (argc != 3) return 2;
  const std::string json((std::istreambuf_iterator<char>(std::cin)), {});
  const auto file = WriteSample(json, std::atoll(argv[2]));
  if (!file.ok()) {
    std::cerr << file.status().ToString() << "\n";
    return 1;
  }
  const std::string_view bytes(*file->bytes);
  std::ofstream(argv[1], std::ios::binary).write(bytes.data(), bytes.size());
  Print(file->metrics);
  return 0;
}
