#include "firn/commit/rollback.h"

#include "firn/commit/history.h"

namespace firn::commit {

std::optional<std::string> FindRollback(const iceberg::TableMetadata& metadata,
                                        const TablePositions& positions) {
  if (!positions.snapshot.has_value()) return std::nullopt;
  const SnapshotId ours = *positions.snapshot;
  const MainHistory history = HistoryOfMain(metadata);
  if (history.snapshots.empty()) {
    return fmt::format("main has no snapshot, and the last commit was snapshot {}", ours);
  }
  for (const iceberg::Snapshot* snapshot : history.snapshots) {
    if (snapshot->snapshot_id == ours) return std::nullopt;
    if (snapshot->sequence_number <= positions.sequence) {
      return fmt::format(
          "main holds snapshot {} (sequence number {}) in the place of snapshot {} "
          "(sequence number {}), the last commit",
          snapshot->snapshot_id, snapshot->sequence_number, ours, positions.sequence);
    }
  }
  if (!history.is_cut) {
    return fmt::format(
        "main starts with snapshot {}, and the last commit, snapshot {}, is "
        "not in its history",
        history.snapshots.back()->snapshot_id, ours);
  }
  // Expiry takes ancestors of main before anything else: one that stays is none.
  if (iceberg::FindSnapshot(metadata, ours) != nullptr) {
    return fmt::format("snapshot {}, the last commit, is not in main's history", ours);
  }
  return std::nullopt;
}

Status CheckNotRolledBack(const iceberg::TableMetadata& metadata,
                          const TablePositions& positions, const std::string& table) {
  const std::optional<std::string> reason = FindRollback(metadata, positions);
  if (!reason.has_value()) return Status::OK();
  return InvalidError(
      "table {0} was rolled back: {1}; to land the abandoned rows again run 'firn "
      "positions reset {0} --to-table', to leave them out 'firn positions reset {0} "
      "--keep'",
      table, *reason);
}

}  // namespace firn::commit
