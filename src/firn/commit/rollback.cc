#include "firn/commit/rollback.h"

#include "firn/commit/history.h"
#include "firn/core/guard.h"

namespace firn::commit {

std::optional<std::string> FindRollback(const iceberg::TableMetadata& metadata,
                                        const TablePositions& positions) {
  if (!positions.snapshot.has_value()) return std::nullopt;
  const SnapshotId ours = *positions.snapshot;
  if (iceberg::CurrentSnapshot(metadata) == nullptr) {
    return fmt::format("main has no snapshot, and the last commit was snapshot {}", ours);
  }
  const iceberg::Snapshot* met =
      FindInHistoryOfMain(metadata, [&](const iceberg::Snapshot& snapshot) {
        return snapshot.snapshot_id == ours ||
               snapshot.sequence_number <= positions.sequence;
      });
  if (met != nullptr && met->snapshot_id == ours) return std::nullopt;
  if (met != nullptr) {
    return fmt::format(
        "main holds snapshot {} (sequence number {}) in the place of snapshot {} "
        "(sequence number {}), the last commit",
        met->snapshot_id, met->sequence_number, ours, positions.sequence);
  }
  // The history was cut by expiry, or some expiry made its oldest snapshot one without
  // a parent. Ancestors of main go before anything else: one that is listed is none.
  if (iceberg::FindSnapshot(metadata, ours) != nullptr) {
    return fmt::format("snapshot {}, the last commit, is not in main's history", ours);
  }
  return std::nullopt;
}

Status CheckNotRolledBack(const iceberg::TableMetadata& metadata,
                          const TablePositions& positions, const std::string& table) {
  const std::optional<std::string> reason = FindRollback(metadata, positions);
  if (FIRN_GUARD(kRollbackStop, !reason.has_value())) return Status::OK();
  return InvalidError(
      "table {} was rolled back: {}; nothing is shifted until main holds that snapshot "
      "again or the positions are reset: 'firn positions reset {} --to-table' takes the "
      "rows that main lost again, with --keep they stay out",
      table, *reason, table);
}

}  // namespace firn::commit
