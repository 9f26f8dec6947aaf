#pragma once

#include <cstdint>

#include "firn/wal/admission.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {

/// What a listing shows of one shard, beside how far its table is.
struct ShardFigures {
  /// The table holds all segments up to this one; 0 before the first.
  SegmentSequence reached;
  std::int64_t segments = 0;
  std::int64_t bytes = 0;
  /// Segments behind `reached`.
  std::int64_t waiting = 0;
  std::int64_t waiting_bytes = 0;
};

ShardFigures FiguresOf(const wal::ShardListing& shard, const wal::Positions& positions);

}  // namespace firn::cli
