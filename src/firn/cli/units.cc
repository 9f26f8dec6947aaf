#include "firn/cli/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "firn/core/whole_number.h"

namespace firn::cli {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr std::array<Unit, 9> kByteUnits = {{{"", 1},
                                             {"B", 1},
                                             {"KiB", 1024},
                                             {"MiB", 1048576},
                                             {"GiB", 1073741824},
                                             {"TiB", 1099511627776},
                                             {"KB", 1e3},
                                             {"MB", 1e6},
                                             {"GB", 1e9}}};

constexpr std::array<Unit, 6> kDurationUnits = {
    {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"min", 60e6}, {"h", 3600e6}, {"d", 86400e6}}};

constexpr double kQuantityMax = 9e18;

/// A non-negative number and one of `units`, rounded to the smallest unit.
template <std::size_t N>
std::optional<std::int64_t> ParseQuantity(std::string_view text,
                                          const std::array<Unit, N>& units) {
  double number = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit(rest, text.data() + text.size() - rest);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, factor] : units) {
    if (unit != name) continue;
    const double value = std::round(number * factor);
    if (!(value >= 0 && value < kQuantityMax)) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

}  // namespace

Result<std::int64_t> ParseBytes(std::string_view text) {
  if (const auto bytes = ParseQuantity(text, kByteUnits)) return *bytes;
  return InvalidError("\"{}\" is not a size; write for example 64MiB, 512KiB or 1000",
                      text);
}

Result<std::int64_t> ParseCount(std::string_view text) {
  const auto count = ParseWholeNumber<std::int64_t>(text);
  if (count && *count > 0) return *count;
  return InvalidError("\"{}\" is not a whole number above 0", text);
}

Result<Duration> ParseDuration(std::string_view text) {
  if (const auto micros = ParseQuantity(text, kDurationUnits)) return Duration(*micros);
  return InvalidError("\"{}\" is not a time; write for example 250ms, 30s, 10min or 24h",
                      text);
}

std::string FormatBytes(std::int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  for (const char* unit : {"KiB", "MiB", "GiB"}) {
    if (value < 999.5)
      return fmt::format("{:.{}f} {}", value, value < 99.95 ? 1 : 0, unit);
    value /= 1024;
  }
  return fmt::format("{:.1f} TiB", value);
}

std::string FormatRate(std::int64_t count, std::string_view noun, Duration duration) {
  // Below a millisecond a rate says nothing.
  const double seconds = std::max(static_cast<double>(duration.count()) / 1e6, 1e-3);
  const double rate = static_cast<double>(count) / seconds;
  return fmt::format("{} {}/s", FormatCount(std::llround(rate)), noun);
}

std::string FormatDuration(Duration duration) {
  const double seconds = static_cast<double>(duration.count()) / 1e6;
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace firn::cli
