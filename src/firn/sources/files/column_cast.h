#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/sources/files/time_units.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// True if values of a column of type `from` may become values of the primitive type
/// `to`, unless one is out of range.
bool MayBecome(const arrow::DataType& from, const types::Type& to);

struct ColumnCastOptions {
  TimeUnits time_units;
  /// Leave out columns and fields that the schema does not have.
  bool ignore_unknown = false;
};

/// Turns typed columns of a foreign file into those of a schema, without any loss.
///
/// Fields are matched by name, at every level; one that is missing has its
/// write-default (Iceberg spec, "Default values"), else null. Integers of
/// any width become each other, and doubles and decimals, as far as the values are exact;
/// floats become doubles, decimals other decimals, timestamps those of another unit, text
/// and bytes each other; dictionaries and views are resolved. A timestamp without a zone
/// counts as UTC where the schema has a zone, and the other way round: both are stored as
/// the same number. Integers become timestamps in their declared unit.
/// Immutable, thread-safe.
class ColumnCast {
 public:
  /// Invalid, naming the column, if the file's schema as a whole does not fit: an unknown
  /// column (with ignore_unknown: no other), one that is required, missing and without a
  /// write-default, or a type that cannot become another.
  static Result<ColumnCast> Make(const arrow::Schema& file, types::Schema schema,
                                 ColumnCastOptions options);

  /// Columns as in ToArrowSchema, but that required ones may have nulls and strings may
  /// not be UTF-8. Invalid, naming column and value, if a value cannot be kept.
  Result<std::shared_ptr<arrow::RecordBatch>> Cast(const arrow::RecordBatch& rows) const;

 private:
  ColumnCast(types::Schema schema, ColumnCastOptions options);

  Status CheckFields(const arrow::FieldVector& from, const std::vector<types::Field>& to,
                     const std::string& prefix) const;
  Status CheckType(const arrow::DataType& type, const types::Field& to,
                   const std::string& path) const;
  Result<std::shared_ptr<arrow::Array>> CastColumn(
      const std::shared_ptr<arrow::Array>& column, const types::Field& to,
      const std::string& path) const;
  Result<std::shared_ptr<arrow::Array>> CastNested(
      const std::shared_ptr<arrow::Array>& column, const types::Field& to,
      const std::string& path) const;
  Result<std::shared_ptr<arrow::Array>> CastStruct(const arrow::Array& column,
                                                   const types::Field& to,
                                                   const std::string& path) const;
  Result<std::shared_ptr<arrow::Array>> CastPrimitive(
      const std::shared_ptr<arrow::Array>& column, const types::Field& to,
      const std::string& path) const;

  types::Schema schema_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
  ColumnCastOptions options_;
};

}  // namespace firn::sources
