#include "firn/shift/test_rows.h"

#include <algorithm>

#include <arrow/api.h>
#include <parquet/metadata.h>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/types/arrow_types.h"

namespace firn::shift {
namespace {

std::shared_ptr<arrow::Array> Column(const types::Field& field,
                                     const std::vector<TestRow>& rows) {
  arrow::StringBuilder text;
  arrow::Int64Builder longs;
  arrow::Int32Builder ints;
  const bool is_long = field.type.kind() == types::TypeKind::kLong;
  for (const TestRow& row : rows) {
    if (field.name == "key") {
      FIRN_CHECK(text.Append(row.key).ok());
    } else if (field.name == "number") {
      FIRN_CHECK(longs.Append(row.number).ok());
      FIRN_CHECK(ints.Append(static_cast<std::int32_t>(row.number)).ok());
    } else {
      const auto& value = field.name == "tenant" ? row.tenant : row.extra;
      FIRN_CHECK((value ? text.Append(*value) : text.AppendNull()).ok());
    }
  }
  if (field.name != "number") return text.Finish().ValueOrDie();
  return is_long ? longs.Finish().ValueOrDie() : ints.Finish().ValueOrDie();
}

void ReadColumn(const types::Field& field, const arrow::Array& column,
                std::vector<TestRow>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const types::Value value = ValueAt(column, field.type, static_cast<std::int64_t>(i));
    if (IsNull(value)) continue;
    if (field.name == "key") {
      rows[i].key = std::get<std::string>(value);
    } else if (field.name == "number") {
      const auto* narrow = std::get_if<std::int32_t>(&value);
      rows[i].number = narrow ? *narrow : std::get<std::int64_t>(value);
    } else {
      (field.name == "tenant" ? rows[i].tenant : rows[i].extra) =
          std::get<std::string>(value);
    }
  }
}

}  // namespace

types::Schema TestSchema(types::TypeKind number) {
  using types::Type;
  using types::TypeKind;
  return {.fields = {
              {.id = 1, .name = "tenant", .type = Type(TypeKind::kString)},
              {.id = 2, .name = "key", .type = Type(TypeKind::kString), .required = true},
              {.id = 3, .name = "number", .type = Type(number)}}};
}

std::shared_ptr<arrow::RecordBatch> ToBatch(const types::Schema& schema,
                                            const std::vector<TestRow>& rows) {
  arrow::ArrayVector columns;
  for (const types::Field& field : schema.fields) columns.push_back(Column(field, rows));
  return arrow::RecordBatch::Make(types::ToArrowSchema(schema),
                                  static_cast<std::int64_t>(rows.size()),
                                  std::move(columns));
}

std::vector<iceberg::DataFile> LiveFiles(const iceberg::FileIo& io,
                                         const iceberg::TableMetadata& metadata) {
  const iceberg::Snapshot* main = CurrentSnapshot(metadata);
  std::vector<iceberg::DataFile> files;
  if (main == nullptr) return files;
  for (const auto& manifest :
       iceberg::ReadManifestList(io, main->manifest_list).ValueOrDie()) {
    for (auto& entry : iceberg::ReadManifest(io, metadata, manifest).ValueOrDie()) {
      if (entry.status == iceberg::EntryStatus::kDeleted) continue;
      files.push_back(std::move(entry.data_file));
    }
  }
  return files;
}

arrow::RecordBatchVector ReadBatches(const iceberg::FileIo& io,
                                     const iceberg::TableMetadata& metadata,
                                     const iceberg::DataFile& file) {
  const types::Schema schema = CurrentSchema(metadata);
  const iceberg::FileIo::Object object = io.Locate(file.file_path).ValueOrDie();
  parquet_io::RowGroupSource source = {
      .file = parquet_io::OpenObject(*object.store, object.key, file.file_size_in_bytes),
      .footer = parquet_io::ReadFooter(*object.store, object.key, file.file_size_in_bytes)
                    .ValueOrDie(),
      .name = object.key};
  arrow::RecordBatchVector batches;
  for (; source.row_group < source.footer->num_row_groups(); ++source.row_group) {
    const std::int64_t count = source.footer->RowGroup(source.row_group)->num_rows();
    const auto reader =
        parquet_io::ReadRowGroup(source, schema, 0, count, count).ValueOrDie();
    std::ranges::move(reader->ToRecordBatches().ValueOrDie(),
                      std::back_inserter(batches));
  }
  return batches;
}

std::vector<TestRow> ReadRows(const iceberg::FileIo& io,
                              const iceberg::TableMetadata& metadata,
                              const iceberg::DataFile& file) {
  const types::Schema schema = CurrentSchema(metadata);
  std::vector<TestRow> rows;
  for (const auto& batch : ReadBatches(io, metadata, file)) {
    std::vector<TestRow> read(static_cast<std::size_t>(batch->num_rows()));
    for (int column = 0; column < batch->num_columns(); ++column) {
      ReadColumn(schema.fields[static_cast<std::size_t>(column)], *batch->column(column),
                 read);
    }
    std::ranges::move(read, std::back_inserter(rows));
  }
  return rows;
}

}  // namespace firn::shift
