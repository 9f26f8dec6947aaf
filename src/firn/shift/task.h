#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "firn/planner/plan.h"

namespace firn::shift {

/// Chunks [begin, end) of a plan, which one worker writes.
struct Task {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t bytes = 0;
  /// One merge makes all of its chunks, and cuts at their borders: parts of an oversized
  /// cluster that share runs. Else they are written one after the other.
  bool is_one_merge = false;
  /// Runs that one merge has open at once, at most; where more of them overlap, a first
  /// pass over the local disk makes fewer.
  std::int64_t max_open_runs = 1024;
  /// What it may need at once, and more with a thread that encodes; 0 = not estimated
  /// yet.
  std::int64_t memory_bytes = 0;
  std::int64_t encoder_thread_bytes = 0;

  bool operator==(const Task&) const = default;
};

/// All chunks of the plan, in its order.
///
/// Normally a task is one chunk. Small ones that follow each other (below the lower
/// bound, of whatever partitions) share a task up to the upper bound, so that thousands
/// of partitions do not cost a task each. Parts that follow each other and were cut out
/// of the same runs share one up to four times the upper bound, so that a row group is
/// decoded once and not once per part.
std::vector<Task> MakeTasks(const planner::PlanInput& input,
                            const std::vector<planner::Chunk>& chunks,
                            const planner::Limits& limits);

}  // namespace firn::shift
