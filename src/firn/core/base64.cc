#include "firn/core/base64.h"

#include <array>
#include <cstdint>

namespace firn {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> kValues = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (int i = 0; i < 64; ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}();

std::uint32_t ByteAt(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
}

Status NotBase64(std::size_t length) {
  return Error(ErrorKind::kCorruption, "not base64 (length {})", length);
}

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group =
        ByteAt(bytes, i) << 16 | ByteAt(bytes, i + 1) << 8 | ByteAt(bytes, i + 2);
    text.push_back(kAlphabet[group >> 18]);
    text.push_back(kAlphabet[(group >> 12) & 63]);
    text.push_back(i + 1 < bytes.size() ? kAlphabet[(group >> 6) & 63] : '=');
    text.push_back(i + 2 < bytes.size() ? kAlphabet[group & 63] : '=');
  }
  return text;
}

Result<std::string> DecodeBase64(std::string_view text) {
  const std::size_t length = text.size();
  if (length % 4 != 0) return NotBase64(length);
  while (!text.empty() && length - text.size() < 2 && text.back() == '=') {
    text.remove_suffix(1);
  }
  std::string bytes;
  bytes.reserve(length / 4 * 3);
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    const int value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return NotBase64(length);
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    bytes.push_back(static_cast<char>(bits >> bit_count & 0xFF));
  }
  // Bits left over must be zero, so that every byte string has exactly one text.
  if ((bits & ((1U << bit_count) - 1)) != 0) return NotBase64(length);
  return bytes;
}

}  // namespace firn
