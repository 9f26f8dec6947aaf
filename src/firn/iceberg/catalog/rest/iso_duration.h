#pragma once

#include <optional>
#include <string_view>

#include "firn/core/runtime.h"

namespace firn::iceberg::rest {

/// "PT30M", "P1DT12H": a duration in whole days, hours, minutes and seconds (ISO 8601).
///
/// Nothing if it is none, is longer than 36,500 days, or names months or years, whose
/// length nobody knows.
std::optional<Duration> ParseIsoDuration(std::string_view text);

}  // namespace firn::iceberg::rest
