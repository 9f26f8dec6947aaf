#pragma once

#include <string>

#include "firn/cli/table_access.h"
#include "firn/cli/workspace.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/shift/table_shift.h"

namespace firn::cli {

/// Shifts one table, shows how far it is, and prints what was done.
Status ShiftAndReport(Workspace& workspace, const OpenTable& table,
                      const StopToken& stop);

}  // namespace firn::cli
