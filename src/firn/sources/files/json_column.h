#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/files/time_units.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// A field of a schema, at any depth, and where the values go that JSON has for it.
struct JsonColumn {
  /// Of `field` and all that is below it; the builder is of its type, and must outlive
  /// the column. Invalid, naming the column, for a write-default that is no value of its
  /// type.
  static Result<JsonColumn> Make(const types::Field& field, std::string path,
                                 arrow::ArrayBuilder& builder, const TimeUnits& units);

  const types::Type& type() const { return field.type; }

  /// Of a row that says nothing of it.
  Status AppendMissing();

  types::Field field;
  /// Full name.
  std::string path;
  arrow::ArrayBuilder* builder = nullptr;
  std::optional<TimeUnit> unit;
  bool has_values = false;
  /// Its write-default; null if it has none.
  std::shared_ptr<arrow::Array> missing;
  std::vector<JsonColumn> children;
};

}  // namespace firn::sources
