#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/io/type_fwd.h>
#include <arrow/type_fwd.h>

#include "firn/core/status.h"

namespace firn::sources {

struct CsvOptions {
  /// What stands for null when it is not quoted.
  std::vector<std::string> null_spellings = {""};
  /// A longer row is an error: most likely a quote is never closed.
  std::int64_t row_bytes_max = 64LL << 20;
};

/// Reads a CSV file (RFC 4180: commas, double quotes, line breaks inside quotes; lines
/// end in LF, CR or CRLF, empty ones are skipped) as strings, a few thousand records at a
/// time.
///
/// Errors name the file and the row, counted from 1 with the header row as row 1. Records
/// are numbered alike each time a file is read. Used by one thread.
class CsvReader {
 public:
  /// Opens a local file and reads the header row. Invalid if it has none, a column has no
  /// name, or two have the same one.
  static Result<CsvReader> Open(std::string path, CsvOptions options);

  /// As Open, from a stream; `name` stands for it in errors.
  static Result<CsvReader> Make(std::shared_ptr<arrow::io::InputStream> input,
                                std::string name, CsvOptions options);

  /// The columns of the header row, all utf8 and nullable.
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }

  /// The next records; null at the end. Invalid if a row has another number of columns
  /// than the header, is not UTF-8, or is too long; there is no going on afterwards.
  Result<std::shared_ptr<arrow::RecordBatch>> Next();

  /// Records handed out so far: the number, from 0, of the first one that Next gives.
  std::int64_t next_record() const { return next_record_; }

 private:
  CsvReader(std::shared_ptr<arrow::io::InputStream> input, std::string name,
            CsvOptions options);

  Status ReadHeader();
  Status FillBuffer();
  Status WantMore();
  Result<std::shared_ptr<arrow::RecordBatch>> NextRecords();
  Status AddContext(const Status& status) const;

  std::shared_ptr<arrow::io::InputStream> input_;
  std::string name_;
  CsvOptions options_;
  std::shared_ptr<arrow::Schema> schema_;

  /// Read, but not parsed yet.
  std::string buffer_;
  std::int64_t wanted_bytes_;
  bool is_input_at_end_ = false;
  std::int64_t next_record_ = 0;
};

}  // namespace firn::sources
