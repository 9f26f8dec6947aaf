#pragma once

#include <cstdint>

#include "firn/cli/table_access.h"
#include "firn/cli/workspace.h"

namespace firn::cli {

/// How many segments of the workspace's WAL are not in the table yet.
Result<std::int64_t> CountWaitingSegments(Workspace& workspace, const OpenTable& table);

}  // namespace firn::cli
