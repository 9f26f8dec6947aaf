#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "firn/wal/segment.h"

namespace firn::wal {

/// How far a table is: all of each shard up to and including its sequence, each source up
/// to its offset. A shard that is absent stands at 0. A source that is absent stands
/// where the listing begins, whatever offset that is.
struct Positions {
  std::map<ShardId, SegmentSequence> shards;
  std::map<std::string, std::int64_t> sources;

  bool operator==(const Positions&) const = default;
};

/// 0 if the shard is absent.
SegmentSequence PositionOf(const Positions& positions, const ShardId& shard);

/// One segment as the listing and its footer show it.
struct ListedSegment {
  SegmentName name;
  std::int64_t size_bytes = 0;
  std::int64_t modified_us = 0;
  std::vector<SourceRange> ranges;
};

/// Rows of this source (ordinal into the segment's ranges) below `first_wanted` were
/// landed before.
struct SourceTrim {
  std::size_t ordinal = 0;
  std::int64_t first_wanted = 0;

  bool operator==(const SourceTrim&) const = default;
};

struct AdmittedSegment {
  /// Index into the listing.
  std::size_t segment = 0;
  std::vector<SourceTrim> trims;

  bool operator==(const AdmittedSegment&) const = default;
};

/// A shard that cannot go on: `missing` is not in the listing though later segments are.
struct ShardHole {
  ShardId shard;
  SegmentSequence missing;

  bool operator==(const ShardHole&) const = default;
};

/// A shard that waits: its next segment starts above the source's position.
struct WaitingShard {
  ShardId shard;
  std::string source;
  std::int64_t position = 0;
  std::int64_t first = 0;

  bool operator==(const WaitingShard&) const = default;
};

struct Admission {
  std::vector<AdmittedSegment> segments;
  /// Positions after all admitted segments.
  Positions next;
  std::vector<ShardHole> holes;
  std::vector<WaitingShard> waiting;
};

/// Of one iteration. At least one segment is always taken.
struct AdmissionLimits {
  /// Of segment files.
  std::int64_t bytes_max = std::numeric_limits<std::int64_t>::max();
  std::size_t segments_max = std::numeric_limits<std::size_t>::max();
};

/// Chooses the segments of one iteration: per shard in sequence from `positions` on,
/// oldest first over the shards, until the next one is over a limit.
///
/// A source range that starts at the position is taken whole, one that starts below is
/// trimmed, one above makes its shard wait while the others go on; rounds repeat until
/// nothing more fits. Every hole is reported; whether its shard still lives, the caller
/// knows. REQUIRES: all of `listing` is of one table, and no name stands in it twice.
/// Pure; O(n log n) but for shards that wait.
Admission Admit(const Positions& positions, const std::vector<ListedSegment>& listing,
                const AdmissionLimits& limits = {});

}  // namespace firn::wal
