#include "firn/sources/files/time_units.h"

#include <array>
#include <limits>
#include <utility>

#include <arrow/util/decimal.h>

#include "firn/core/nearest.h"
#include "firn/sources/files/rejected_records.h"
#include "firn/types/column_list.h"

namespace firn::sources {
namespace {

using types::TypeKind;

constexpr std::array<std::pair<std::string_view, TimeUnit>, 4> kUnits = {
    {{"s", TimeUnit::kSeconds},
     {"ms", TimeUnit::kMilliseconds},
     {"us", TimeUnit::kMicroseconds},
     {"ns", TimeUnit::kNanoseconds}}};

/// Digits behind the point of a second.
int FractionDigits(TimeUnit unit) { return static_cast<int>(unit) * 3; }

int FractionDigits(const types::Type& type) {
  const bool is_nanoseconds =
      type.kind() == TypeKind::kTimestampNs || type.kind() == TypeKind::kTimestamptzNs;
  return is_nanoseconds ? 9 : 6;
}

std::optional<TimeUnit> UnitNamed(std::string_view name) {
  for (const auto& [unit_name, unit] : kUnits) {
    if (unit_name == name) return unit;
  }
  return std::nullopt;
}

/// `number` times ten to the power of `exponent`, if that is an integer.
std::optional<__int128> Scaled(__int128 number, int exponent) {
  constexpr __int128 kMax = std::numeric_limits<std::int64_t>::max();
  for (; exponent < 0 && number != 0; ++exponent) {
    if (number % 10 != 0) return std::nullopt;
    number /= 10;
  }
  for (; exponent > 0 && number != 0; --exponent) {
    if (number > kMax || number < -kMax) return std::nullopt;
    number *= 10;
  }
  return number;
}

}  // namespace

Result<TimeUnits> ParseTimeUnits(const std::vector<std::string>& texts) {
  TimeUnits units;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const auto unit = equals == std::string::npos || equals == 0
                          ? std::nullopt
                          : UnitNamed(std::string_view(text).substr(equals + 1));
    if (!unit) {
      return InvalidError("'{}' is not COLUMN=UNIT, where UNIT is s, ms, us or ns", text);
    }
    const std::string column = text.substr(0, equals);
    if (units.emplace(column, *unit).second) continue;
    return InvalidError("the unit of column '{}' is declared twice", column);
  }
  return units;
}

Status CheckTimeUnits(const TimeUnits& units, const types::Schema& schema) {
  for (const auto& [column, unit] : units) {
    const types::Field* field = types::FindField(schema, column);
    if (field == nullptr) {
      return InvalidError("there is no column '{}'{}", column,
                          DidYouMean(ColumnNames(schema.fields), column));
    }
    if (IsTimestamp(field->type)) continue;
    return InvalidError("column '{}' is of type {}, which has no unit of time", column,
                        field->type.ToString());
  }
  return Status::OK();
}

std::optional<TimeUnit> TimeUnitOf(const TimeUnits& units, std::string_view column) {
  const auto found = units.find(column);
  if (found == units.end()) return std::nullopt;
  return found->second;
}

bool IsTimestamp(const types::Type& type) {
  return type.kind() >= TypeKind::kTimestamp && type.kind() <= TypeKind::kTimestamptzNs;
}

bool IsNumber(std::string_view text) {
  arrow::Decimal256 decimal;
  std::int32_t precision = 0, scale = 0;
  return arrow::Decimal256::FromString(text, &decimal, &precision, &scale).ok();
}

Result<types::Value> TimestampFromNumber(const types::Type& type, TimeUnit unit,
                                         std::string_view number) {
  arrow::Decimal128 decimal;
  std::int32_t precision = 0, scale = 0;
  const auto wrong = [&](std::string_view why) {
    return InvalidError("{} {} {}", Shown(number), why, type.ToString());
  };
  if (!arrow::Decimal128::FromString(number, &decimal, &precision, &scale).ok()) {
    return wrong("is not of type");
  }
  const auto high = static_cast<unsigned __int128>(decimal.high_bits()) << 64;
  const auto unscaled = static_cast<__int128>(high | decimal.low_bits());
  const int exponent = FractionDigits(type) - FractionDigits(unit) - scale;
  const auto units = Scaled(unscaled, exponent);
  if (!units) return wrong("cannot be told exactly by a");
  const bool fits = *units >= std::numeric_limits<std::int64_t>::min() &&
                    *units <= std::numeric_limits<std::int64_t>::max();
  if (!fits) return wrong("is out of range for type");
  return static_cast<std::int64_t>(*units);
}

std::string UndeclaredUnit(std::string_view column, const types::Type& type,
                           std::string_view number) {
  return fmt::format(
      "column '{}': {} is a number, and {} needs to know what it counts; declare it with "
      "--time-unit '{}=s' (or ms, us, ns), or with time_units in the "
      "configuration",
      column, Shown(number), type.ToString(), column);
}

}  // namespace firn::sources
