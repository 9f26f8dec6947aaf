#include "firn/cli/load_positions.h"

#include <limits>

#include "firn/commit/positions.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/wal/admission.h"
#include "firn/wal/wal_reader.h"

namespace firn::cli {

Result<Reached> FindDurable(Workspace& workspace, const OpenTable& table,
                            const WalId& wal_id,
                            const std::vector<std::string>& sources) {
  FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded,
                        workspace.catalog().LoadTable(table.identifier));
  FIRN_ASSIGN_OR_RETURN(const commit::TablePositions positions,
                        commit::ReadPositions(loaded.metadata, wal_id));
  wal::WalReader reader(workspace.runtime(), workspace.wal_store());
  FIRN_ASSIGN_OR_RETURN(
      const auto listing,
      reader.ListSegments(loaded.metadata.table_uuid, positions.reached));
  // What admission will take is what need not be read again.
  const wal::Admission admission =
      Admit(positions.reached, listing, std::numeric_limits<std::int64_t>::max());
  Reached durable;
  for (const std::string& source : sources) {
    const auto next = admission.next.sources.find(source);
    if (next != admission.next.sources.end()) durable[source] = next->second;
  }
  return durable;
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
