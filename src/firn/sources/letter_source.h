#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/files/record_format.h"
#include "firn/sources/source.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// A dead letter as its table holds it.
struct KeptLetter {
  std::string raw;
  std::string source;
  std::int64_t position = 0;
  std::string reason;
  /// Microseconds since 1970.
  std::int64_t time_us = 0;
  /// See RecordFormatText; empty if it is not known.
  std::string format;
};

/// The rows of a table of dead letters. REQUIRES: columns as in DeadLetterSchema.
std::vector<KeptLetter> LettersOf(const arrow::RecordBatch& rows);

/// Tries dead letters again. Used by one thread.
class LetterReader {
 public:
  /// `unknown_fields_column`: of letters that were kept without one, and whose unknown
  /// fields were not to be ignored.
  explicit LetterReader(types::Schema schema, std::string unknown_fields_column = "")
      : schema_(std::move(schema)),
        unknown_fields_column_(std::move(unknown_fields_column)) {}

  /// The letter as a row of the schema, or why it still is none.
  Result<SingleRecord> Read(const KeptLetter& letter);

 private:
  const types::Schema schema_;
  const std::string unknown_fields_column_;
  /// Of the letter before: mostly they are all alike.
  std::string format_text_;
  std::optional<RecordFormat> format_;
};

/// One file of dead letters that is to be loaded again.
struct LetterFile {
  /// Names its records' range.
  std::string source_id;
  std::int64_t first_record = 0;
  /// Opens it; its rows as in DeadLetterSchema.
  std::function<Result<std::unique_ptr<arrow::RecordBatchReader>>()> open;
};

/// The dead letters of some files as a source: what fits the schema now is a row, what
/// does not is a dead letter again, with what is wrong now.
class LetterSource : public Source {
 public:
  /// `table`: where the rows go, as the user names it.
  LetterSource(std::string table, LetterReader reader, std::vector<LetterFile> files);
  ~LetterSource() override;

  Result<std::optional<SourceBatch>> Next(const StopToken& stop) override;

 private:
  Status OpenFile();
  Result<SourceBatch> BatchOf(const arrow::RecordBatch& rows);
  /// What of `rows` is behind the records that are durable; null if nothing is.
  std::shared_ptr<arrow::RecordBatch> Wanted(
      const std::shared_ptr<arrow::RecordBatch>& rows);

  const std::string table_;
  LetterReader reader_;
  const std::vector<LetterFile> files_;
  std::size_t file_ = 0;
  /// Of the file `file_`; null between two files.
  std::unique_ptr<arrow::RecordBatchReader> rows_;
  std::int64_t next_record_ = 0;
};

}  // namespace firn::sources
