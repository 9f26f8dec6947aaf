#include "firn/types/transform.h"

#include <array>
#include <bit>
#include <charconv>

#include "firn/types/bounds.h"
#include "firn/types/calendar.h"
#include "firn/types/murmur3.h"
#include "firn/types/single_value.h"

namespace firn::types {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kNanosPerMicro = 1'000;
constexpr std::int64_t kSecondsPerHour = 3'600;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr std::int64_t kEpochYear = 1970;

struct NamedTransform {
  std::string_view name;
  TransformKind kind;
};

constexpr std::array kTransforms = {
    NamedTransform{"identity", TransformKind::kIdentity},
    NamedTransform{"bucket", TransformKind::kBucket},
    NamedTransform{"truncate", TransformKind::kTruncate},
    NamedTransform{"year", TransformKind::kYear},
    NamedTransform{"month", TransformKind::kMonth},
    NamedTransform{"day", TransformKind::kDay},
    NamedTransform{"hour", TransformKind::kHour},
    NamedTransform{"void", TransformKind::kVoid},
};

std::string_view Name(TransformKind kind) {
  for (const NamedTransform& transform : kTransforms) {
    if (transform.kind == kind) return transform.name;
  }
  return "unknown";
}

bool HasParameter(TransformKind kind) {
  return kind == TransformKind::kBucket || kind == TransformKind::kTruncate;
}

/// The positive number in "[16]"; 0 for any other text.
std::int32_t ParseParameter(std::string_view text) {
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return 0;
  const char* first = text.data() + 1;
  const char* last = text.data() + text.size() - 1;
  std::int32_t parameter = 0;
  const auto [stop, error] = std::from_chars(first, last, parameter);
  if (error != std::errc() || stop != last || parameter < 0) return 0;
  return parameter;
}

bool IsTimestamp(TypeKind kind) {
  return kind >= TypeKind::kTimestamp && kind <= TypeKind::kTimestamptzNs;
}

bool IsNanoseconds(TypeKind kind) {
  return kind == TypeKind::kTimestampNs || kind == TypeKind::kTimestamptzNs;
}

bool AllowsBucket(TypeKind kind) {
  return kind != TypeKind::kBoolean && kind != TypeKind::kFloat &&
         kind != TypeKind::kDouble;
}

bool AllowsTruncate(TypeKind kind) {
  return kind == TypeKind::kInt || kind == TypeKind::kLong ||
         kind == TypeKind::kDecimal || kind == TypeKind::kString ||
         kind == TypeKind::kBinary;
}

bool Allows(TransformKind transform, TypeKind source) {
  switch (transform) {
    case TransformKind::kIdentity:
    case TransformKind::kVoid:
      return true;
    case TransformKind::kBucket:
      return AllowsBucket(source);
    case TransformKind::kTruncate:
      return AllowsTruncate(source);
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kDay:
      return source == TypeKind::kDate || IsTimestamp(source);
    case TransformKind::kHour:
      return IsTimestamp(source);
  }
  return false;
}

std::string LittleEndian(std::int64_t value) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

/// What is hashed (Iceberg spec, Appendix B): ints and dates as longs, so that widening
/// keeps the bucket.
std::string HashedBytes(const Type& source, const Value& value) {
  if (const auto* days_or_int = std::get_if<std::int32_t>(&value)) {
    return LittleEndian(*days_or_int);
  }
  if (IsNanoseconds(source.kind())) {
    return LittleEndian(FloorDivide(std::get<std::int64_t>(value), kNanosPerMicro));
  }
  return ToBytes(source, value);
}

Value Bucket(std::int32_t buckets, const Type& source, const Value& value) {
  const std::uint32_t hash = Murmur3(HashedBytes(source, value)) & 0x7fff'ffffu;
  return static_cast<std::int32_t>(hash % static_cast<std::uint32_t>(buckets));
}

/// The largest multiple of `width` that is not above `value`; wraps around at the lowest
/// values, as Iceberg's Java library does.
__int128 TruncateNumber(__int128 value, std::int32_t width) {
  const __int128 remainder = value % width;
  return value - (remainder < 0 ? remainder + width : remainder);
}

Value Truncate(std::int32_t width, const Type& source, const Value& value) {
  switch (source.kind()) {
    case TypeKind::kInt:
      return static_cast<std::int32_t>(
          TruncateNumber(std::get<std::int32_t>(value), width));
    case TypeKind::kLong:
      return static_cast<std::int64_t>(
          TruncateNumber(std::get<std::int64_t>(value), width));
    case TypeKind::kDecimal:
      return DecimalValue{TruncateNumber(std::get<DecimalValue>(value).unscaled, width)};
    case TypeKind::kString:
      return TruncateLowerString(std::get<std::string>(value), width);
    default:
      return TruncateLowerBinary(std::get<std::string>(value), width);
  }
}

std::int64_t UnitsPerSecond(TypeKind kind) {
  return IsNanoseconds(kind) ? kMicrosPerSecond * kNanosPerMicro : kMicrosPerSecond;
}

std::int64_t DayOf(TypeKind source, const Value& value) {
  if (source == TypeKind::kDate) return std::get<std::int32_t>(value);
  return FloorDivide(std::get<std::int64_t>(value),
                     UnitsPerSecond(source) * kSecondsPerDay);
}

std::int64_t DatePart(TransformKind part, TypeKind source, const Value& value) {
  if (part == TransformKind::kHour) {
    return FloorDivide(std::get<std::int64_t>(value),
                       UnitsPerSecond(source) * kSecondsPerHour);
  }
  const std::int64_t day = DayOf(source, value);
  if (part == TransformKind::kDay) return day;
  const CivilDate date = DateOfDay(day);
  const std::int64_t years = date.year - kEpochYear;
  return part == TransformKind::kYear ? years : years * 12 + date.month - 1;
}

}  // namespace

std::string ToString(const Transform& transform) {
  if (!HasParameter(transform.kind)) return std::string(Name(transform.kind));
  return fmt::format("{}[{}]", Name(transform.kind), transform.parameter);
}

Result<Transform> ParseTransform(std::string_view text) {
  const std::size_t name_bytes = text.find('[');
  const std::string_view name = text.substr(0, name_bytes);
  const bool has_parameter = name_bytes != std::string_view::npos;
  const std::int32_t parameter =
      has_parameter ? ParseParameter(text.substr(name_bytes)) : 0;
  for (const NamedTransform& known : kTransforms) {
    if (known.name != name || HasParameter(known.kind) != has_parameter) continue;
    if (has_parameter && parameter == 0) break;
    return Transform{.kind = known.kind, .parameter = parameter};
  }
  return InvalidError(
      "'{}' is not a transform; there are identity, bucket[N], truncate[W], year, month, "
      "day, hour and void",
      text);
}

Result<Type> ResultType(const Transform& transform, const Type& source) {
  if (!source.is_primitive() || !Allows(transform.kind, source.kind())) {
    return InvalidError("transform {} does not apply to type {}", ToString(transform),
                        source.ToString());
  }
  switch (transform.kind) {
    case TransformKind::kIdentity:
    case TransformKind::kTruncate:
    case TransformKind::kVoid:
      return source;
    case TransformKind::kDay:
      return Type(TypeKind::kDate);
    default:
      return Type(TypeKind::kInt);
  }
}

Value Apply(const Transform& transform, const Type& source, const Value& value) {
  if (IsNull(value)) return value;
  switch (transform.kind) {
    case TransformKind::kIdentity:
      return value;
    case TransformKind::kVoid:
      return Value();
    case TransformKind::kBucket:
      return Bucket(transform.parameter, source, value);
    case TransformKind::kTruncate:
      return Truncate(transform.parameter, source, value);
    default:
      return static_cast<std::int32_t>(DatePart(transform.kind, source.kind(), value));
  }
}

}  // namespace firn::types
