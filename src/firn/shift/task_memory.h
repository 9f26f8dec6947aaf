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

/// What a task writes with.
struct TaskOutput {
  const ChunkWriterOptions& writer;
  /// What the store holds back of the file that is being written.
  std::int64_t upload_buffer_bytes = 0;
};

/// How many bytes of memory a task may need at once, from above and from what the plan
/// knows: the pages and batches of the runs that are open over one key, the rows of one
/// step of the merge, and the output's open row group and upload buffer. Batches are
/// taken to be as wide as their row group is on the average. A row group that runs of
/// many partitions share stays open from chunk to chunk.
class TaskMemory {
 public:
  /// Reads what it needs at once; nothing need outlive it.
  TaskMemory(const planner::PlanInput& input, const std::vector<planner::Chunk>& chunks,
             const std::vector<std::shared_ptr<const OpenSegment>>& segments,
             const Task& task, const TaskOutput& output);

  /// With at most `open_runs` runs open at once.
  std::int64_t BytesWith(std::int64_t open_runs) const;

  /// More, with a second thread that encodes.
  std::int64_t encoder_thread_bytes() const { return encoder_thread_; }

  /// The most runs, at least kOpenRunsLeast and at most the writer's max_open_runs, with
  /// which the task stays within `limit_bytes`. More passes over the local disk are the
  /// price of fewer.
  std::int64_t OpenRunsWithin(std::int64_t limit_bytes) const;

 private:
  const std::int64_t max_open_runs_;
  /// Of each chunk, what i + 1 open runs take at i.
  std::vector<std::vector<std::int64_t>> chunks_;
  /// Of all row groups that the chunks share.
  std::int64_t shared_ = 0;
  std::int64_t output_ = 0;
  std::int64_t encoder_thread_ = 0;
};

}  // namespace firn::shift
