#include "firn/shift/task_memory.h"

#include <algorithm>
#include <queue>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "firn/planner/key_range.h"
#include "firn/shift/file_encoder.h"

namespace firn::shift {
namespace {

using planner::KeyRange;

/// A batch at hand, and one that the merge's last step still holds.
constexpr std::int64_t kBatchesOfRun = 2;
/// As many batches of a run is a step of the merge long, which is gathered into one.
constexpr std::int64_t kStepBatches = 2;
/// Of an open row group: its pages, and the buffer of one column that grows into another.
constexpr std::int64_t kOutputCopies = 2;
/// What the merge has gathered and an encoder's thread holds.
constexpr std::int64_t kEncoderBatches =
    kStepBatches * std::int64_t{FileEncoder::kHeldAtOnce};

using Segments = std::vector<std::shared_ptr<const OpenSegment>>;

/// Of a run while it is open.
struct RunBytes {
  std::int64_t batch = 0;
  std::int64_t all = 0;
};

RunBytes BytesOfOpenRun(const OpenSegment& segment, std::uint32_t row_group) {
  const auto bytes =
      parquet_io::BytesOf(segment.parquet_footer, static_cast<int>(row_group));
  const std::int64_t batch = segment.batch_shapes[row_group].bytes;
  return {.batch = batch, .all = bytes.open + kBatchesOfRun * batch};
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

/// Of the i + 1 largest runs together, but no more than what one key may find open.
std::vector<std::int64_t> OpenBytes(std::vector<OpenRun> runs) {
  const std::int64_t peak = PeakBytes(runs);
  std::ranges::sort(runs, std::ranges::greater(), &OpenRun::bytes);
  std::vector<std::int64_t> open;
  std::int64_t sum = 0;
  for (const OpenRun& run : runs) {
    sum += run.bytes;
    open.push_back(std::min(peak, sum));
  }
  return open;
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
    bytes += BytesOfOpenRun(*segments[segment], row_group).all;
  }
  return bytes;
}

}  // namespace

TaskMemory::TaskMemory(const planner::PlanInput& input,
                       const std::vector<planner::Chunk>& chunks,
                       const Segments& segments, const Task& task,
                       const TaskOutput& output)
    : max_open_runs_(output.writer.max_open_runs) {
  const auto parts = std::span(chunks).subspan(task.begin, task.end - task.begin);
  shared_ = SharedBytes(input, segments, parts);
  // Chunks of one merge do not overlap: it is in one of them at a time, too.
  for (const planner::Chunk& chunk : parts) {
    std::vector<OpenRun> runs;
    std::int64_t batch = 0;
    for (const planner::RunSlice& slice : chunk.runs) {
      const planner::Run& run = input.runs[slice.run];
      const RunBytes bytes = BytesOfOpenRun(*segments[run.segment], run.row_group);
      runs.push_back({.range = RangeOf(input, slice), .bytes = bytes.all});
      batch = std::max(batch, bytes.batch);
    }
    encoder_thread_ = std::max(encoder_thread_, kEncoderBatches * batch);
    const std::int64_t row_group =
        std::min(chunk.bytes, output.writer.row_group_bytes_max);
    output_ = std::max(output_, kOutputCopies * row_group + kStepBatches * batch +
                                    output.upload_buffer_bytes);
    std::vector<std::int64_t> open = OpenBytes(std::move(runs));
    // Without a sort order runs are read one after the other.
    const bool is_sorted = !input.buckets[chunk.bucket].key_types.empty();
    if (!is_sorted && !open.empty()) open.resize(1);
    chunks_.push_back(std::move(open));
  }
}

std::int64_t TaskMemory::BytesWith(std::int64_t open_runs) const {
  std::int64_t open = shared_;
  for (const std::vector<std::int64_t>& of_chunk : chunks_) {
    if (of_chunk.empty()) continue;
    const auto count = std::clamp<std::int64_t>(open_runs, 1, std::ssize(of_chunk));
    open = std::max(open, of_chunk[static_cast<std::size_t>(count - 1)]);
  }
  return open + output_;
}

std::int64_t TaskMemory::OpenRunsWithin(std::int64_t limit_bytes) const {
  const auto fits = [&](std::int64_t open_runs) {
    return BytesWith(open_runs) <= limit_bytes;
  };
  const auto counts =
      std::views::iota(kOpenRunsLeast + 1, std::max(max_open_runs_, kOpenRunsLeast) + 1);
  return kOpenRunsLeast + (std::ranges::partition_point(counts, fits) - counts.begin());
}

}  // namespace firn::shift
