#include "firn/wal/cleaner.h"

#include <algorithm>
#include <map>

#include "firn/core/guard.h"

namespace firn::wal {
namespace {

bool IsPassed(const SegmentName& segment, const Positions& positions) {
  return segment.sequence <= PositionOf(positions, segment.shard);
}

bool Took(const CommittedRange& range, const SegmentName& segment) {
  return range.shard == segment.shard && range.after < segment.sequence &&
         segment.sequence <= range.through;
}

}  // namespace

std::vector<SegmentObject> DrainedSegments(const std::vector<ShardListing>& shards,
                                           const Positions& positions,
                                           const std::vector<CommittedRange>& committed,
                                           WallTime now, const CleanerLimits& limits) {
  std::vector<CommittedRange> young;
  std::ranges::copy_if(committed, std::back_inserter(young), [&](const auto& range) {
    return now - range.committed < limits.retention;
  });
  std::vector<SegmentObject> drained;
  for (const ShardListing& shard : shards) {
    const bool may_live =
        !shard.closed && now - WallTime(Duration(shard.modified_us)) < limits.over_after;
    for (const SegmentObject& segment : shard.segments) {
      if (may_live && &segment == &shard.segments.back()) continue;
      const bool is_young = std::ranges::any_of(
          young, [&](const auto& range) { return Took(range, segment.name); });
      if (segment.quarantined) continue;
      const bool is_passed = FIRN_GUARD(kPassed, IsPassed(segment.name, positions));
      if (is_passed && !is_young) drained.push_back(segment);
    }
  }
  return drained;
}

Result<std::int64_t> DeleteSegments(storage::ObjectStore& store,
                                    const std::vector<SegmentObject>& segments,
                                    const StopToken& stop) {
  std::int64_t deleted = 0;
  for (const SegmentObject& segment : segments) {
    if (stop.stop_requested()) break;
    FIRN_RETURN_NOT_OK(store.Delete(segment.key));
    ++deleted;
  }
  return deleted;
}

}  // namespace firn::wal
