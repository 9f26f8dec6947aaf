#include "firn/iceberg/catalog/rest/iso_duration.h"

#include "firn/core/whole_number.h"

namespace firn::iceberg::rest {
namespace {

using std::chrono::seconds;

constexpr seconds kDurationMax = std::chrono::days(36'500);

/// In the order in which they stand; the time part begins after 'T'.
struct Unit {
  char designator;
  bool is_of_day;
  seconds length;
};
constexpr Unit kUnits[] = {{'D', false, std::chrono::days(1)},
                           {'H', true, std::chrono::hours(1)},
                           {'M', true, std::chrono::minutes(1)},
                           {'S', true, seconds(1)}};

/// Takes "12H" off the front; nothing if another unit, or none, stands there.
std::optional<seconds> TakePart(std::string_view& text, const Unit& unit) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos || text[digits] != unit.designator) {
    return std::nullopt;
  }
  const auto count = ParseWholeNumber<std::int32_t>(text.substr(0, digits));
  if (!count) return std::nullopt;
  text.remove_prefix(digits + 1);
  return *count * unit.length;
}

}  // namespace

std::optional<Duration> ParseIsoDuration(std::string_view text) {
  if (!text.starts_with('P')) return std::nullopt;
  text.remove_prefix(1);
  bool is_in_day = false;
  bool has_part = false;
  seconds total{0};
  for (const Unit& unit : kUnits) {
    if (!is_in_day && text.starts_with('T')) {
      text.remove_prefix(1);
      is_in_day = true;
    }
    if (unit.is_of_day != is_in_day) continue;
    if (const auto part = TakePart(text, unit)) {
      total += *part;
      has_part = true;
    }
  }
  if (!has_part || !text.empty() || total > kDurationMax) return std::nullopt;
  return total;
}

}  // namespace firn::iceberg::rest
