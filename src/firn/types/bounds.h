#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace firn::types {

/// Truncated bounds of strings are cut at code points, those of binary at bytes; `width`
/// counts accordingly (Iceberg spec, "Column metrics"; a bound may be below or above the
/// true one, never wrong).

std::string TruncateLowerString(std::string_view value, std::size_t width);
/// Nothing if no code point of the prefix can be raised. Never ends in a surrogate.
std::optional<std::string> TruncateUpperString(std::string_view value, std::size_t width);

std::string TruncateLowerBinary(std::string_view value, std::size_t width);
/// Nothing if the prefix is all 0xff.
std::optional<std::string> TruncateUpperBinary(std::string_view value, std::size_t width);

}  // namespace firn::types
