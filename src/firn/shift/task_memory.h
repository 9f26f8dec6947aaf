#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "firn/planner/plan.h"
#include "firn/shift/chunk_writer.h"
#include "firn/shift/segment_run_input.h"
#include "firn/shift/task.h"

namespace firn::shift {

/// A merge of fewer would not merge.
inline constexpr std::int64_t kOpenRunsLeast = 2;

/// Bytes of memory that a task may need at once, from above and from what the plan knows:
/// the pages and batches of the runs that are open over one key (at most
/// `task.max_open_runs`), and the output's open row group. A row group that runs of many
/// partitions share stays open from chunk to chunk.
std::int64_t TaskMemory(const planner::PlanInput& input,
                        const std::vector<planner::Chunk>& chunks,
                        const std::vector<std::shared_ptr<const OpenSegment>>& segments,
                        const Task& task, const ChunkWriterOptions& writer);

/// The most runs, at least kOpenRunsLeast and at most `writer.max_open_runs`, that the
/// task may have open for TaskMemory to stay within `limit_bytes`. More passes over the
/// local disk are the price.
std::int64_t OpenRunsWithin(
    std::int64_t limit_bytes, const planner::PlanInput& input,
    const std::vector<planner::Chunk>& chunks,
    const std::vector<std::shared_ptr<const OpenSegment>>& segments, const Task& task,
    const ChunkWriterOptions& writer);

}  // namespace firn::shift
