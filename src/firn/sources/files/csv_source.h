#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/sources/files/csv_reader.h"
#include "firn/sources/files/value_converter.h"
#include "firn/sources/source.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// What a load of CSV files reads.
struct CsvLoad {
  /// As the user names it.
  std::string table;
  /// See wal::LoadSourceId.
  std::string load_id;
  std::vector<std::string> files;
  /// Records of each file that are durable already, by its index; 0 for those not named.
  std::map<std::size_t, std::int64_t> first_records;
  types::Schema schema;
  CsvOptions csv;
};

/// The records of CSV files, one file after the other, numbered by file and record.
///
/// A record that does not fit the schema ends the source with Invalid, naming file, row,
/// column and value.
class CsvSource : public Source {
 public:
  /// Invalid if the schema has a column that text cannot give.
  static Result<std::unique_ptr<CsvSource>> Make(CsvLoad load);

  Result<std::optional<SourceBatch>> Next(const StopToken& stop) override;

 private:
  CsvSource(CsvLoad load, ValueConverter converter)
      : load_(std::move(load)), converter_(std::move(converter)) {}

  Status OpenFile();
  Result<SourceBatch> Convert(const arrow::RecordBatch& texts, std::int64_t first_record);

  const CsvLoad load_;
  const ValueConverter converter_;
  std::size_t file_ = 0;
  /// Of the file `file_`; nothing between two files.
  std::optional<CsvReader> reader_;
  std::int64_t first_wanted_ = 0;
};

}  // namespace firn::sources
