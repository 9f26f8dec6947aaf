#pragma once

#include <memory>
#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/planner/plan.h"
#include "firn/shift/segment_run_input.h"

namespace firn::shift {

/// The planner's view of segments: what their footers mean as runs and buckets.
///
/// `input.runs` name their segment by its index in `segments`; keys are views into the
/// segments' footers. Corruption, naming segment and row group, if a footer contradicts
/// the statistics that Parquet keeps of the same rows; Invalid, naming segment and spec,
/// if the table has no such partition spec.
Result<planner::PlanInput> BuildPlanInput(
    const std::vector<std::shared_ptr<const OpenSegment>>& segments,
    const iceberg::TableMetadata& metadata);

}  // namespace firn::shift
