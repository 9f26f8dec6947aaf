#pragma once

#include <cstdint>
#include <memory>

#include <arrow/io/type_fwd.h>
#include <arrow/type_fwd.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include "firn/core/status.h"
#include "firn/parquet_io/row_group_sink.h"

namespace firn::parquet_io {

/// Encodes one row group, as the only one of a Parquet file of its own, of which the
/// column chunks alone are written out.
class RowGroupEncoder {
 public:
  /// Finish writes the column chunks into `out`, one after the other; null: nowhere.
  /// Until then they are held in memory.
  static Result<std::unique_ptr<RowGroupEncoder>> Make(
      std::shared_ptr<parquet::schema::GroupNode> schema,
      std::shared_ptr<arrow::Schema> arrow_schema,
      std::shared_ptr<parquet::WriterProperties> properties,
      std::shared_ptr<arrow::io::OutputStream> out);

  Status Write(const arrow::RecordBatch& batch);

  std::int64_t rows() const { return rows_; }
  /// Of the pages that are compressed already.
  std::int64_t compressed_bytes() const;
  /// Of the values that wait for their page to fill, and of the dictionaries; not
  /// compressed.
  std::int64_t waiting_bytes() const;

  /// Nothing may be called afterwards.
  Result<EncodedRowGroup> Finish();

 private:
  RowGroupEncoder() = default;

  std::shared_ptr<RowGroupSink> sink_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  parquet::RowGroupWriter* row_group_ = nullptr;  // lives in writer_
  std::int64_t rows_ = 0;
};

}  // namespace firn::parquet_io
