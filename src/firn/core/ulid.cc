#include "firn/core/ulid.h"

#include <algorithm>

namespace firn {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr int kTimeCharacters = 10;
constexpr int kHalfCharacters = 8;
constexpr std::size_t kUlidLength = kTimeCharacters + 2 * kHalfCharacters;

void AppendBase32(std::uint64_t value, int characters, std::string& out) {
  for (int shift = 5 * (characters - 1); shift >= 0; shift -= 5) {
    out.push_back(kAlphabet[(value >> shift) & 31]);
  }
}

}  // namespace

std::string NewUlid(Runtime& runtime) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(runtime.Now());
  std::string ulid;
  ulid.reserve(kUlidLength);
  AppendBase32(static_cast<std::uint64_t>(now.time_since_epoch().count()),
               kTimeCharacters, ulid);
  AppendBase32(runtime.Random64(), kHalfCharacters, ulid);
  AppendBase32(runtime.Random64(), kHalfCharacters, ulid);
  return ulid;
}

bool IsUlid(std::string_view text) {
  return text.size() == kUlidLength && text[0] <= '7' &&
         std::ranges::all_of(
             text, [](char c) { return kAlphabet.find(c) != std::string_view::npos; });
}

std::string NewUuid(Runtime& runtime) {
  const std::uint64_t high = (runtime.Random64() & ~0xF000ULL) | 0x4000ULL;
  const std::uint64_t low = (runtime.Random64() & ~(3ULL << 62)) | (2ULL << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32,
                     (high >> 16) & 0xFFFF, high & 0xFFFF, low >> 48,
                     low & 0xFFFF'FFFF'FFFFULL);
}

}  // namespace firn
