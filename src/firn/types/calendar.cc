#include "firn/types/calendar.h"

namespace firn::types {
namespace {

// Years are counted from March, so that the leap day is the last of its year, and in
// cycles of 400 years, after which the calendar repeats.
constexpr std::int64_t kYearsPerCycle = 400;
constexpr std::int64_t kDaysPerCycle = 146'097;
constexpr std::int64_t kDaysPerCentury = 36'524;
constexpr std::int64_t kDaysPerLeapInterval = 1'461;
/// From 0000-03-01 to 1970-01-01.
constexpr std::int64_t kEpochDay = 719'468;

/// Days before month `month_from_march` (0 = March) of a year that starts in March.
std::int64_t DaysBeforeMonth(std::int64_t month_from_march) {
  return (153 * month_from_march + 2) / 5;
}

bool IsLeapYear(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

std::int64_t DaysInMonth(std::int64_t year, std::int64_t month) {
  if (month == 2) return IsLeapYear(year) ? 29 : 28;
  const bool is_short = month == 4 || month == 6 || month == 9 || month == 11;
  return is_short ? 30 : 31;
}

}  // namespace

std::int64_t FloorDivide(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

std::int64_t FloorRemainder(std::int64_t value, std::int64_t divisor) {
  const std::int64_t remainder = value % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

bool IsValid(const CivilDate& date) {
  return date.month >= 1 && date.month <= 12 && date.day >= 1 &&
         date.day <= DaysInMonth(date.year, date.month);
}

std::int64_t DaysSinceEpoch(const CivilDate& date) {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t month_from_march = (date.month + 9) % 12;
  const std::int64_t cycle = FloorDivide(year, kYearsPerCycle);
  const std::int64_t year_of_cycle = year - cycle * kYearsPerCycle;
  const std::int64_t leap_days = year_of_cycle / 4 - year_of_cycle / 100;
  const std::int64_t day_of_cycle =
      year_of_cycle * 365 + leap_days + DaysBeforeMonth(month_from_march) + date.day - 1;
  return cycle * kDaysPerCycle + day_of_cycle - kEpochDay;
}

CivilDate DateOfDay(std::int64_t days_since_epoch) {
  const std::int64_t day = days_since_epoch + kEpochDay;
  const std::int64_t cycle = FloorDivide(day, kDaysPerCycle);
  const std::int64_t day_of_cycle = day - cycle * kDaysPerCycle;
  // Without its leap days every year has 365 days.
  const std::int64_t leap_days = day_of_cycle / (kDaysPerLeapInterval - 1) -
                                 day_of_cycle / kDaysPerCentury +
                                 day_of_cycle / (kDaysPerCycle - 1);
  const std::int64_t year_of_cycle = (day_of_cycle - leap_days) / 365;
  const std::int64_t day_of_year =
      day_of_cycle - (year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const std::int64_t month =
      month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  return {.year = cycle * kYearsPerCycle + year_of_cycle + (month <= 2 ? 1 : 0),
          .month = month,
          .day = day_of_year - DaysBeforeMonth(month_from_march) + 1};
}

}  // namespace firn::types
