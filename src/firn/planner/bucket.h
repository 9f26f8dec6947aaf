#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/planner/plan.h"

namespace firn::planner {

/// The runs of one bucket.
struct BucketRuns {
  /// Index into PlanInput::buckets; of equal buckets, the one met first.
  std::uint32_t bucket = 0;
  /// The table has a sort order: keys mean something.
  bool sorted = true;
  /// Indexes into PlanInput::runs.
  std::vector<std::uint32_t> runs = {};
};

/// The spec with this id; null if there is none.
const types::PartitionSpec* FindSpec(const PlanInput& input, PartitionSpecId id);

/// Invalid if a partition field that must not be empty is null or "" ("<field> is null in
/// <segment> row group <n>"): of the first run in input order, the first field in the
/// order of `limits`. A field that a run's spec does not have is not looked for.
Status CheckPartitions(const PlanInput& input, const Limits& limits);

/// What runs of one bucket have in common, as bytes: spec, order, key types and partition
/// tuple. null equals null and NaN equals NaN, but 0.0 is not -0.0.
std::string BucketIdentity(const Bucket& bucket);

/// Groups runs by BucketIdentity.
///
/// Buckets in order of first appearance, runs in input order.
std::vector<BucketRuns> GroupByBucket(const PlanInput& input);

/// Run order: first key (if the bucket is sorted), then segment as bytes, row group,
/// place in the row group. What the merge's ties are broken by.
class RunOrder {
 public:
  RunOrder(const PlanInput& input, bool sorted) : input_(input), sorted_(sorted) {}
  bool operator()(std::uint32_t a, std::uint32_t b) const;

 private:
  const PlanInput& input_;
  const bool sorted_;
};

void SortRuns(const PlanInput& input, BucketRuns& bucket);

}  // namespace firn::planner
