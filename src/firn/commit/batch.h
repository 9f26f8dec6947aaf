#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/wal/admission.h"
#include "firn/wal/retirement.h"

/// From a shift's data files to one snapshot of the table.
///
/// A batch is one whole iteration: its files, and what of the WAL they cover. It waits in
/// the table's CommitQueue; the queue hands all that wait to the Committer, which appends
/// files and positions (table properties) in one commit. Each batch names its parent, and
/// is committed only on top of it: two planners, a retry, or a process that wakes up late
/// can waste work but never land a row twice. The table's metadata is the only truth.
///
///   planner -> Batch -> CommitQueue -> Committer -> (chain, rollback, positions: pure)
///                                               -> iceberg append -> catalog
///
/// Beside it: reset (the way out of a rollback) and merge_manifests, in commits of their
/// own.
namespace firn::commit {

/// All of a shard's segments in (after, through].
struct SequenceRange {
  SegmentSequence after;
  SegmentSequence through;

  bool operator==(const SequenceRange&) const = default;
};

/// What was consumed of a source, half-open, in the source's own offsets.
struct OffsetRange {
  std::int64_t first = 0;
  std::int64_t next = 0;

  bool operator==(const OffsetRange&) const = default;
};

/// The data files of one iteration and the ranges it consumed. Files may be missing:
/// then only positions move.
struct Batch {
  BatchId id;
  /// The batch planned before this one, or the table's last committed one at planning;
  /// nothing if the table had none.
  std::optional<BatchId> parent;
  std::vector<iceberg::DataFile> files;
  std::map<ShardId, SequenceRange> shards;
  /// By source id (see positions.h).
  std::map<std::string, OffsetRange> sources;
  /// What the positions forget with this batch; none that has a range in it.
  wal::Retired retired;
  /// Before its first file was written; nothing if that does not matter.
  std::optional<BootTime> begun;

  bool operator==(const Batch&) const = default;
};

/// Invalid, naming the batch and what is wrong, for an id that is no ULID, a batch that
/// is its own parent, a range that goes back, or a source id that is not understood.
Status CheckBatch(const Batch& batch);

/// True if each range starts where `positions` stand. A shard without a position stands
/// at 0; a source without one accepts any first offset.
bool StartsAt(const Batch& batch, const wal::Positions& positions);

/// Where `positions` stand after the batch.
wal::Positions PositionsAfter(wal::Positions positions, const Batch& batch);

/// Two batches as one: files united, ranges joined, what is forgotten joined unless
/// `next` has a range of it; the id of `next` and the parent of
/// `first`.
///
/// REQUIRES: `first` is the parent of `next`, and where both have a range of one shard or
/// source, that of `next` starts where that of `first` ends.
Batch Appended(Batch first, Batch next);

}  // namespace firn::commit
