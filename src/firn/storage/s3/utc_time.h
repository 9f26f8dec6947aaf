#pragma once

#include <string>
#include <string_view>

#include "firn/core/runtime.h"

namespace firn::storage::s3 {

/// "20130524T000000Z": how a signature names its time.
std::string CompactTime(WallTime time);

/// Reads "2013-05-24T00:00:00Z", with or without a fraction of the second, which is
/// dropped. Corruption for anything else.
Result<WallTime> ParseUtcTime(std::string_view text);

}  // namespace firn::storage::s3
