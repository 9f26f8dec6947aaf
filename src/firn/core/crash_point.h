#pragma once

#include <string_view>

namespace firn {

/// Kills the process (SIGKILL) at the named place if FIRN_CRASH_POINT is set to `name`,
/// or to `name:n` for the n-th time it is reached. FIRN_CRASH_SIGNAL is the number of
/// another signal to be sent there. Does nothing otherwise.
///
/// docs/delivery.md lists the names and what each crash leaves behind; the crash tests
/// visit them all.
void CrashPoint(std::string_view name);

}  // namespace firn
