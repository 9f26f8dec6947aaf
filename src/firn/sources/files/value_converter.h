#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/files/rejected_records.h"
#include "firn/sources/files/time_units.h"
#include "firn/types/schema.h"

namespace firn::sources {

struct ConvertedBatch {
  /// The rows that fit, in their order; columns as in ToArrowSchema.
  std::shared_ptr<arrow::RecordBatch> batch;
  /// Index of each of them in the batch that was converted.
  std::vector<std::int64_t> rows;
  /// Index of the others, and for each the first column that does not fit, its value, and
  /// the type that was expected.
  Rejections rejected;
};

struct ConverterOptions {
  TimeUnits time_units;
  /// Leave out columns that the schema does not have.
  bool ignore_unknown = false;
  /// What was taken to separate the values of a line.
  char delimiter = ',';
  /// Rows came before those that are converted: they have no column's first value.
  bool starts_midway = false;
};

/// Turns columns of text into those of a schema. Used by one thread.
class ValueConverter {
 public:
  /// `columns` are those of the text, matched by name. Invalid, naming the column, if the
  /// schema does not have one of them (with ignore_unknown: any of them), requires one
  /// that is not among them and has no write-default, or has one among them that text
  /// cannot give (struct, list, map).
  static Result<ValueConverter> Make(types::Schema schema,
                                     const std::vector<std::string>& columns,
                                     ConverterOptions options);

  /// Values are read as FromText does, numbers in timestamp columns by their declared
  /// unit; the empty text is null where the type is neither string nor binary, since
  /// others quote what is null, too. Columns that `texts` lacks have their
  /// write-default, else null.
  ///
  /// Invalid, naming the column, if the first value of a timestamp column since Make is a
  /// number and its unit is not declared: likely all are. A later one is rejected.
  /// REQUIRES: all columns are utf8.
  Result<ConvertedBatch> Convert(const arrow::RecordBatch& texts);

 private:
  ValueConverter(types::Schema schema, ConverterOptions options);

  Result<std::shared_ptr<arrow::Array>> ConvertColumn(const arrow::RecordBatch& texts,
                                                      std::size_t index,
                                                      Rejections& rejections);
  Result<std::shared_ptr<arrow::Array>> Parse(const arrow::StringArray& texts,
                                              std::size_t index, Rejections& rejections);
  Result<types::Value> ValueOf(std::size_t index, std::string_view text);

  types::Schema schema_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
  ConverterOptions options_;
  /// By column of the schema: true once it had a value.
  std::vector<bool> has_values_;
  /// Set by an undeclared unit, which ends the conversion.
  Status failure_;
};

}  // namespace firn::sources
