#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "firn/planner/plan.h"
#include "firn/shift/chunk_writer.h"
#include "firn/shift/segment_run_input.h"
#include "firn/shift/task.h"

namespace firn::shift {

/// Bytes of memory that a task may need at once, from above and from what the plan knows:
/// the compressed row groups, pages and batches of the runs that are open over one key
/// (at most `writer.max_open_runs`), and the output file. A row group that runs of many
/// partitions share stays open from chunk to chunk. `writer.writer_max_parquet_bytes`: at
/// what size a file rolls.
std::int64_t TaskMemory(const planner::PlanInput& input,
                        const std::vector<planner::Chunk>& chunks,
                        const std::vector<std::shared_ptr<const OpenSegment>>& segments,
                        const Task& task, const ChunkWriterOptions& writer);

}  // namespace firn::shift
