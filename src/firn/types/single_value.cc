#include <bit>
#include <cstring>
#include <optional>
#include <type_traits>

#include "firn/types/single_value.h"

namespace firn::types {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kDecimalBytesMax = 16;
constexpr std::size_t kUuidBytes = 16;

template <typename Number>
std::string NumberBytes(Number number) {
  std::string bytes(sizeof(Number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(Number));
  return bytes;
}

/// Nothing if `bytes` has another size.
template <typename Number>
std::optional<Number> ReadNumber(std::string_view bytes) {
  if (bytes.size() != sizeof(Number)) return std::nullopt;
  Number number;
  std::memcpy(&number, bytes.data(), bytes.size());
  return number;
}

/// Two's complement, big-endian, no more bytes than the value needs.
std::string DecimalBytes(__int128 unscaled) {
  std::string reversed;
  while (true) {
    reversed += static_cast<char>(unscaled);
    const auto low = static_cast<signed char>(unscaled);
    if (unscaled == low) break;
    unscaled >>= 8;
  }
  return {reversed.rbegin(), reversed.rend()};
}

std::optional<DecimalValue> ReadDecimal(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > kDecimalBytesMax) return std::nullopt;
  unsigned __int128 unscaled = static_cast<signed char>(bytes[0]) < 0 ? -1 : 0;
  for (const char byte : bytes)
    unscaled = unscaled << 8 | static_cast<unsigned char>(byte);
  return DecimalValue{static_cast<__int128>(unscaled)};
}

std::optional<Value> ReadLong(std::string_view bytes) {
  if (const auto widened = ReadNumber<std::int32_t>(bytes)) return std::int64_t{*widened};
  return ReadNumber<std::int64_t>(bytes);
}

std::optional<Value> ReadDouble(std::string_view bytes) {
  if (const auto widened = ReadNumber<float>(bytes)) return double{*widened};
  return ReadNumber<double>(bytes);
}

std::optional<Value> ReadOfSize(std::string_view bytes, std::size_t size) {
  if (bytes.size() != size) return std::nullopt;
  return std::string(bytes);
}

std::optional<Value> Read(const Type& type, std::string_view bytes) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (bytes.size() != 1) return std::nullopt;
      return bytes[0] != '\0';
    case TypeKind::kInt:
    case TypeKind::kDate:
      return ReadNumber<std::int32_t>(bytes);
    case TypeKind::kLong:
      return ReadLong(bytes);
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestamptz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestamptzNs:
      return ReadNumber<std::int64_t>(bytes);
    case TypeKind::kFloat:
      return ReadNumber<float>(bytes);
    case TypeKind::kDouble:
      return ReadDouble(bytes);
    case TypeKind::kDecimal:
      return ReadDecimal(bytes);
    case TypeKind::kUuid:
      return ReadOfSize(bytes, kUuidBytes);
    case TypeKind::kFixed:
      return ReadOfSize(bytes, static_cast<std::size_t>(type.length()));
    case TypeKind::kString:
    case TypeKind::kBinary:
      return std::string(bytes);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string ToBytes(const Type&, const Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<Held, bool>) {
          return std::string(1, held ? '\x01' : '\x00');
        } else if constexpr (std::is_same_v<Held, DecimalValue>) {
          return DecimalBytes(held.unscaled);
        } else if constexpr (std::is_same_v<Held, std::string>) {
          return held;
        } else {
          return NumberBytes(held);
        }
      },
      value);
}

Result<Value> FromBytes(const Type& type, std::string_view bytes) {
  if (const auto value = Read(type, bytes)) return *value;
  return Error(ErrorKind::kCorruption, "{} bytes are not a value of type {}",
               bytes.size(), type.ToString());
}

}  // namespace firn::types
