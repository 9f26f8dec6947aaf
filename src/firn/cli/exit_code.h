#pragma once

#include "firn/core/status.h"

namespace firn::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

/// Marks a failure as one of the command line or the configuration.
Status AsUsageError(const Status& status);

/// kExitUsage for what AsUsageError marked, kExitFailed for other failures.
int ExitCodeOf(const Status& status);

}  // namespace firn::cli
