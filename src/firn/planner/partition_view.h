#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firn/planner/bucket.h"
#include "firn/planner/cluster.h"
#include "firn/planner/key_range.h"
#include "firn/planner/legend.h"
#include "firn/planner/plan.h"

// What the pictures of a plan (text_picture.h, svg_picture.h) have in common.

namespace firn::planner {

/// A plan with what it was made from and what its bytes mean. All must outlive it.
struct ExplainedPlan {
  const PlanInput& input;
  const Limits& limits;
  const Plan& plan;
  const Legend& legend;
};

/// One partition of a plan. Views into the plan and its input.
struct PartitionView {
  std::uint32_t bucket = 0;
  bool sorted = true;
  std::span<const Chunk> files;
  /// In run order.
  std::vector<std::uint32_t> runs = {};
  std::vector<Cluster> clusters = {};
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
};

/// By partition spec, and in it by the partition's values.
std::vector<PartitionView> PartitionsOf(const ExplainedPlan& explained);

std::vector<KeyRange> RunRanges(const PlanInput& input, const PartitionView& partition);
std::vector<KeyRange> ClusterRanges(const PlanInput& input,
                                    const PartitionView& partition);
std::vector<KeyRange> FileRanges(const PlanInput& input, const PartitionView& partition);

/// "tenant=acme, day=2026-01-01", without control characters.
std::string PartitionText(const ExplainedPlan& explained, const PartitionView& partition);

/// The figures of the whole plan.
struct PlanSummary {
  /// "35 runs in 1 partition, 211.0 MiB, 35,000 rows → 3 files".
  std::string result;
  /// Clusters, joins, overlap, bounds.
  std::vector<std::string> details;
};

PlanSummary Summarize(const ExplainedPlan& explained,
                      std::span<const PartitionView> partitions);

/// "30 runs in 2 clusters, 210.0 MiB, 30,000 rows → 2 files".
std::string Summarize(const PartitionView& partition);

/// One line for all that a picture has no room for.
std::string SummarizeRest(const PlanInput& input, std::span<const PartitionView> rest);

/// The keys of one partition as people read them, without control characters.
class KeyTexts {
 public:
  KeyTexts(const ExplainedPlan& explained, const PartitionView& partition);

  /// What the key's columns are; those that have one value in the whole partition come
  /// with it: "account acme; (service, ts desc)". Empty if the legend does not know.
  std::string Columns() const;
  /// "(api, 2026-01-01T10:00:00)": without the columns that have one value.
  std::string Text(std::string_view key) const;
  std::string First(const KeyRange& range) const { return Text(range.first); }
  /// "and above" if there is no last key, "before (k)" if it is not in the range.
  std::string Last(const KeyRange& range) const;

 private:
  std::string ColumnName(std::size_t column) const;

  const KeyLegend* legend_;
  /// Of the leading columns that have one value each.
  std::vector<std::string> constants_;
};

}  // namespace firn::planner
