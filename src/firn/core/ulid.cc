#include "firn/core/ulid.h"

#include <algorithm>

namespace firn {
namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr int kTimeCharacters = 10;
constexpr int kHalfCharacters = 8;
constexpr std::size_t kUlidLength = kTimeCharacters + 2 * kHalfCharacters;

std::uint64_t MillisecondsSinceEpoch(Runtime& runtime) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(runtime.Now());
  return static_cast<std::uint64_t>(now.time_since_epoch().count());
}

void AppendBase32(std::uint64_t value, int characters, std::string& out) {
  for (int shift = 5 * (characters - 1); shift >= 0; shift -= 5) {
    out.push_back(kAlphabet[(value >> shift) & 31]);
  }
}

std::string UuidText(std::uint64_t high, std::uint64_t low) {
  // The variant of RFC 9562 in the two highest bits.
  low = (low & ~(3ULL << 62)) | (2ULL << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32,
                     (high >> 16) & 0xFFFF, high & 0xFFFF, low >> 48,
                     low & 0xFFFF'FFFF'FFFFULL);
}

}  // namespace

std::string NewUlid(Runtime& runtime) {
  std::string ulid;
  ulid.reserve(kUlidLength);
  AppendBase32(MillisecondsSinceEpoch(runtime), kTimeCharacters, ulid);
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
  return UuidText(high, runtime.Random64());
}

std::string NewUuidV7(Runtime& runtime) {
  const std::uint64_t high = (MillisecondsSinceEpoch(runtime) << 16) | 0x7000ULL |
                             (runtime.Random64() & 0x0FFFULL);
  return UuidText(high, runtime.Random64());
}

}  // namespace firn
