#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/storage/object_store.h"
#include "firn/wal/admission.h"
#include "firn/wal/segment.h"

// A segment that cannot be read blocks its shard, since positions have no gaps. An
// operator can take it out: a marker beside it, `<sequence>.skip`, stands in for it, as a
// segment without rows that consumed certain source ranges. The segment itself stays
// where it is, and neither it nor the marker is ever deleted by Firn: what was left out
// can be looked up, and brought back.

namespace firn::wal {

std::string QuarantineKey(const SegmentName& name);
/// The segment that is in quarantine; nothing if `key` is no marker's.
std::optional<SegmentName> ParseQuarantineKey(std::string_view key);

/// Puts a segment in quarantine; durable once it returns OK. Ranges of an earlier marker
/// are replaced.
Status WriteQuarantine(storage::ObjectStore& store, const SegmentName& name,
                       const std::vector<SourceRange>& ranges);

/// Says in the marker, durably, that the segment is about to leave the quarantine. Until
/// the marker is deleted, nothing can be planned that counts on it, and nothing behind
/// it, and the segment is not deleted either. Does nothing new the second time. NotFound
/// if there is no marker, since another release may have ended: one that came back would
/// say of a segment which a shift may have taken that it was left out.
Status BeginRelease(storage::ObjectStore& store, const SegmentName& name);

/// The ranges that a marker counts as consumed. Conflict, naming the segment, if its
/// release has begun; Corruption, naming the marker, if it is malformed.
Result<std::vector<SourceRange>> ReadQuarantine(storage::ObjectStore& store,
                                                const SegmentName& name);

/// Gives each of `names`, segments without a footer, the ranges that it must have
/// consumed: those for which segments behind it in its shard wait while everything else
/// of `readable` is admitted. A range that nothing waits for is not found: its source can
/// deliver it again. A load that the table does not know waits for its record 0.
///
/// REQUIRES: `readable` holds all other segments above the positions, none of `names`.
/// Pure.
std::vector<std::vector<SourceRange>> FindMissingRanges(
    Positions positions, const std::vector<ListedSegment>& readable,
    const std::vector<SegmentName>& names);

}  // namespace firn::wal
