#pragma once

#include <cstdint>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/storage/object_store.h"
#include "firn/wal/admission.h"
#include "firn/wal/wal_root.h"

namespace firn::wal {

/// A snapshot that the table still lists took a shard's segments in (after, through].
struct CommittedRange {
  ShardId shard;
  SegmentSequence after;
  SegmentSequence through;
  WallTime committed;
};

struct CleanerLimits {
  /// A segment is kept until the snapshot that took it is so old.
  Duration retention = std::chrono::hours(1);
  /// A shard that was silent for so long is over, also if it did not say so.
  Duration over_after = std::chrono::hours(48);
};

/// The segments that may be deleted: the table's position has passed them, and the
/// snapshot that took them is `retention` old or no longer listed. The last segment of a
/// shard that is neither closed nor silent for so long stays: a shard of which nothing is
/// left is over. Those in quarantine stay: their rows are nowhere else.
///
/// REQUIRES: the table was not rolled back; else segments may be needed again. Pure.
std::vector<SegmentObject> DrainedSegments(const std::vector<ShardListing>& shards,
                                           const Positions& positions,
                                           const std::vector<CommittedRange>& committed,
                                           WallTime now, const CleanerLimits& limits);

/// Deletes them one by one and returns how many; ends early if the stop token fires, and
/// with an error at the first that cannot be deleted. The next cleaning goes on.
Result<std::int64_t> DeleteSegments(storage::ObjectStore& store,
                                    const std::vector<SegmentObject>& segments,
                                    const StopToken& stop = {});

}  // namespace firn::wal
