#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace firn::wal {

// The bytes inside a footer's base64 texts. Every value has exactly one form:
//   varint   7 bits a byte, lowest first, the high bit says that more follow; no
//            superfluous zero byte at the end
//   count    a varint below 2^63
//   signed   a varint: 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
//   string   its length as a varint, then its bytes
//   fixed    8 bytes, lowest first

class ByteWriter {
 public:
  void Byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }

  void Varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) Byte(static_cast<std::uint8_t>(value | 0x80));
    Byte(static_cast<std::uint8_t>(value));
  }

  void Count(std::int64_t value) { Varint(static_cast<std::uint64_t>(value)); }

  void Signed(std::int64_t value) {
    const auto sign = static_cast<std::uint64_t>(value >> 63);
    Varint(static_cast<std::uint64_t>(value) << 1 ^ sign);
  }

  void String(std::string_view value) {
    Varint(value.size());
    bytes_.append(value);
  }

  void Fixed64(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      Byte(static_cast<std::uint8_t>(value >> shift));
    }
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what ByteWriter wrote. The first problem sticks: all that is read after it is
/// zero or empty, so callers look at problem() once, at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint8_t Byte() {
    if (bytes_.empty()) Fail("it ends too early");
    if (failed()) return 0;
    const auto value = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }

  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = Byte();
      const std::uint64_t bits = byte & 0x7F;
      if (shift == 63 && bits > 1) break;
      value |= bits << shift;
      if ((byte & 0x80) != 0) continue;
      if (byte == 0 && shift > 0) break;
      return value;
    }
    Fail("a number is not in its shortest form");
    return 0;
  }

  std::int64_t Count() {
    const std::uint64_t value = Varint();
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return static_cast<std::int64_t>(value);
    }
    Fail("a count is negative");
    return 0;
  }

  std::int64_t Signed() {
    const std::uint64_t value = Varint();
    return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
  }

  /// How many things follow that take a byte at least; never more than there are bytes.
  std::size_t Length() {
    const std::uint64_t length = Varint();
    if (length <= bytes_.size()) return static_cast<std::size_t>(length);
    Fail("a length goes past its end");
    return 0;
  }

  std::string String() {
    const std::size_t length = Length();
    if (failed()) return "";
    std::string value(bytes_.substr(0, length));
    bytes_.remove_prefix(length);
    return value;
  }

  std::uint64_t Fixed64() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 8) {
      value |= static_cast<std::uint64_t>(Byte()) << shift;
    }
    return value;
  }

  void Fail(std::string problem) {
    if (failed()) return;
    problem_ = std::move(problem);
    bytes_ = {};
  }

  bool failed() const { return !problem_.empty(); }
  bool at_end() const { return bytes_.empty(); }
  /// Empty if there was none.
  const std::string& problem() const { return problem_; }

 private:
  std::string_view bytes_;
  std::string problem_;
};

}  // namespace firn::wal
