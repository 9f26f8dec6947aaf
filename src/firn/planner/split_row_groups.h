#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "firn/planner/piece.h"

namespace firn::planner {

struct PartLimits {
  std::int64_t bytes_max = 0;
  std::int64_t pieces_max = std::numeric_limits<std::int64_t>::max();
};

/// Pieces in order, as many in a part as `limits` allow; a larger one is a part of its
/// own. The parts may overlap.
std::vector<std::vector<Piece>> SplitRowGroups(std::vector<Piece> pieces,
                                               const PartLimits& limits);

}  // namespace firn::planner
