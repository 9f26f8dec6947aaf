#include "firn/planner/cluster.h"

#include "firn/planner/key_range.h"

namespace firn::planner {

std::vector<Cluster> ClusterByKeyRange(const PlanInput& input, const BucketRuns& bucket) {
  std::vector<Cluster> clusters;
  KeyRange reach;  // ends where the open cluster does
  for (std::size_t i = 0; i < bucket.runs.size(); ++i) {
    const Run& run = input.runs[bucket.runs[i]];
    const KeyRange range = RangeOf(run);
    // Equal bounds may hold equal keys, and only the merge may order those: touching is
    // overlapping.
    const bool starts_cluster =
        clusters.empty() || !bucket.sorted || EndsBefore(reach, range.first);
    if (starts_cluster) clusters.push_back({.begin = i});
    if (starts_cluster || EndLess(reach, range)) reach = range;
    clusters.back().end = i + 1;
    clusters.back().bytes += run.bytes;
  }
  return clusters;
}

}  // namespace firn::planner
