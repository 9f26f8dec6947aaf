#include "firn/cli/waiting_segments.h"

#include "firn/cli/shard_figures.h"
#include "firn/commit/positions.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {

Result<std::int64_t> CountWaitingSegments(Workspace& workspace, const OpenTable& table) {
  const auto wal_id = wal::ReadWalId(workspace.wal_store());
  if (IsError(wal_id.status(), ErrorKind::kNotFound)) return 0;
  FIRN_RETURN_NOT_OK(wal_id.status());
  FIRN_ASSIGN_OR_RETURN(const auto positions,
                        commit::ReadPositions(table.metadata(), *wal_id));
  FIRN_ASSIGN_OR_RETURN(const auto shards, wal::ListShards(workspace.wal_store(),
                                                           table.metadata().table_uuid));
  std::int64_t waiting = 0;
  for (const wal::ShardListing& shard : shards) {
    waiting += FiguresOf(shard, positions.reached).waiting;
  }
  return waiting;
}

}  // namespace firn::cli
