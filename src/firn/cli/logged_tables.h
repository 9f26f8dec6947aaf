#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/storage/object_store.h"

namespace firn::cli {

/// What the log holds of one table, which only its id names.
struct LoggedTable {
  TableUuid uuid;
  std::int64_t segments = 0;
  std::int64_t bytes = 0;
  WallTime first_written;
  WallTime last_written;
};

/// Of all tables, by their ids; one that was dropped may be among them.
Result<std::vector<LoggedTable>> ListLoggedTables(storage::ObjectStore& wal);

/// "3 segments (1.2 MiB) of 2 tables".
std::string SumText(const std::vector<LoggedTable>& tables);

}  // namespace firn::cli
