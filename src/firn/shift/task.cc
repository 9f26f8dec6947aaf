#include "firn/shift/task.h"

#include <algorithm>

#include "firn/planner/key_range.h"

namespace firn::shift {
namespace {

using planner::Chunk;
using planner::RunSlice;

/// Of one merge, in upper bounds: more would leave other workers idle.
constexpr std::int64_t kUpperBoundsPerMerge = 4;

bool IsTaken(const Chunk& chunk, std::uint32_t run) {
  return std::ranges::find(chunk.runs, run, &RunSlice::run) != chunk.runs.end();
}

/// `right` goes on where `left` was cut.
bool IsCutFrom(const planner::PlanInput& input, const Chunk& left, const Chunk& right) {
  if (left.bucket != right.bucket || !left.split || !right.split) return false;
  const bool share_runs = std::ranges::any_of(left.runs, [&](const RunSlice& slice) {
    return slice.to_key && IsTaken(right, slice.run);
  });
  // Parts that no key could cut hold rows of one key, and only the chunks tell which.
  return share_runs && EndsBefore(RangeOf(input, left), RangeOf(input, right).first);
}

}  // namespace

std::vector<Task> MakeTasks(const planner::PlanInput& input,
                            const std::vector<Chunk>& chunks,
                            const planner::Limits& limits) {
  const std::int64_t upper = limits.upper_bound_input_bytes_per_task;
  const auto is_small = [&](const Chunk& chunk) {
    return chunk.bytes < limits.lower_bound_input_bytes_per_task;
  };
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Chunk& chunk = chunks[i];
    if (!tasks.empty()) {
      Task& last = tasks.back();
      const Chunk& before = chunks[i - 1];
      const bool is_alone = last.end - last.begin == 1;
      const std::int64_t bytes = last.bytes + chunk.bytes;
      const bool continues_merge = (is_alone || last.is_one_merge) &&
                                   bytes <= kUpperBoundsPerMerge * upper &&
                                   IsCutFrom(input, before, chunk);
      const bool are_small =
          !last.is_one_merge && bytes <= upper && is_small(before) && is_small(chunk);
      if (continues_merge || are_small) {
        last.end = i + 1;
        last.bytes = bytes;
        last.is_one_merge = continues_merge;
        continue;
      }
    }
    tasks.push_back({.begin = i, .end = i + 1, .bytes = chunk.bytes});
  }
  return tasks;
}

}  // namespace firn::shift
