#pragma once

#include <cstdint>
#include <vector>

#include "firn/planner/bucket.h"
#include "firn/planner/plan.h"

namespace firn::planner {

/// Runs whose key ranges touch, directly or through others: BucketRuns::runs from `begin`
/// up to `end`.
struct Cluster {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t bytes = 0;

  std::int64_t run_count() const { return static_cast<std::int64_t>(end - begin); }
};

/// The clusters of a bucket in key order: every key of one is less than every key of the
/// next. Without a sort order each run is a cluster.
///
/// REQUIRES: the runs are sorted. O(n).
std::vector<Cluster> ClusterByKeyRange(const PlanInput& input, const BucketRuns& bucket);

}  // namespace firn::planner
