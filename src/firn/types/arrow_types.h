#pragma once

#include <cstdint>
#include <memory>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/types/schema.h"
#include "firn/types/value.h"

namespace firn::types {

/// The Arrow type in which Firn holds a column of `type` in memory: string = utf8, binary
/// = binary, uuid = fixed_size_binary(16), timestamps without and with zone "UTC" in us
/// or ns, decimal = decimal128.
std::shared_ptr<arrow::DataType> ToArrowType(const Type& type);

/// With the metadata "PARQUET:field_id" on each field, nested ones included, as the
/// Parquet writer wants it.
std::shared_ptr<arrow::Schema> ToArrowSchema(const Schema& schema);

/// The Iceberg type of an Arrow type; field ids of nested fields come from their
/// metadata, else 0. Integers of other widths become the next wider one. Invalid, naming
/// the type, if there is none.
Result<Type> FromArrowType(const arrow::DataType& type);

/// Row `row` of a column. REQUIRES: `type` is primitive and the column's Arrow type is
/// ToArrowType(type).
Value ValueAt(const arrow::Array& array, const Type& type, std::int64_t row);

}  // namespace firn::types
