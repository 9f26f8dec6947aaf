#pragma once

#include <string>
#include <string_view>

#include <arrow/array/builder_nested.h>

#include "firn/core/status.h"
#include "firn/sources/files/json_cursor.h"
#include "firn/types/schema.h"

// Fields of JSON records that a table has no column for, and the column that may keep
// them: a map from their names to their values.

namespace firn::sources {

/// True for null, and for what holds nothing else; takes the value that comes next.
Result<bool> SaysNothing(JsonCursor& cursor);

/// OK if the schema has no column `name`, or one of type map<string, string>. Invalid,
/// naming it, its type and what to do, if it is of another type.
Status CheckUnknownFieldsColumn(const types::Schema& schema, std::string_view name);

/// The schema with such a column, added as an optional one if it is missing; equal to
/// `schema` if `name` is empty. Invalid as CheckUnknownFieldsColumn, and for a name that
/// differs from another column's only in case.
Result<types::Schema> WithUnknownFieldsColumn(const types::Schema& schema,
                                              std::string_view name);

/// Writes the map of one row after the other. Used by one thread.
class UnknownFieldsMap {
 public:
  /// REQUIRES: `field` passes CheckUnknownFieldsColumn. The builder is the column's, and
  /// must outlive this.
  UnknownFieldsMap(const types::Field& field, arrow::ArrayBuilder& builder);

  const arrow::ArrayBuilder* builder() const { return &builder_; }

  /// Begins this row's map, if it has not begun. Entries may also be appended to the
  /// builder itself.
  Status Begin();

  /// Takes the value that comes next: a string as it is, else its JSON text; null, if
  /// values may be null, else nothing. A value that is no JSON leaves no entry.
  Status Append(std::string_view name, JsonCursor& cursor);

  /// True if the row has a map; if not, the builder is as it was.
  bool EndRow();

 private:
  arrow::MapBuilder& builder_;
  const bool takes_null_;
  bool has_begun_ = false;
};

}  // namespace firn::sources
