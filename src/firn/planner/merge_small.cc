#include "firn/planner/merge_small.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace firn::planner {
namespace {

/// The slices of both chunks in run order, those of one run beside each other.
std::vector<RunSlice> MergeRuns(const RunOrder& order, const Chunk& left,
                                const Chunk& right) {
  std::vector<RunSlice> runs;
  runs.reserve(left.runs.size() + right.runs.size());
  std::merge(left.runs.begin(), left.runs.end(), right.runs.begin(), right.runs.end(),
             std::back_inserter(runs),
             [&](const RunSlice& a, const RunSlice& b) { return order(a.run, b.run); });
  return runs;
}

/// `left` ends where `right`, of the same run, begins.
RunSlice Reunite(const RunSlice& left, const RunSlice& right) {
  return {.run = left.run,
          .from_key = left.from_key,
          .to_key = right.to_key,
          .bytes = left.bytes + right.bytes,
          .rows = left.rows + right.rows};
}

void ReuniteSlices(std::vector<RunSlice>& runs) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const bool is_adjacent = runs[i].run == runs[kept].run;
    if (is_adjacent) {
      runs[kept] = Reunite(runs[kept], runs[i]);
    } else {
      runs[++kept] = runs[i];
    }
  }
  runs.resize(kept + 1);
}

std::vector<RunSlice> JoinedRuns(const RunOrder& order, const Chunk& left,
                                 const Chunk& right) {
  std::vector<RunSlice> runs = MergeRuns(order, left, right);
  ReuniteSlices(runs);
  return runs;
}

bool Join(const RunOrder& order, const Limits& limits, const Chunk& right, Chunk& left) {
  const std::int64_t bytes = left.bytes + right.bytes;
  if (bytes > limits.upper_bound_input_bytes_per_task) return false;
  std::vector<RunSlice> runs = JoinedRuns(order, left, right);
  if (static_cast<std::int64_t>(runs.size()) > limits.max_row_groups_per_task) {
    return false;
  }
  left.bytes = bytes;
  left.rows += right.rows;
  left.split |= right.split;
  left.runs = std::move(runs);
  return true;
}

}  // namespace

std::int64_t MergeSmallChunks(const RunOrder& order, const Limits& limits,
                              std::vector<Chunk>& chunks) {
  std::int64_t joins = 0;
  std::vector<Chunk> merged;
  for (Chunk& chunk : chunks) {
    const bool is_small = chunk.bytes < limits.lower_bound_input_bytes_per_task;
    if (is_small && !merged.empty() && Join(order, limits, chunk, merged.back())) {
      ++joins;
    } else {
      merged.push_back(std::move(chunk));
    }
  }
  chunks = std::move(merged);
  return joins;
}

}  // namespace firn::planner
