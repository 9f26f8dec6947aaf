#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace firn {

/// Of ASCII letters alone: every other byte stays as it is, whatever the locale.
constexpr char LowerCase(char c) {
  return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerCase(c);
  return lower;
}

inline bool EqualWithoutCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b,
                            [](char x, char y) { return LowerCase(x) == LowerCase(y); });
}

}  // namespace firn
