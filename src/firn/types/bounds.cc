#include "firn/types/bounds.h"

#include <cstdint>

namespace firn::types {
namespace {

constexpr std::uint32_t kFirstSurrogate = 0xd800;
constexpr std::uint32_t kLastSurrogate = 0xdfff;
constexpr std::uint32_t kLastCodePoint = 0x10ffff;

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// Bytes of the first `width` code points.
std::size_t PrefixBytes(std::string_view value, std::size_t width) {
  std::size_t code_points = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (IsContinuation(value[i])) continue;
    if (code_points == width) return i;
    ++code_points;
  }
  return value.size();
}

/// Start of the last code point. REQUIRES: `text` is not empty.
std::size_t LastCodePointStart(std::string_view text) {
  std::size_t start = text.size() - 1;
  while (start > 0 && IsContinuation(text[start])) --start;
  return start;
}

std::string EncodeUtf8(std::uint32_t code_point) {
  const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
  const auto tail = [&](int shift) { return byte(0x80 | (code_point >> shift & 0x3f)); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xc0 | code_point >> 6), tail(0)};
  if (code_point < 0x10000) return {byte(0xe0 | code_point >> 12), tail(6), tail(0)};
  return {byte(0xf0 | code_point >> 18), tail(12), tail(6), tail(0)};
}

/// Nothing unless `text` is exactly one well-formed code point.
std::optional<std::uint32_t> DecodeUtf8(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  std::uint32_t code_point = first;
  if (text.size() > 1) code_point = first & (0xff >> (text.size() + 1));
  for (const char byte : text.substr(1)) {
    code_point = code_point << 6 | (static_cast<unsigned char>(byte) & 0x3f);
  }
  const bool is_surrogate = code_point >= kFirstSurrogate && code_point <= kLastSurrogate;
  if (is_surrogate || code_point > kLastCodePoint) return std::nullopt;
  if (EncodeUtf8(code_point) != text) return std::nullopt;
  return code_point;
}

std::uint32_t NextCodePoint(std::uint32_t code_point) {
  const std::uint32_t next = code_point + 1;
  return next == kFirstSurrogate ? kLastSurrogate + 1 : next;
}

}  // namespace

std::string TruncateLowerString(std::string_view value, std::size_t width) {
  return std::string(value.substr(0, PrefixBytes(value, width)));
}

std::optional<std::string> TruncateUpperString(std::string_view value,
                                               std::size_t width) {
  std::string_view prefix = value.substr(0, PrefixBytes(value, width));
  if (prefix.size() == value.size()) return std::string(value);
  while (!prefix.empty()) {
    const std::size_t start = LastCodePointStart(prefix);
    const auto code_point = DecodeUtf8(prefix.substr(start));
    // What follows malformed UTF-8 in the order of bytes cannot be said.
    if (!code_point) return std::nullopt;
    prefix = prefix.substr(0, start);
    if (*code_point == kLastCodePoint) continue;
    return std::string(prefix) + EncodeUtf8(NextCodePoint(*code_point));
  }
  return std::nullopt;
}

std::string TruncateLowerBinary(std::string_view value, std::size_t width) {
  return std::string(value.substr(0, width));
}

std::optional<std::string> TruncateUpperBinary(std::string_view value,
                                               std::size_t width) {
  if (value.size() <= width) return std::string(value);
  std::string prefix(value.substr(0, width));
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  ++prefix.back();
  return prefix;
}

}  // namespace firn::types
