#pragma once

#include <cstdint>
#include <vector>

#include "firn/planner/bucket.h"
#include "firn/planner/plan.h"

namespace firn::planner {

/// Left to right, a chunk below the lower bound joins the chunk before it, where both fit
/// in the upper bound and the cap. Adjacent slices of one run become one again, and count
/// as one against the cap; runs of the joined chunk stand in run order. Returns the
/// number of joins.
///
/// REQUIRES: chunks of one bucket, in key order; each one's runs are sorted by `order`.
std::int64_t MergeSmallChunks(const RunOrder& order, const Limits& limits,
                              std::vector<Chunk>& chunks);

}  // namespace firn::planner
