#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/files/input_file.h"
#include "firn/sources/files/rejected_records.h"
#include "firn/sources/files/text_blocks.h"

namespace firn::sources {

struct CsvOptions {
  /// Nothing: a comma, or what the caller knows better.
  std::optional<char> delimiter;
  /// False: the first row is a record already.
  bool has_header = true;
  /// What stands for null when it is not quoted.
  std::vector<std::string> null_spellings = {""};
  /// A longer row is an error: most likely a quote is never closed.
  std::int64_t row_bytes_max = 64LL << 20;
};

/// Where a record stands.
struct CsvPlace {
  /// Counted from 0.
  std::int64_t record = 0;
  /// Of its first line, counted from 1.
  std::int64_t line = 0;
  /// Without the line break.
  std::string_view raw;
};

/// Some records that follow each other. Views live until the next call of the reader.
struct CsvRecords {
  std::int64_t first = 0;
  std::int64_t next = 0;
  /// All columns utf8.
  std::shared_ptr<arrow::RecordBatch> texts;
  /// One for each row of `texts`.
  std::vector<CsvPlace> places;
  /// Rows that are no records.
  std::vector<RejectedRecord> malformed;
};

/// Reads a CSV file as strings, a few thousand records at a time.
///
/// RFC 4180: double quotes around a whole value, doubled inside; a quote elsewhere is a
/// character like any other. Lines end in LF, CR or CRLF, empty ones are skipped. Each
/// other row is a record; one with another number of values than columns, with something
/// behind a closing quote, that is not UTF-8, or whose quote is never closed (it takes
/// the rest of the file) is malformed. Errors name file and line. Used by one thread.
class CsvReader {
 public:
  /// Reads the header row. Without one, the columns are named by `names`, as many as most
  /// of the first 1,000 rows have values (so that one broken row does not decide; the
  /// larger of two numbers that are as frequent); column_1, column_2, ... if `names` is
  /// empty. Invalid if there is no row at all, a column has no name, two have the same
  /// one but for case, or most rows have more values than `names`.
  static Result<CsvReader> Make(InputFile file, CsvOptions options,
                                std::vector<std::string> names = {});

  /// The columns of the file, all utf8 and nullable.
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  const std::string& name() const { return blocks_.name(); }
  FileProgress progress() const { return blocks_.progress(); }

  /// The number of the record that Next gives next, unless it is passed over.
  std::int64_t next_record() const { return next_record_; }

  /// Passes over records before `first`, without a look at them.
  void SkipTo(std::int64_t first) { first_wanted_ = first; }

  /// The next records; none (first = next) at the end. Invalid if a row is too long.
  Result<CsvRecords> Next();

 private:
  /// A value of the row that was read last.
  struct Value {
    std::string_view text;
    bool is_quoted = false;
    bool has_doubled_quotes = false;
  };
  struct Row {
    /// Of the text, line break included; 0 = the row does not end in it.
    std::size_t bytes = 0;
    std::string_view raw;
    std::int64_t lines = 0;
    /// Why it is no record; null if it is one.
    const char* problem = nullptr;
  };
  class RowScanner;

  CsvReader(InputFile file, CsvOptions options);

  Status ReadColumns(std::vector<std::string> names);
  Result<std::vector<std::string>> HeaderNames() const;
  Result<bool> ReadFirstRow(Row& row);
  Result<std::vector<std::string>> NamesWithoutHeader(std::vector<std::string> names);
  std::size_t UsualValueCount();
  Status CheckForSpreadsheets(std::string_view first_line) const;
  Row ScanRow(std::string_view text, bool is_last);
  Status WantMore();
  Status ReadRecords(CsvRecords& records);
  Status AddRow(const Row& row, CsvRecords& records);
  std::string Problem(const Row& row) const;
  Status AppendValue(const Value& value, std::size_t column);
  Status Finish(CsvRecords& records);

  TextBlocks blocks_;
  CsvOptions options_;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<std::shared_ptr<arrow::StringBuilder>> columns_;
  std::vector<Value> values_;
  std::string unquoted_;
  std::int64_t next_record_ = 0;
  std::int64_t next_line_ = 1;
  std::int64_t first_wanted_ = 0;
};

}  // namespace firn::sources
