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
/// the statistics that Parquet keeps of the same rows; Conflict if a
/// segment was written under what `metadata` does not have yet, so that it must be read
/// anew: rows may have values that no column of it takes. Invalid, naming the segment, if
/// the table has its partition spec or sort order no more.
Result<planner::PlanInput> BuildPlanInput(
    const std::vector<std::shared_ptr<const OpenSegment>>& segments,
    const iceberg::TableMetadata& metadata);

}  // namespace firn::shift
