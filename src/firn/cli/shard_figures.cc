#include "firn/cli/shard_figures.h"

namespace firn::cli {

ShardFigures FiguresOf(const wal::ShardListing& shard, const wal::Positions& positions) {
  ShardFigures figures{.reached = PositionOf(positions, shard.shard)};
  for (const wal::SegmentObject& segment : shard.segments) {
    ++figures.segments;
    figures.bytes += segment.size_bytes;
    if (segment.name.sequence <= figures.reached) continue;
    ++figures.waiting;
    figures.waiting_bytes += segment.size_bytes;
  }
  return figures;
}

}  // namespace firn::cli
