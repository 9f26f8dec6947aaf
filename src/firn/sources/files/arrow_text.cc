#include "firn/sources/files/arrow_text.h"

#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <arrow/array.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>

#include "firn/types/calendar.h"
#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using arrow::Type;
using types::TypeKind;

constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr int kUuidBytes = 16;
/// Beyond it, neighbours of a whole number are no doubles.
constexpr std::int64_t kExactInDoubleMax = std::int64_t{1} << 53;

bool Is(const types::Type* type, TypeKind kind) {
  return type != nullptr && type->kind() == kind;
}

std::string AsText(TypeKind kind, const types::Value& value) {
  return types::ToText(types::Type(kind), value);
}

template <typename ArrowArray>
auto ViewAt(const arrow::Array& column, std::int64_t row) {
  return static_cast<const ArrowArray&>(column).GetView(row);
}

template <typename ArrowArray>
ArrowText IntegerText(const arrow::Array& column, const types::Type* to,
                      std::int64_t row) {
  const auto value = ViewAt<ArrowArray>(column, row);
  // A JSON number would be rounded when it is read as a double; a string is not taken.
  const bool is_rounded =
      Is(to, TypeKind::kDouble) && (std::cmp_greater(value, kExactInDoubleMax) ||
                                    std::cmp_less(value, -kExactInDoubleMax));
  return {.text = fmt::format("{}", value), .is_bare = !is_rounded};
}

ArrowText FloatText(float value, const types::Type* to) {
  std::string text = Is(to, TypeKind::kDouble)
                         ? AsText(TypeKind::kDouble, static_cast<double>(value))
                         : AsText(TypeKind::kFloat, value);
  return {.text = std::move(text), .is_bare = std::isfinite(value)};
}

/// Never in the scientific notation that Arrow has for small numbers.
template <typename Decimal, typename ArrowArray>
ArrowText DecimalText(const arrow::Array& column, std::int64_t row) {
  const auto scale = static_cast<const arrow::DecimalType&>(*column.type()).scale();
  std::string digits =
      Decimal(static_cast<const ArrowArray&>(column).GetValue(row)).ToIntegerString();
  if (scale <= 0) {
    if (digits != "0") digits.append(static_cast<std::size_t>(-scale), '0');
    return {.text = std::move(digits), .is_bare = true};
  }
  const std::size_t sign = digits.starts_with('-') ? 1 : 0;
  const auto places = static_cast<std::size_t>(scale);
  if (digits.size() - sign <= places) {
    digits.insert(sign, places + 1 - (digits.size() - sign), '0');
  }
  digits.insert(digits.size() - places, 1, '.');
  return {.text = std::move(digits), .is_bare = true};
}

struct Unit {
  std::int64_t per_second;
  int fraction_digits;
  std::string_view name;
};

Unit UnitOf(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return {.per_second = 1, .fraction_digits = 0, .name = "s"};
    case arrow::TimeUnit::MILLI:
      return {.per_second = 1'000, .fraction_digits = 3, .name = "ms"};
    case arrow::TimeUnit::MICRO:
      return {.per_second = 1'000'000, .fraction_digits = 6, .name = "us"};
    case arrow::TimeUnit::NANO:
      break;
  }
  return {.per_second = 1'000'000'000, .fraction_digits = 9, .name = "ns"};
}

/// "01:02:03.5"; hours may be more than a day has, since the value may be.
std::string ClockText(std::int64_t count, const Unit& unit) {
  const std::string sign = count < 0 ? "-" : "";
  const std::int64_t seconds = std::abs(count / unit.per_second);
  const std::int64_t fraction = std::abs(count % unit.per_second);
  std::string text = fmt::format("{}{:02}:{:02}:{:02}", sign, seconds / 3600,
                                 seconds / 60 % 60, seconds % 60);
  if (fraction == 0) return text;
  text += fmt::format(".{:0{}}", fraction, unit.fraction_digits);
  return text.erase(text.find_last_not_of('0') + 1);
}

std::string CountText(std::int64_t count, const Unit& unit) {
  return fmt::format("{} {}", count, unit.name);
}

std::string DaysText(std::int64_t days) {
  if (!std::in_range<std::int32_t>(days)) return fmt::format("{} days", days);
  return AsText(TypeKind::kDate, static_cast<std::int32_t>(days));
}

bool HasZone(const arrow::TimestampType& from, const types::Type* to) {
  if (to == nullptr) return !from.timezone().empty();
  return to->kind() == TypeKind::kTimestamptz || to->kind() == TypeKind::kTimestamptzNs;
}

std::string TimestampText(const arrow::Array& column, const types::Type* to,
                          std::int64_t row) {
  const auto& type = static_cast<const arrow::TimestampType&>(*column.type());
  const Unit unit = UnitOf(type.unit());
  const auto count = ViewAt<arrow::TimestampArray>(column, row);
  const std::int64_t per_day = unit.per_second * kSecondsPerDay;
  const std::int64_t days = types::FloorDivide(count, per_day);
  if (!std::in_range<std::int32_t>(days)) return CountText(count, unit);
  return fmt::format("{}T{}{}", DaysText(days),
                     ClockText(types::FloorRemainder(count, per_day), unit),
                     HasZone(type, to) ? "+00:00" : "");
}

std::string Date64Text(std::int64_t milliseconds) {
  const Unit unit = UnitOf(arrow::TimeUnit::MILLI);
  const std::int64_t per_day = unit.per_second * kSecondsPerDay;
  if (milliseconds % per_day != 0) return CountText(milliseconds, unit);
  return DaysText(milliseconds / per_day);
}

template <typename ArrowArray>
std::string TimeText(const arrow::Array& column, std::int64_t row) {
  const auto& type = static_cast<const arrow::TimeType&>(*column.type());
  return ClockText(ViewAt<ArrowArray>(column, row), UnitOf(type.unit()));
}

std::string DurationText(const arrow::Array& column, std::int64_t row) {
  const auto& type = static_cast<const arrow::DurationType&>(*column.type());
  return CountText(ViewAt<arrow::DurationArray>(column, row), UnitOf(type.unit()));
}

/// Bytes that become text stand as text.
std::string BytesText(std::string_view bytes, const types::Type* to) {
  if (Is(to, TypeKind::kString)) return std::string(bytes);
  const bool is_uuid = Is(to, TypeKind::kUuid) && std::ssize(bytes) == kUuidBytes;
  return AsText(is_uuid ? TypeKind::kUuid : TypeKind::kBinary, std::string(bytes));
}

/// Text that becomes bytes stands as these.
std::string StringText(std::string_view text, const types::Type* to) {
  return Is(to, TypeKind::kBinary) ? BytesText(text, to) : std::string(text);
}

ArrowText NumberText(const arrow::Array& column, const types::Type* to,
                     std::int64_t row) {
  switch (column.type_id()) {
    case Type::INT8:
      return IntegerText<arrow::Int8Array>(column, to, row);
    case Type::UINT8:
      return IntegerText<arrow::UInt8Array>(column, to, row);
    case Type::INT16:
      return IntegerText<arrow::Int16Array>(column, to, row);
    case Type::UINT16:
      return IntegerText<arrow::UInt16Array>(column, to, row);
    case Type::INT32:
      return IntegerText<arrow::Int32Array>(column, to, row);
    case Type::UINT32:
      return IntegerText<arrow::UInt32Array>(column, to, row);
    case Type::INT64:
      return IntegerText<arrow::Int64Array>(column, to, row);
    case Type::UINT64:
      return IntegerText<arrow::UInt64Array>(column, to, row);
    case Type::DECIMAL32:
      return DecimalText<arrow::Decimal32, arrow::Decimal32Array>(column, row);
    case Type::DECIMAL64:
      return DecimalText<arrow::Decimal64, arrow::Decimal64Array>(column, row);
    case Type::DECIMAL128:
      return DecimalText<arrow::Decimal128, arrow::Decimal128Array>(column, row);
    case Type::DECIMAL256:
      return DecimalText<arrow::Decimal256, arrow::Decimal256Array>(column, row);
    case Type::HALF_FLOAT:
      return FloatText(arrow::util::Float16::FromBits(
                           static_cast<const arrow::HalfFloatArray&>(column).Value(row))
                           .ToFloat(),
                       to);
    case Type::FLOAT:
      return FloatText(ViewAt<arrow::FloatArray>(column, row), to);
    default: {
      const double value = ViewAt<arrow::DoubleArray>(column, row);
      return {.text = AsText(TypeKind::kDouble, value), .is_bare = std::isfinite(value)};
    }
  }
}

std::string QuotedText(const arrow::Array& column, const types::Type* to,
                       std::int64_t row) {
  switch (column.type_id()) {
    case Type::STRING:
      return StringText(ViewAt<arrow::StringArray>(column, row), to);
    case Type::LARGE_STRING:
      return StringText(ViewAt<arrow::LargeStringArray>(column, row), to);
    case Type::STRING_VIEW:
      return StringText(ViewAt<arrow::StringViewArray>(column, row), to);
    case Type::BINARY:
      return BytesText(ViewAt<arrow::BinaryArray>(column, row), to);
    case Type::LARGE_BINARY:
      return BytesText(ViewAt<arrow::LargeBinaryArray>(column, row), to);
    case Type::BINARY_VIEW:
      return BytesText(ViewAt<arrow::BinaryViewArray>(column, row), to);
    case Type::FIXED_SIZE_BINARY:
      return BytesText(ViewAt<arrow::FixedSizeBinaryArray>(column, row), to);
    case Type::DATE32:
      return DaysText(ViewAt<arrow::Date32Array>(column, row));
    case Type::DATE64:
      return Date64Text(ViewAt<arrow::Date64Array>(column, row));
    case Type::TIME32:
      return TimeText<arrow::Time32Array>(column, row);
    case Type::TIME64:
      return TimeText<arrow::Time64Array>(column, row);
    case Type::TIMESTAMP:
      return TimestampText(column, to, row);
    case Type::DURATION:
      return DurationText(column, row);
    default: {
      // Intervals and what later versions of Arrow may add.
      const auto scalar = column.GetScalar(row);
      return scalar.ok() ? (*scalar)->ToString() : ErrorText(scalar.status());
    }
  }
}

}  // namespace

ArrowText TextOfValue(const arrow::Array& column, const types::Type* to,
                      std::int64_t row) {
  const Type::type id = column.type_id();
  if (id == Type::BOOL) {
    return {.text = ViewAt<arrow::BooleanArray>(column, row) ? "true" : "false",
            .is_bare = true};
  }
  const bool is_number =
      arrow::is_integer(id) || arrow::is_floating(id) || arrow::is_decimal(id);
  if (is_number) return NumberText(column, to, row);
  return {.text = QuotedText(column, to, row), .is_bare = false};
}

}  // namespace firn::sources
