#pragma once

#include <optional>
#include <string>

#include <parquet/schema.h>

namespace firn::parquet_io {

enum class BoundSide { kLower, kUpper };

/// The bound that Iceberg's metrics of the default configuration have of a column whose
/// least or greatest value is `statistic`, as Parquet's statistics encode it (Parquet
/// format, "Statistics": plain encoding without length); nothing if they have none. The
/// column is one of a segment's, not below a list or map.
std::optional<std::string> BoundOf(const parquet::ColumnDescriptor& column,
                                   const std::string& statistic, BoundSide side);

}  // namespace firn::parquet_io
