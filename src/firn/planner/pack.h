#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "firn/planner/bucket.h"
#include "firn/planner/cluster.h"
#include "firn/planner/plan.h"

namespace firn::planner {

struct Packing {
  std::vector<Chunk> chunks;
  std::int64_t oversized_clusters = 0;
  std::int64_t uncut_parts = 0;
};

/// Packs clusters in order into chunks.
///
/// The open chunk is closed before a cluster if it has reached the lower bound, or would
/// pass the upper bound or the cap of row groups with it. An oversized cluster is split
/// by row groups or cut at keys, as `limits` say; its last part becomes the open chunk.
/// In the second case an open chunk below the lower bound is cut together with it.
/// Without a sort order there are no keys to cut at: then such a cluster (with the open
/// chunk) is an uncut part as a whole.
Packing PackClusters(const PlanInput& input, const BucketRuns& bucket,
                     std::span<const Cluster> clusters, const Limits& limits);

}  // namespace firn::planner
