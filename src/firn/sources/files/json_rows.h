#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/files/json_column.h"
#include "firn/sources/files/rejected_records.h"
#include "firn/sources/files/time_units.h"
#include "firn/sources/files/unknown_fields.h"
#include "firn/types/schema.h"

namespace firn::sources {

struct JsonRowsOptions {
  TimeUnits time_units;
  /// Leave out fields that the schema does not have; a document that has no other is
  /// rejected.
  bool ignore_unknown = false;
  /// A column of type map<string, string> that fields go to which the schema does not
  /// have; empty, or missing in the schema: they do not fit.
  std::string unknown_fields_column;
  /// Documents came before the first one that is added: what it has is no column's first
  /// value.
  bool starts_midway = false;
};

/// Collects JSON objects as rows of a schema. Used by one thread.
///
/// Fields are matched by name, at every level; one that is missing has its write-default
/// (Iceberg spec, "Default values"), else null. How a value becomes one of the schema:
/// - boolean, int, long: only from a JSON value of that kind; an integer must fit.
/// - float, double: from a number, the nearest value; "NaN", "Infinity", "-Infinity".
/// - decimal: from a number or a string, exactly.
/// - date, time, timestamps, uuid, fixed, binary: from a string, as FromText reads it;
///   timestamps also from a number whose unit is declared.
/// - string: from a string; anything else becomes its JSON text, as it is written.
/// - struct from an object; list from an array; map from an object, its names read as
///   text of the key's type.
/// null, [] and {} in a field that the schema does not have say nothing and are left out.
///
/// With a column for unknown fields each is an entry of its map, beside those that the
/// record itself gives it; its key is its name, in structs with dots. Not so those in
/// lists and maps, and those whose name differs from a column's only in case: they do not
/// fit, nor does a key that is there twice. Without any entry the map is null, or empty
/// if it is required.
class JsonRows {
 public:
  /// Invalid, naming the column, for a write-default that is no value of its type, and as
  /// CheckUnknownFieldsColumn.
  static Result<JsonRows> Make(types::Schema schema, JsonRowsOptions options);
  JsonRows(JsonRows&&) noexcept;
  ~JsonRows();

  /// Adds one row for a document, or rejects it. Invalid, naming the column, if the first
  /// value of a timestamp column is a number and its unit is not declared: likely all
  /// are.
  Status Add(std::string_view document);

  /// Documents since the last Finish.
  std::int64_t row_count() const { return row_count_; }

  /// The rows since the last Finish, but for those that are rejected: these, counted
  /// since then too, are given with the first column that does not fit.
  Result<std::shared_ptr<arrow::RecordBatch>> Finish(Rejections& rejections);

 private:
  class Appender;

  JsonRows(types::Schema schema, JsonRowsOptions options);

  types::Schema schema_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
  JsonRowsOptions options_;
  /// Top-level columns; a column knows those below it.
  std::vector<JsonColumn> columns_;
  std::vector<std::shared_ptr<arrow::ArrayBuilder>> builders_;
  /// Of one of the builders; nothing without such a column.
  std::optional<UnknownFieldsMap> unknown_fields_;
  std::int64_t row_count_ = 0;
  Rejections rejected_;
};

}  // namespace firn::sources
