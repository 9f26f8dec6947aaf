#include "firn/storage/s3/utc_time.h"

#include <optional>

#include "firn/core/whole_number.h"

namespace firn::storage::s3 {
namespace {

/// Digits alone; nothing if there is another character.
std::optional<unsigned> Number(std::string_view text) {
  return ParseWholeNumber<unsigned>(text);
}

bool IsFraction(std::string_view text) {
  return text.empty() || (text.front() == '.' && Number(text.substr(1)).has_value());
}

}  // namespace

std::string CompactTime(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", int{date.year()},
                     unsigned{date.month()}, unsigned{date.day()}, clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

Result<WallTime> ParseUtcTime(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  const Status bad = Error(ErrorKind::kCorruption, "{:?} is no time in UTC", text);
  if (text.size() <= kShape.size() || text.back() != 'Z') return bad;
  for (const std::size_t i : {4, 7, 10, 13, 16}) {
    if (text[i] != kShape[i]) return bad;
  }
  const auto year = Number(text.substr(0, 4));
  const auto month = Number(text.substr(5, 2));
  const auto day = Number(text.substr(8, 2));
  const auto hour = Number(text.substr(11, 2));
  const auto minute = Number(text.substr(14, 2));
  const auto second = Number(text.substr(17, 2));
  const bool are_numbers = year && month && day && hour && minute && second;
  if (!are_numbers || *hour > 23 || *minute > 59 || *second > 60) return bad;
  if (!IsFraction(text.substr(19, text.size() - 20))) return bad;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month),
                                         std::chrono::day(*day));
  if (!date.ok()) return bad;
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) +
         std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

}  // namespace firn::storage::s3
