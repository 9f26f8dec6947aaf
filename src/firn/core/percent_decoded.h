#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace firn {

/// Text in which "%XX" stands for a byte (RFC 3986, section 2.1). Nothing if a '%' is not
/// followed by two hexadecimal digits.
inline std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const char* end = digits.data() + digits.size();
    const auto [parsed, error] = std::from_chars(digits.data(), end, byte, 16);
    if (digits.size() < 2 || error != std::errc() || parsed != end) return std::nullopt;
    decoded.push_back(static_cast<char>(byte));
    i += 2;
  }
  return decoded;
}

}  // namespace firn
