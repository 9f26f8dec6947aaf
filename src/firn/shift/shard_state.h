#pragma once

#include "firn/core/runtime.h"
#include "firn/shift/table_shift.h"
#include "firn/wal/wal_root.h"

namespace firn::shift {

/// What is to be expected of a shard in which a segment is missing; it is dead once it
/// was silent for `dead_after`. Pure.
inline ShardState StateOf(const wal::ShardListing& shard, WallTime now,
                          Duration dead_after) {
  if (shard.closed) return ShardState::kClosed;
  const WallTime silent_since{Duration(shard.modified_us)};
  return now - silent_since >= dead_after ? ShardState::kDead : ShardState::kLive;
}

}  // namespace firn::shift
