#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/core/format_count.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"

namespace firn::cli {

/// "64MiB", "512KiB", "1.5GiB", "1000" (bytes). Invalid, saying what is allowed, for
/// anything else.
Result<std::int64_t> ParseBytes(std::string_view text);

/// "250ms", "30s", "10min", "24h", "3d". Invalid, saying what is allowed, for anything
/// else.
Result<Duration> ParseDuration(std::string_view text);

/// A whole number above 0. Invalid for anything else.
Result<std::int64_t> ParseCount(std::string_view text);

/// "512 B", "3.4 MiB": at most four significant characters.
std::string FormatBytes(std::int64_t bytes);

/// "12,345 rows/s"; `noun` is the plural.
std::string FormatRate(std::int64_t count, std::string_view noun, Duration duration);

/// "1.2 s", "3 min 20 s", "2 h 5 min".
std::string FormatDuration(Duration duration);

}  // namespace firn::cli
