#pragma once

#include <string>

#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::sources {

/// The Iceberg schema of a Parquet file, field ids unset. Required are the fields, at any
/// depth, of which the file says that they have a value in every row. Columns without a
/// type (all null) are left out; timestamps in nanoseconds become microseconds. Invalid,
/// naming file and column, for a type that Iceberg does not have.
Result<types::Schema> ReadParquetSchema(const std::string& path);

}  // namespace firn::sources
