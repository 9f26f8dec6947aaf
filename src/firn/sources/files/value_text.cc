#include "firn/sources/files/value_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using types::TypeKind;

constexpr std::size_t kDateSize = 10;    // 2026-01-02
constexpr std::size_t kMinuteSize = 16;  // 2026-01-02T03:04
constexpr std::string_view kUtc = "UTC";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<bool> BooleanOf(std::string_view text) {
  constexpr std::array<std::string_view, 3> kTrue = {"True", "TRUE", "t"};
  constexpr std::array<std::string_view, 3> kFalse = {"False", "FALSE", "f"};
  if (std::ranges::count(kTrue, text) > 0) return true;
  if (std::ranges::count(kFalse, text) > 0) return false;
  return std::nullopt;
}

/// "+00" and "-08" at the end, not the day of a date.
bool EndsWithHourOffset(std::string_view text) {
  if (text.size() < kMinuteSize + 3) return false;
  const std::string_view offset = text.substr(text.size() - 3);
  return (offset[0] == '+' || offset[0] == '-') && IsDigit(offset[1]) &&
         IsDigit(offset[2]);
}

/// Where the zone begins behind date and time; npos without one.
std::size_t ZoneOf(std::string_view text) {
  const std::size_t zone = text.find_first_of("Z+-", kMinuteSize);
  return zone == std::string_view::npos ? text.size() : zone;
}

/// As types::FromText takes it, if it is a timestamp at all.
std::string Canonical(std::string_view text, bool is_zoned) {
  std::string full(text);
  if (full.size() == kDateSize && !is_zoned) return full + "T00:00:00";
  if (full.size() < kMinuteSize) return full;
  if (full.ends_with(kUtc)) full.replace(full.size() - kUtc.size(), kUtc.size(), "Z");
  if (EndsWithHourOffset(full)) full += ":00";
  std::size_t zone = ZoneOf(full);
  if (zone < full.size() && full[zone - 1] == ' ') full.erase(--zone, 1);
  if (zone == kMinuteSize) full.insert(zone, ":00");
  return full;
}

}  // namespace

Result<types::Value> ValueFromText(const types::Type& type, std::string_view text) {
  auto value = types::FromText(type, text);
  if (value.ok()) return value;
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (const auto boolean = BooleanOf(text)) return types::Value(*boolean);
      return value;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestamptz:
    case TypeKind::kTimestamptzNs: {
      const bool is_zoned = type.kind() == TypeKind::kTimestamptz ||
                            type.kind() == TypeKind::kTimestamptzNs;
      const std::string canonical = Canonical(text, is_zoned);
      if (canonical == text) return value;
      auto again = types::FromText(type, canonical);
      return again.ok() ? again : value;
    }
    default:
      return value;
  }
}

}  // namespace firn::sources
