#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firn/commit/batch.h"
#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/wal/wal_root.h"

/// The way out of a rollback: an operator says what becomes of the rows that main lost.
namespace firn::commit {

enum class ResetKind {
  /// Positions go back to what main's snapshot holds; the rows are taken again.
  kToTable,
  /// Positions stay; the rows stay out.
  kKeep,
};

/// A snapshot that main lost, from Firn's last commit back to where main branches off.
struct AbandonedSnapshot {
  SnapshotId id;
  std::optional<std::int64_t> added_records;

  bool operator==(const AbandonedSnapshot&) const = default;
};

/// Where a position goes back from and to.
template <typename Number>
struct PositionMove {
  Number from = {};
  Number to = {};

  bool operator==(const PositionMove&) const = default;
};

/// What a reset would do. Ordered, so that it can be printed.
struct PlannedReset {
  /// Why the table counts as rolled back.
  std::string reason;
  /// Newest first; as far as the table still lists them.
  std::vector<AbandonedSnapshot> abandoned;
  /// Of all WALs whose rows main lost. Empty with kKeep, as are the sources.
  std::map<WalId, std::map<ShardId, PositionMove<SegmentSequence>>> shards;
  std::map<std::string, PositionMove<std::int64_t>> sources;

  bool operator==(const PlannedReset&) const = default;
};

/// Nothing if the table is not rolled back. Invalid if main took rows of Firn that the
/// positions do not know: main went from one branch of the history to another. With
/// kToTable also if what the abandoned snapshots took is not known any more: one of them
/// has expired, or the positions do not end where their ranges end. Pure.
Result<std::optional<PlannedReset>> PlanReset(const iceberg::TableMetadata& metadata,
                                              const WalId& wal, ResetKind kind);

/// NotFound, naming segments and records, unless `shards` (the listing of this WAL) has
/// every segment that would be taken again.
Status CheckSegmentsAreThere(const PlannedReset& reset, const WalId& wal,
                             const std::vector<wal::ShardListing>& shards);

struct ResetRequest {
  iceberg::TableIdentifier table;
  TableUuid table_uuid;
  WalId wal;
  ResetKind kind = ResetKind::kKeep;
  /// As it was shown to the operator.
  PlannedReset planned;
  /// Ends the attempts, as CommitRetry's.
  StopToken stop = {};
};

/// Carries out a reset: an empty append whose properties hold the new positions and a new
/// last batch, so that whatever was planned before is superseded. Returns its snapshot.
///
/// Invalid if the table would now be reset in another way than was planned. Conflict,
/// Unavailable or OutcomeUnknown if the last of many attempts failed so; the table tells
/// what became of them: one that was reset is not rolled back.
Result<SnapshotId> ResetPositions(iceberg::Catalog& catalog, const iceberg::FileIo& io,
                                  Runtime& runtime, const ResetRequest& request);

}  // namespace firn::commit
