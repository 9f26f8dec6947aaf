#include "firn/cli/logged_tables.h"

#include <algorithm>
#include <map>
#include <utility>

#include "firn/cli/units.h"
#include "firn/wal/segment.h"

namespace firn::cli {

Result<std::vector<LoggedTable>> ListLoggedTables(storage::ObjectStore& wal) {
  FIRN_ASSIGN_OR_RETURN(const auto objects, wal.List(""));
  std::map<TableUuid, LoggedTable> tables;
  for (const storage::ObjectInfo& object : objects) {
    const auto name = wal::ParseSegmentKey(object.key);
    if (!name) continue;
    const WallTime written{Duration(object.modified_us)};
    LoggedTable& table = tables[name->table_uuid];
    if (table.segments == 0) table.first_written = written;
    table.uuid = name->table_uuid;
    ++table.segments;
    table.bytes += object.size_bytes;
    table.first_written = std::min(table.first_written, written);
    table.last_written = std::max(table.last_written, written);
  }
  std::vector<LoggedTable> logged;
  for (auto& [uuid, table] : tables) logged.push_back(std::move(table));
  return logged;
}

std::string SumText(const std::vector<LoggedTable>& tables) {
  std::int64_t segments = 0;
  std::int64_t bytes = 0;
  for (const LoggedTable& table : tables) {
    segments += table.segments;
    bytes += table.bytes;
  }
  return fmt::format("{} ({}) of {}", FormatCounted(segments, "segment"),
                     FormatBytes(bytes), FormatCounted(std::ssize(tables), "table"));
}

}  // namespace firn::cli
