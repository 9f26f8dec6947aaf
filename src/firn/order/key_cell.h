#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <variant>

#include "firn/order/key_encoder.h"
#include "firn/types/value.h"

/// How one value stands in a key. A cell is what a value is encoded as, and every format
/// has one function for its size and one to write it, so that keys can be sized first and
/// then written in place.
namespace firn::order {

// The byte before each value. It is never inverted: nulls come first or last whatever
// the direction.
inline constexpr char kNullFirstMarker = 0;
inline constexpr char kPresentMarker = 1;
inline constexpr char kNullLastMarker = 2;

// A text ends with two zero bytes, and a zero byte inside is followed by 0xff.
inline constexpr char kEscape = '\x00';
inline constexpr char kEscapedZero = '\xff';
inline constexpr char kTextEnd = '\x00';

/// Bytes of a length that the type fixes.
struct RawBytes {
  std::string_view bytes;
};

/// Bytes of any length.
struct Text {
  std::string_view bytes;
};

inline char NullMarker(const KeyColumn& column) {
  return column.null_order == NullOrder::kNullsFirst ? kNullFirstMarker : kNullLastMarker;
}

template <typename Unsigned>
char* PutBigEndian(Unsigned bits, char* out) {
  for (int i = sizeof(Unsigned) - 1; i >= 0; --i)
    *out++ = static_cast<char>(bits >> 8 * i);
  return out;
}

/// Orders doubles as Iceberg does when compared as unsigned; one NaN for each sign.
inline std::uint64_t OrderedBits(double value) {
  if (std::isnan(value)) {
    value = std::copysign(std::numeric_limits<double>::quiet_NaN(),
                          std::signbit(value) ? -1.0 : 1.0);
  }
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

inline std::size_t CellBytes(std::monostate) { return 0; }
inline std::size_t CellBytes(bool) { return 1; }
inline std::size_t CellBytes(std::int64_t) { return 8; }
inline std::size_t CellBytes(double) { return 8; }
inline std::size_t CellBytes(const types::DecimalValue&) { return 16; }
inline std::size_t CellBytes(const RawBytes& raw) { return raw.bytes.size(); }
inline std::size_t CellBytes(const Text& text) {
  std::size_t zeros = 0;
  for (const char byte : text.bytes) zeros += byte == kEscape ? 1 : 0;
  return text.bytes.size() + zeros + 2;
}

inline char* PutCell(bool value, char* out) {
  *out = value ? 1 : 0;
  return out + 1;
}
inline char* PutCell(std::int64_t value, char* out) {
  return PutBigEndian(static_cast<std::uint64_t>(value) ^ std::uint64_t{1} << 63, out);
}
inline char* PutCell(double value, char* out) {
  return PutBigEndian(OrderedBits(value), out);
}
inline char* PutCell(const types::DecimalValue& value, char* out) {
  using Unsigned = unsigned __int128;
  return PutBigEndian(static_cast<Unsigned>(value.unscaled) ^ Unsigned{1} << 127, out);
}
inline char* PutCell(const RawBytes& raw, char* out) {
  std::memcpy(out, raw.bytes.data(), raw.bytes.size());
  return out + raw.bytes.size();
}
inline char* PutCell(const Text& text, char* out) {
  for (const char byte : text.bytes) {
    *out++ = byte;
    if (byte == kEscape) *out++ = kEscapedZero;
  }
  *out++ = kEscape;
  *out++ = kTextEnd;
  return out;
}

inline char* PutColumn(const KeyColumn& column, std::monostate, char* out) {
  *out = NullMarker(column);
  return out + 1;
}

/// Writes the marker and the cell; gives the end.
template <typename Cell>
char* PutColumn(const KeyColumn& column, const Cell& cell, char* out) {
  *out++ = kPresentMarker;
  char* end = PutCell(cell, out);
  if (column.direction == Direction::kDescending) {
    for (; out < end; ++out) *out = static_cast<char>(~*out);
  }
  return end;
}

/// Calls `visit` with the cell of a value of type `type`; std::monostate for null.
template <typename Visit>
void VisitCell(const types::Type& type, const types::Value& value, Visit&& visit) {
  const bool is_text =
      type.kind() == types::TypeKind::kString || type.kind() == types::TypeKind::kBinary;
  if (const auto* narrow = std::get_if<std::int32_t>(&value)) {
    visit(std::int64_t{*narrow});
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    visit(*number);
  } else if (const auto* bytes = std::get_if<std::string>(&value)) {
    is_text ? visit(Text{*bytes}) : visit(RawBytes{*bytes});
  } else if (const auto* floating = std::get_if<double>(&value)) {
    visit(*floating);
  } else if (const auto* single = std::get_if<float>(&value)) {
    visit(double{*single});
  } else if (const auto* decimal = std::get_if<types::DecimalValue>(&value)) {
    visit(*decimal);
  } else if (const auto* boolean = std::get_if<bool>(&value)) {
    visit(*boolean);
  } else {
    visit(std::monostate());
  }
}

}  // namespace firn::order
