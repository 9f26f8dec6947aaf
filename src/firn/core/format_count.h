#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace firn {

/// "336,776".
inline std::string FormatCount(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t sign = count < 0 ? 1 : 0;
  for (std::size_t end = digits.size(); end > sign + 3;) {
    end -= 3;
    digits.insert(end, ",");
  }
  return digits;
}

/// "1 row", "336,776 rows": `noun` is the singular, its plural has an "s".
inline std::string FormatCounted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", FormatCount(count), noun, count == 1 ? "" : "s");
}

}  // namespace firn
