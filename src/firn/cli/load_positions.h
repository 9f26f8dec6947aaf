#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "firn/cli/table_access.h"
#include "firn/cli/workspace.h"
#include "firn/core/ids.h"
#include "firn/core/status.h"

namespace firn::cli {

/// How far the records of sources are, by source id: the number of the next one.
using Reached = std::map<std::string, std::int64_t>;

/// How far `sources` are durable: in the table, or in what of the WAL a shift will take.
/// A source of which nothing is durable is left out.
Result<Reached> FindDurable(Workspace& workspace, const OpenTable& table,
                            const WalId& wal_id, const std::vector<std::string>& sources);

/// Invalid if the table, as it is now, does not cover all that is in `reached`, or if it
/// is another one than `table`.
Status CheckInTable(Workspace& workspace, const OpenTable& table, const WalId& wal_id,
                    const Reached& reached);

}  // namespace firn::cli
