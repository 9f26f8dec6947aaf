#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/commit/batch.h"
#include "firn/core/ids.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/wal/admission.h"
#include "firn/wal/cleaner.h"

/// Positions as table properties, the only record of what was shifted. All pure.
///
///   firn.table-uuid                  the table they speak of: properties get copied
///   firn.snapshot, firn.sequence     snapshot and sequence number of Firn's last commit
///   firn.commit.<wal id>             the last batch of this WAL
///   firn.wal.<wal id>                <shard>:<sequence>,...   in order of the shards
///   firn.source.<cluster>.<topic>    <partition>:<next offset>,...
///   firn.load.<load id>              <file>:<next record>,...
///
/// A snapshot of Firn's repeats in its summary what it moved:
///
///   firn.commit.<wal id>             <batch id>,...
///   firn.wal.<wal id>                <shard>:<after>-<through>,...
///   firn.source..., firn.load...     <partition or file>:<first>-<next>,...
///
/// The forms are strict: what Firn would not write is Corruption, naming the property.
namespace firn::commit {

/// A source in the properties: "123" of "0:123" is found under (property, entry 0).
struct SourceEntry {
  std::string property;
  std::int64_t entry = 0;

  auto operator<=>(const SourceEntry&) const = default;
};

/// Understands the ids of sources: "kafka:<cluster>:<topic>:<partition>" and
/// "load:<load id>:<file>". The names are of letters, digits, '_', '-' and '.', a cluster
/// without '.'; the last part is a decimal number. Invalid, naming the id, otherwise.
Result<SourceEntry> ParseSourceId(std::string_view source);

/// Invalid, naming the id, unless it is of letters, digits, '_', '-' and '.'.
Status CheckShardId(const ShardId& shard);

/// How far a table is, as its properties say.
struct TablePositions {
  /// Nothing before the first commit of this WAL.
  std::optional<BatchId> last_batch;
  /// Nothing before the first commit of any WAL.
  std::optional<SnapshotId> snapshot;
  SnapshotSequence sequence;
  /// Shards are those of this WAL; sources are the table's.
  wal::Positions reached;

  bool operator==(const TablePositions&) const = default;
};

/// Reads the positions of one WAL; other WALs' are not looked at. If they were copied
/// from another table (PositionsAreOwn), all firn.* properties count as absent.
///
/// Corruption, naming the property, for a malformed one, for whose they are
/// (PositionsAreOwn), and for a table whose main branch has commits of this WAL but whose
/// properties do not know it: planning from nothing would land all rows again.
Result<TablePositions> ReadPositions(const iceberg::TableMetadata& metadata,
                                     const WalId& wal);

struct PropertyChanges {
  std::map<std::string, std::string> updates;
  std::vector<std::string> removals;

  bool operator==(const PropertyChanges&) const = default;
};

/// What makes the properties of `metadata` say `next`, for the commit whose snapshot
/// `next` names. Properties that are not the table's own (PositionsAreOwn) are removed;
/// other WALs' stay. Corruption as PositionsAreOwn, Invalid for a source id that is not
/// understood.
///
/// REQUIRES: `next` has a snapshot and a last batch.
Result<PropertyChanges> ChangeProperties(const iceberg::TableMetadata& metadata,
                                         const WalId& wal, const TablePositions& next);

/// The summary entries of a snapshot that commits these batches; `merged` holds their
/// joined ranges.
Result<std::map<std::string, std::string>> SummaryEntries(const WalId& wal,
                                                          const std::vector<BatchId>& ids,
                                                          const Batch& merged);

/// The snapshot of main's history whose summary names this batch. Null if there is none,
/// or it has expired. Lives as long as `metadata`, unchanged.
const iceberg::Snapshot* FindBatchSnapshot(const iceberg::TableMetadata& metadata,
                                           const WalId& wal, const BatchId& batch);

/// As above. Does not look behind what it can only have followed: the snapshot that names
/// its parent.
const iceberg::Snapshot* FindBatchSnapshot(const iceberg::TableMetadata& metadata,
                                           const WalId& wal, const Batch& batch);

/// What a snapshot moved.
struct MovedRanges {
  std::map<WalId, std::map<ShardId, SequenceRange>> shards;
  /// By source id.
  std::map<std::string, OffsetRange> sources;

  bool operator==(const MovedRanges&) const = default;
};

/// As its summary says; nothing for a snapshot of others. Corruption, naming the
/// snapshot, for a malformed summary.
Result<MovedRanges> RangesOf(const iceberg::Snapshot& snapshot);

/// What the snapshots that the table still lists, on main or not, took of the shards of a
/// WAL, as their summaries say. Corruption, naming the snapshot, for a malformed summary.
Result<std::vector<wal::CommittedRange>> CommittedRanges(
    const iceberg::TableMetadata& metadata, const WalId& wal);

}  // namespace firn::commit
