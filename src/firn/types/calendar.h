#pragma once

#include <cstdint>

namespace firn::types {

/// A day of the proleptic Gregorian calendar; year 0 is 1 BC (ISO 8601).
struct CivilDate {
  std::int64_t year = 1970;
  std::int64_t month = 1;
  std::int64_t day = 1;

  bool operator==(const CivilDate&) const = default;
};

bool IsValid(const CivilDate& date);

/// Days since 1970-01-01. REQUIRES: IsValid(date).
std::int64_t DaysSinceEpoch(const CivilDate& date);
CivilDate DateOfDay(std::int64_t days_since_epoch);

/// Rounds towards negative infinity, the remainder is never negative. REQUIRES:
/// `divisor` > 0.
std::int64_t FloorDivide(std::int64_t value, std::int64_t divisor);
std::int64_t FloorRemainder(std::int64_t value, std::int64_t divisor);

}  // namespace firn::types
