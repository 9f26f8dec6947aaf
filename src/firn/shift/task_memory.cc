#include "firn/shift/task_memory.h"

#include <algorithm>
#include <queue>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "firn/planner/key_range.h"

namespace firn::shift {
namespace {

using planner::KeyRange;

/// A batch at hand, and one that the merge's last step still holds.
constexpr std::int64_t kBatchesOfRun = 2;
/// Values in memory for each byte of a page: dictionaries are resolved.
constexpr std::int64_t kDecodedPerEncoded = 4;
/// Key, offsets and code of a row.
constexpr std::int64_t kKeyBytesOfRow = 64;
/// Of an open row group: its pages, and the buffer of one column that grows into another.
constexpr std::int64_t kOutputCopies = 2;

/// Of a run while it is open.
std::int64_t OpenRunBytes(const OpenSegment& segment, std::uint32_t row_group) {
  const auto bytes =
      parquet_io::BytesOf(segment.parquet_footer, static_cast<int>(row_group));
  const auto& runs = segment.footer.row_groups[row_group];
  const std::int64_t rows = runs.back().first_row + runs.back().rows;
  const std::int64_t row_bytes =
      kDecodedPerEncoded * bytes.uncompressed / std::max<std::int64_t>(rows, 1) +
      kKeyBytesOfRow;
  return bytes.open + kBatchesOfRun * std::min(rows, kRunBatchRows) * row_bytes;
}

struct OpenRun {
  KeyRange range;
  std::int64_t bytes = 0;
};

struct EndsLater {
  bool operator()(const OpenRun& a, const OpenRun& b) const {
    return EndLess(b.range, a.range);
  }
};

/// The most that runs take together which one key may find open.
std::int64_t PeakBytes(std::vector<OpenRun> runs) {
  std::ranges::sort(runs, {}, [](const OpenRun& run) { return run.range.first; });
  std::priority_queue<OpenRun, std::vector<OpenRun>, EndsLater> open;
  std::int64_t bytes = 0;
  std::int64_t peak = 0;
  for (const OpenRun& run : runs) {
    while (!open.empty() && EndsBefore(open.top().range, run.range.first)) {
      bytes -= open.top().bytes;
      open.pop();
    }
    open.push(run);
    bytes += run.bytes;
    peak = std::max(peak, bytes);
  }
  return peak;
}

/// What the `count` largest take together.
std::int64_t LargestBytes(std::vector<OpenRun> runs, std::int64_t count) {
  std::ranges::sort(runs, std::ranges::greater(), &OpenRun::bytes);
  std::int64_t bytes = 0;
  const auto taken = std::min(runs.size(), static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < taken; ++i) bytes += runs[i].bytes;
  return bytes;
}

using Segments = std::vector<std::shared_ptr<const OpenSegment>>;

/// Of the runs of a chunk that are open together.
std::int64_t OpenBytes(const planner::PlanInput& input, const Segments& segments,
                       const planner::Chunk& chunk, std::int64_t max_open_runs) {
  std::vector<OpenRun> runs;
  for (const planner::RunSlice& slice : chunk.runs) {
    const planner::Run& run = input.runs[slice.run];
    runs.push_back({.range = RangeOf(input, slice),
                    .bytes = OpenRunBytes(*segments[run.segment], run.row_group)});
  }
  const bool is_sorted = !input.buckets[chunk.bucket].key_types.empty();
  // Without a sort order runs are read one after the other.
  if (!is_sorted) return LargestBytes(std::move(runs), 1);
  const std::int64_t peak = PeakBytes(runs);
  return std::min(peak, LargestBytes(std::move(runs), max_open_runs));
}

/// Of all row groups that the chunks share.
std::int64_t SharedBytes(const planner::PlanInput& input, const Segments& segments,
                         std::span<const planner::Chunk> chunks) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> row_groups;
  for (const planner::Chunk& chunk : chunks) {
    for (const planner::RunSlice& slice : chunk.runs) {
      const planner::Run& run = input.runs[slice.run];
      const auto& runs = segments[run.segment]->footer.row_groups[run.row_group];
      if (runs.size() > 1) row_groups.emplace(run.segment, run.row_group);
    }
  }
  std::int64_t bytes = 0;
  for (const auto& [segment, row_group] : row_groups) {
    bytes += OpenRunBytes(*segments[segment], row_group);
  }
  return bytes;
}

}  // namespace

std::int64_t TaskMemory(const planner::PlanInput& input,
                        const std::vector<planner::Chunk>& chunks,
                        const Segments& segments, const Task& task,
                        const ChunkWriterOptions& writer) {
  const auto parts = std::span(chunks).subspan(task.begin, task.end - task.begin);
  std::int64_t open = SharedBytes(input, segments, parts);
  std::int64_t output = 0;
  // Chunks of one merge do not overlap: it is in one of them at a time, too.
  for (const planner::Chunk& chunk : parts) {
    open = std::max(open, OpenBytes(input, segments, chunk, task.max_open_runs));
    output = std::max(output,
                      kOutputCopies * std::min(chunk.bytes, writer.row_group_bytes_max));
  }
  return open + output;
}

std::int64_t OpenRunsWithin(std::int64_t limit_bytes, const planner::PlanInput& input,
                            const std::vector<planner::Chunk>& chunks,
                            const Segments& segments, const Task& task,
                            const ChunkWriterOptions& writer) {
  const auto fits = [&](std::int64_t open_runs) {
    Task limited = task;
    limited.max_open_runs = open_runs;
    return TaskMemory(input, chunks, segments, limited, writer) <= limit_bytes;
  };
  const auto counts = std::views::iota(
      kOpenRunsLeast + 1, std::max(writer.max_open_runs, kOpenRunsLeast) + 1);
  return kOpenRunsLeast + (std::ranges::partition_point(counts, fits) - counts.begin());
}

}  // namespace firn::shift
