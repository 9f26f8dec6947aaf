#include "firn/commit/history.h"

#include <optional>
#include <unordered_map>

namespace firn::commit {

std::vector<const iceberg::Snapshot*> HistoryOfMain(
    const iceberg::TableMetadata& metadata) {
  std::unordered_map<SnapshotId, const iceberg::Snapshot*> unvisited;
  for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
    unvisited.emplace(snapshot.snapshot_id, &snapshot);
  }
  std::vector<const iceberg::Snapshot*> history;
  std::optional<SnapshotId> next = metadata.current_snapshot_id;
  while (next.has_value()) {
    // Taken out when met, so that parents in a circle end the walk.
    const auto found = unvisited.extract(*next);
    if (found.empty()) break;
    history.push_back(found.mapped());
    next = found.mapped()->parent_snapshot_id;
  }
  return history;
}

}  // namespace firn::commit
