#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <arrow/util/endian.h>

namespace firn::merge {

/// Offset-value code of a key, relative to a base that is not above it.
///
/// Keys are seen as endless sequences of 6-byte words, filled up with zeros. The code
/// holds the number of the first word in which key and base differ, and the key's word
/// there, so that of two keys with codes relative to one base
///   - the one with the smaller code is the smaller key, and
///   - if the codes differ, the larger key's code relative to the smaller key is the one
///     that it has already.
/// Only equal codes need a look at the keys, behind the word that they share. So long
/// common prefixes, which neighbours in sorted runs have, cost nothing. Source: Do and
/// Graefe, "Robust and efficient sorting with offset-value coding" (arXiv 2209.08420).
///
///   0                                  equal to the base
///   1 << 48                            differs from the base in its zeros at the end
///                                      only, or in no word that can be numbered
///   (65534 - word number) << 48 | word
using KeyCode = std::uint64_t;

inline constexpr std::size_t kCodeWordBytes = 6;
inline constexpr KeyCode kEqualCode = 0;
inline constexpr KeyCode kFarCode = KeyCode{1} << 48;
inline constexpr KeyCode kFirstWordRank = 65534;
/// Above the code of every key.
inline constexpr KeyCode kEndedCode = ~KeyCode{0};

inline std::uint64_t LoadBigEndian(const char* bytes) {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return arrow::bit_util::FromBigEndian(value);
}

/// The first byte at which the keys differ; the smaller size if there is none. REQUIRES:
/// their first `start` bytes are there, and equal.
inline std::size_t MismatchFrom(std::size_t start, std::string_view a,
                                std::string_view b) {
  const std::size_t size = std::min(a.size(), b.size());
  const auto difference_at = [&](std::size_t at) {
    return LoadBigEndian(a.data() + at) ^ LoadBigEndian(b.data() + at);
  };
  const auto first_byte = [](std::uint64_t difference) {
    return static_cast<std::size_t>(std::countl_zero(difference)) / 8;
  };
  std::size_t at = start;
  for (; at + 8 <= size; at += 8) {
    const std::uint64_t difference = difference_at(at);
    if (difference != 0) return at + first_byte(difference);
  }
  if (at < size && size >= 8) {
    // Once more over some bytes that are equal.
    const std::uint64_t difference = difference_at(size - 8);
    return difference != 0 ? size - 8 + first_byte(difference) : size;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

/// True if `a` is below `b`, given their mismatch.
inline bool IsBelowAt(std::size_t mismatch, std::string_view a, std::string_view b) {
  if (mismatch == b.size()) return false;
  if (mismatch == a.size()) return true;
  return static_cast<unsigned char>(a[mismatch]) <
         static_cast<unsigned char>(b[mismatch]);
}

/// Bytes [from, from + 8) of the key as a big-endian number, zeros behind its end.
/// REQUIRES: `from` is inside the key.
inline std::uint64_t LoadPadded(std::string_view key, std::size_t from) {
  if (from + 8 <= key.size()) return LoadBigEndian(key.data() + from);
  if (key.size() >= 8) {
    const std::size_t missing = from + 8 - key.size();
    return LoadBigEndian(key.data() + key.size() - 8) << (8 * missing);
  }
  char bytes[8] = {};
  std::memcpy(bytes, key.data() + from, key.size() - from);
  return LoadBigEndian(bytes);
}

/// The code for a difference in word number `word`.
inline KeyCode CodeOfWord(std::string_view key, std::size_t word) {
  if (word + 1 >= kFirstWordRank) return kFarCode;
  const std::size_t from = word * kCodeWordBytes;
  const std::uint64_t value = from < key.size() ? LoadPadded(key, from) >> 16 : 0;
  return (kFirstWordRank - word) << 48 | value;
}

/// The code of `key` relative to `base`, given their mismatch.
inline KeyCode CodeAt(std::size_t mismatch, std::string_view key, std::string_view base) {
  if (mismatch == base.size()) {
    if (mismatch == key.size()) return kEqualCode;
    mismatch = key.find_first_not_of('\0', mismatch);
    if (mismatch == std::string_view::npos) return kFarCode;
  }
  return CodeOfWord(key, mismatch / kCodeWordBytes);
}

/// Bytes that two keys share whose codes relative to one base are both `code`, if they
/// have that many.
inline std::size_t SharedBytes(KeyCode code) {
  const KeyCode rank = code >> 48;
  return rank <= 1 ? 0 : (kFirstWordRank - rank + 1) * kCodeWordBytes;
}

}  // namespace firn::merge
