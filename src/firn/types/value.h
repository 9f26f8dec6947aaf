#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace firn::types {

/// Unscaled value of a decimal; the scale is the type's.
struct DecimalValue {
  __int128 unscaled = 0;
  auto operator<=>(const DecimalValue&) const = default;
};

/// One value of a primitive type; std::monostate is null. What the representation means,
/// the Type says:
///
/// boolean: bool; int, date (days): int32; long, time, timestamp, timestamptz
/// (microseconds), *_ns (nanoseconds): int64; float; double; decimal: DecimalValue;
/// string (UTF-8), uuid (16 bytes, big-endian), fixed, binary: std::string.
using Value = std::variant<std::monostate, bool, std::int32_t, std::int64_t, float,
                           double, DecimalValue, std::string>;

inline bool IsNull(const Value& value) { return value.index() == 0; }

/// Values of a partition spec's fields, in the order of the spec.
using PartitionTuple = std::vector<Value>;

}  // namespace firn::types
