#include "firn/parquet_io/statistics_bound.h"

#include <algorithm>
#include <cstring>

#include "firn/parquet_io/column_metrics.h"
#include "firn/types/bounds.h"
#include "firn/types/single_value.h"

namespace firn::parquet_io {
namespace {

bool IsDecimal(const parquet::ColumnDescriptor& column) {
  return column.logical_type() != nullptr && column.logical_type()->is_decimal();
}

bool IsString(const parquet::ColumnDescriptor& column) {
  return column.logical_type() != nullptr && column.logical_type()->is_string();
}

/// Two's complement, most significant byte first.
types::DecimalValue DecimalOf(std::string_view bytes) {
  const bool is_negative = !bytes.empty() && (bytes.front() & 0x80) != 0;
  unsigned __int128 value = is_negative ? ~static_cast<unsigned __int128>(0) : 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return {static_cast<__int128>(value)};
}

std::string DecimalBound(const parquet::ColumnDescriptor& column, std::string bytes) {
  // Integers are encoded least significant byte first.
  const bool is_integer = column.physical_type() == parquet::Type::INT32 ||
                          column.physical_type() == parquet::Type::INT64;
  if (is_integer) std::ranges::reverse(bytes);
  return ToBytes(types::Type(types::TypeKind::kDecimal), DecimalOf(bytes));
}

/// A zero counts as the outer one of both.
template <typename Float>
std::string FloatBound(std::string bytes, BoundSide side) {
  Float value = 1;
  if (bytes.size() == sizeof(value)) std::memcpy(&value, bytes.data(), sizeof(value));
  if (value != 0) return bytes;
  value = side == BoundSide::kLower ? -Float{0} : Float{0};
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

std::optional<std::string> BytesBound(bool is_string, const std::string& bytes,
                                      BoundSide side) {
  const auto width = static_cast<std::size_t>(MetricsMode().width);
  if (side == BoundSide::kLower) {
    return is_string ? types::TruncateLowerString(bytes, width)
                     : types::TruncateLowerBinary(bytes, width);
  }
  return is_string ? types::TruncateUpperString(bytes, width)
                   : types::TruncateUpperBinary(bytes, width);
}

}  // namespace

std::optional<std::string> BoundOf(const parquet::ColumnDescriptor& column,
                                   const std::string& statistic, BoundSide side) {
  if (IsDecimal(column)) return DecimalBound(column, statistic);
  switch (column.physical_type()) {
    case parquet::Type::FLOAT:
      return FloatBound<float>(statistic, side);
    case parquet::Type::DOUBLE:
      return FloatBound<double>(statistic, side);
    case parquet::Type::BYTE_ARRAY:
      return BytesBound(IsString(column), statistic, side);
    default:
      return statistic;
  }
}

}  // namespace firn::parquet_io
