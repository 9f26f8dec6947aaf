#include "firn/planner/plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "firn/planner/bucket.h"
#include "firn/planner/cluster.h"
#include "firn/planner/key_range.h"
#include "firn/planner/merge_small.h"
#include "firn/planner/pack.h"

namespace firn::planner {
namespace {

Status CheckLimits(const Limits& limits) {
  const std::int64_t lower = limits.lower_bound_input_bytes_per_task;
  const std::int64_t upper = limits.upper_bound_input_bytes_per_task;
  if (lower < 0 || upper < 1) {
    return InvalidError("the bounds of a task's input bytes must be positive: {} and {}",
                        lower, upper);
  }
  if (lower > upper) {
    return InvalidError(
        "lower_bound_input_bytes_per_task is above upper_bound_input_bytes_per_task: {} "
        "> {}",
        lower, upper);
  }
  if (limits.max_row_groups_per_task < 1) {
    return InvalidError("max_row_groups_per_task must be at least 1: {}",
                        limits.max_row_groups_per_task);
  }
  return Status::OK();
}

Status CheckRuns(const PlanInput& input) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  for (const Run& run : input.runs) {
    const bool is_sized = run.bytes >= 0 && run.rows >= 0 && run.bytes <= kMax - bytes &&
                          run.rows <= kMax - rows;
    const bool has_range = run.last_key_unbounded || run.first_key <= run.last_key;
    if (!is_sized || !has_range) {
      return InvalidError("{} row group {}: {} (bytes {}, rows {})",
                          input.segments[run.segment], run.row_group,
                          is_sized ? "the first key is above the last"
                                   : "sizes are negative or pass 64 bits in all",
                          run.bytes, run.rows);
    }
    bytes += run.bytes;
    rows += run.rows;
  }
  return Status::OK();
}

std::int64_t ChunkDepth(const PlanInput& input, const std::vector<Chunk>& chunks) {
  std::vector<KeyRange> ranges;
  for (const Chunk& chunk : chunks) ranges.push_back(RangeOf(input, chunk));
  return OverlapDepth(std::move(ranges));
}

/// Depth of a plan: nothing if it has chunks, and none of a table with a sort order.
void RaiseDepth(std::int64_t depth, Stats& stats) {
  stats.overlap_depth_max = std::max(stats.overlap_depth_max.value_or(0), depth);
}

Status PlanBucket(const PlanInput& input, const BucketRuns& bucket, const Limits& limits,
                  const StopToken& stop, Plan& plan) {
  Stats& stats = plan.stats;
  const std::vector<Cluster> clusters = ClusterByKeyRange(input, bucket);
  stats.clusters += static_cast<std::int64_t>(clusters.size());
  for (const Cluster& cluster : clusters) {
    stats.largest_cluster_bytes = std::max(stats.largest_cluster_bytes, cluster.bytes);
  }
  FIRN_RETURN_NOT_OK(stop.Check());
  Packing packing = PackClusters(input, bucket, clusters, limits);
  stats.oversized_clusters += packing.oversized_clusters;
  stats.uncut_parts += packing.uncut_parts;
  FIRN_RETURN_NOT_OK(stop.Check());
  stats.tail_merges +=
      MergeSmallChunks(RunOrder(input, bucket.sorted), limits, packing.chunks);
  if (bucket.sorted) RaiseDepth(ChunkDepth(input, packing.chunks), stats);
  std::ranges::move(packing.chunks, std::back_inserter(plan.chunks));
  return stop.Check();
}

}  // namespace

Result<Plan> MakePlan(const PlanInput& input, const Limits& limits,
                      const StopToken& stop) {
  FIRN_RETURN_NOT_OK(CheckLimits(limits));
  FIRN_RETURN_NOT_OK(CheckRuns(input));
  FIRN_RETURN_NOT_OK(CheckPartitions(input, limits));
  FIRN_RETURN_NOT_OK(stop.Check());
  Plan plan{.stats = {.row_groups = static_cast<std::int64_t>(input.runs.size())}};
  if (input.runs.empty()) RaiseDepth(0, plan.stats);
  std::vector<BucketRuns> buckets = GroupByBucket(input);
  FIRN_RETURN_NOT_OK(stop.Check());
  for (BucketRuns& bucket : buckets) SortRuns(input, bucket);
  FIRN_RETURN_NOT_OK(stop.Check());
  for (const BucketRuns& bucket : buckets) {
    FIRN_RETURN_NOT_OK(PlanBucket(input, bucket, limits, stop, plan));
  }
  return plan;
}

}  // namespace firn::planner
