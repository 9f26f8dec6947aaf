#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace firn {

/// All of `text` as a decimal number: digits, for a signed type with one '-' in front at
/// most. Nothing for any other text, and for a number that does not fit.
template <std::integral Number>
std::optional<Number> ParseWholeNumber(std::string_view text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || parsed != end) return std::nullopt;
  return number;
}

}  // namespace firn
