#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "firn/planner/plan.h"

namespace firn::planner {

/// A run, or a part of it, while chunks are being made.
struct Piece {
  RunSlice slice;
  /// The fractions of the run at which the slice begins and ends, as the run's samples
  /// tell.
  double begin = 0;
  double end = 1;
  /// Of a cluster over the upper bound.
  bool oversized = false;
};

Piece WholeRun(const PlanInput& input, std::uint32_t run, bool oversized);

std::int64_t TotalBytes(std::span<const Piece> pieces);

/// REQUIRES: `pieces` is not empty.
Chunk ToChunk(const PlanInput& input, std::span<const Piece> pieces);

}  // namespace firn::planner
