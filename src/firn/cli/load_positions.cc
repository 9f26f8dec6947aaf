#include "firn/cli/load_positions.h"

#include "firn/commit/positions.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/jobs/durable_sources.h"

namespace firn::cli {

Result<Reached> FindDurable(Workspace& workspace, const OpenTable& table,
                            const WalId& wal_id,
                            const std::vector<std::string>& sources) {
  return jobs::FindDurableSources({.runtime = workspace.runtime(),
                                   .catalog = workspace.catalog(),
                                   .wal_store = workspace.wal_store(),
                                   .wal_id = wal_id},
                                  table.identifier, sources);
}

Status CheckInTable(Workspace& workspace, const OpenTable& table, const WalId& wal_id,
                    const Reached& reached) {
  FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded,
                        workspace.catalog().LoadTable(table.identifier));
  const TableUuid& uuid = table.metadata().table_uuid;
  if (loaded.metadata.table_uuid != uuid) {
    return InvalidError(
        "table {} was dropped and made anew while records were loaded into it; they stay "
        "in the WAL of the dropped one: load them again (uuid {}, now {})",
        table.identifier, uuid, loaded.metadata.table_uuid);
  }
  FIRN_ASSIGN_OR_RETURN(const commit::TablePositions positions,
                        commit::ReadPositions(loaded.metadata, wal_id));
  for (const auto& [source, next] : reached) {
    const auto found = positions.reached.sources.find(source);
    const std::int64_t landed =
        found == positions.reached.sources.end() ? 0 : found->second;
    if (landed >= next) continue;
    return InvalidError(
        "{} of {} records of {} are in {}, the others wait in the WAL (durable); 'firn "
        "inspect wal {}' shows why",
        landed, next, source, table.identifier, table.identifier);
  }
  return Status::OK();
}

}  // namespace firn::cli
