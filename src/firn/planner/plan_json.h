#pragma once

#include <string>

#include "firn/planner/legend.h"
#include "firn/planner/plan.h"

namespace firn::planner {

/// A plan as one JSON document:
///
///   {"chunks": [{"partition": {name: value}, "bytes", "rows", "split",
///                "row_groups": [["segment", index], ...],
///                "slices": [{"segment", "row_group", "from_key", "to_key", "bytes",
///                            "rows"}, ...],
///                "min_key", "max_key"}, ...],
///    "stats": {"row_groups", "clusters", "oversized_clusters", "tail_merges",
///              "largest_cluster_bytes", "uncut_parts", "overlap_depth_max"}}
///
/// `slices` names only the runs that a chunk takes in part; an open end is null. max_key
/// is null where no key is known to be the last; where the chunk was cut off it is the
/// first key of the next one. A key that does not decode, or whose kind the legend does
/// not know, is "0x<hex>"; of a spec that the legend does not know the partition is null.
std::string RenderPlanJson(const PlanInput& input, const Plan& plan,
                           const Legend& legend);

}  // namespace firn::planner
