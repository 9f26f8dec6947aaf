#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/files/csv_reader.h"
#include "firn/sources/files/input_file.h"
#include "firn/sources/files/rejected_records.h"
#include "firn/sources/files/time_units.h"
#include "firn/types/schema.h"

namespace firn::sources {

enum class FileFormat { kCsv, kNdjson, kParquet };

std::string_view FileFormatName(FileFormat format);
/// The inverse. Invalid, naming the formats there are.
Result<FileFormat> ParseFileFormat(std::string_view name);

/// How files are to be read.
struct FileOptions {
  /// Nothing: told by the file's name (.csv, .tsv, .ndjson, .jsonl, .json, .parquet, also
  /// before .gz and .zst), else by its first bytes.
  std::optional<FileFormat> format;
  CsvOptions csv;
  /// What numbers in timestamp columns count, by full column name.
  TimeUnits time_units;
  /// Leave out columns and fields that the schema does not have, instead of refusing
  /// them.
  bool ignore_unknown = false;
  /// See JsonRowsOptions; other formats do not heed it.
  std::string unknown_fields_column;
};

/// How one record is read without its file.
struct RecordFormat {
  /// A Parquet row is kept as JSON, and is kNdjson.
  FileFormat format = FileFormat::kNdjson;
  /// Of CSV: the columns of the file, in its order.
  std::vector<std::string> columns;
  FileOptions options;
};

/// Some records of a file that follow each other, those that fit the schema and those
/// that do not.
struct RecordBlock {
  /// Numbers of the records, counted from 0 over the file: the first, and the one behind
  /// the last.
  std::int64_t first = 0;
  std::int64_t next = 0;
  /// Columns as in ToArrowSchema; may have no rows.
  std::shared_ptr<arrow::RecordBatch> rows;
  /// Number of each row's record, ascending.
  std::vector<std::int64_t> records;
  /// The others, ascending.
  std::vector<RejectedRecord> rejected;
};

/// The records of one file, as rows of a schema.
///
/// Records are numbered alike each time a file is read, whatever the schema. Memory does
/// not grow with the file. Errors name the file. Used by one thread.
class RecordReader {
 public:
  virtual ~RecordReader() = default;

  /// The next records; nothing at the end. The file cannot be read on after an error.
  virtual Result<std::optional<RecordBlock>> Next() = 0;

  /// The number of the record behind those that were read or passed over; at the end, how
  /// many the file has.
  virtual std::int64_t next_record() const = 0;

  virtual FileProgress progress() const = 0;

  /// Of a rejected record's `raw`.
  virtual RecordFormat record_format() const = 0;
};

/// What is read of one file.
struct FileRequest {
  std::string path;
  types::Schema schema;
  /// The first record that is wanted.
  std::int64_t first_record = 0;
  FileOptions options;
};

/// Opens a file of any format.
///
/// Invalid if its format cannot be told, or if the file as a whole does not fit the
/// schema: a CSV header or Parquet schema with a column that is not there or cannot
/// become what the schema says, or without one that is required; an empty file.
Result<std::unique_ptr<RecordReader>> OpenRecords(FileRequest request);

/// What the name says of the format: in lower case, without the suffix of a compression.
std::string PlainName(std::string_view path);

/// The format of a file, as FileOptions::format tells it. Invalid if it cannot be told.
Result<FileFormat> FormatOf(InputFile& file, const FileOptions& options);

}  // namespace firn::sources
