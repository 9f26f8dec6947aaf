#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

namespace firn::sources {

/// A column of a foreign file, its values as JSON.
struct TestColumn {
  std::string name;
  std::shared_ptr<arrow::DataType> type;
  std::string json;
};

inline std::shared_ptr<arrow::RecordBatch> BatchOf(
    const std::vector<TestColumn>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const TestColumn& column : columns) {
    fields.push_back(arrow::field(column.name, column.type));
    arrays.push_back(
        arrow::json::ArrayFromJSONString(column.type, column.json).ValueOrDie());
  }
  const std::int64_t rows = arrays[0]->length();
  return arrow::RecordBatch::Make(arrow::schema(fields), rows, arrays);
}

/// Writes a Parquet file as another program would, `group_rows` rows a row group.
inline void WriteParquet(const std::string& path, const arrow::RecordBatch& batch,
                         std::int64_t group_rows = 1 << 20) {
  const auto table =
      arrow::Table::FromRecordBatches(
          {arrow::RecordBatch::Make(batch.schema(), batch.num_rows(), batch.columns())})
          .ValueOrDie();
  const auto out = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  const auto arrow_properties =
      parquet::ArrowWriterProperties::Builder().store_schema()->build();
  ASSERT_TRUE(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), out,
                                         group_rows, parquet::default_writer_properties(),
                                         arrow_properties)
                  .ok());
  ASSERT_TRUE(out->Close().ok());
}

}  // namespace firn::sources
