#include "firn/shift/iteration.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "firn/core/crash_point.h"
#include "firn/iceberg/metadata/dropped_columns.h"
#include "firn/order/key_encoder.h"
#include "firn/shift/batch_files.h"
#include "firn/shift/data_file_location.h"
#include "firn/shift/new_files.h"
#include "firn/shift/plan_input.h"
#include "firn/shift/task_memory.h"
#include "firn/storage/upload_buffer.h"
#include "firn/wal/chosen_segments.h"
#include "firn/wal/segment.h"

namespace firn::shift {
namespace {

std::shared_ptr<const OpenSegment> OpenChosen(const wal::ChosenSegment& chosen,
                                              SegmentSpool& spool) {
  return std::make_shared<const OpenSegment>(OpenSegment{
      .name = chosen.name,
      .footer = *chosen.read.footer,
      .trims = chosen.trims,
      .file = spool.Open(SegmentKey(chosen.name), chosen.size_bytes),
      .parquet_footer = chosen.read.parquet,
      .batch_shapes = BatchShapesOf(chosen.read.parquet),
  });
}

/// Where each source's range of this iteration begins: its position, or the first offset
/// that was seen.
std::map<std::string, std::int64_t> FirstOffsets(const PlannedIteration& iteration) {
  std::map<std::string, std::int64_t> first;
  for (const auto& segment : iteration.segments) {
    for (const wal::SourceRange& range : segment->footer.ranges) {
      const auto [entry, is_new] = first.try_emplace(range.source, range.first);
      if (!is_new) entry->second = std::min(entry->second, range.first);
    }
  }
  const wal::Positions& from = iteration.start.from;
  for (auto& [source, offset] : first) {
    const auto position = from.sources.find(source);
    if (position != from.sources.end()) offset = position->second;
  }
  return first;
}

/// The ranges that the iteration consumed.
void DescribeRanges(const PlannedIteration& iteration, commit::Batch& batch) {
  for (const auto& [shard, through] : iteration.admission.next.shards) {
    const SegmentSequence after = PositionOf(iteration.start.from, shard);
    if (after != through) batch.shards[shard] = {.after = after, .through = through};
  }
  for (const auto& [source, first] : FirstOffsets(iteration)) {
    const std::int64_t next = iteration.admission.next.sources.at(source);
    if (first != next) batch.sources[source] = {.first = first, .next = next};
  }
}

/// The key of each bucket's partition tuple, as segments are sorted by.
Result<std::vector<std::string>> PartitionKeys(const PlannedIteration& iteration) {
  const iceberg::TableMetadata& metadata = iteration.start.metadata;
  std::vector<std::string> keys;
  for (const planner::Bucket& bucket : iteration.input.buckets) {
    const types::PartitionSpec* spec = FindSpec(metadata, bucket.spec_id);
    FIRN_CHECK(spec != nullptr, "{}", bucket.spec_id);  // BuildPlanInput found it
    FIRN_ASSIGN_OR_RETURN(const std::vector<types::Type> types,
                          PartitionTypes(*spec, SchemaFor(metadata, *spec)));
    const order::KeyEncoder encoder(order::PartitionKeyColumns(types));
    encoder.Encode(bucket.partition, keys.emplace_back());
  }
  return keys;
}

/// The chunks by partition, as runs stand in the row groups that partitions share: so
/// tasks of neighbours read a shared row group from one end to the other, once.
Result<std::vector<planner::Chunk>> ChunksByPartition(const PlannedIteration& iteration) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<std::string> keys, PartitionKeys(iteration));
  std::vector<planner::Chunk> chunks = iteration.plan.chunks;
  std::ranges::stable_sort(chunks, {}, [&](const planner::Chunk& chunk) {
    const planner::Bucket& bucket = iteration.input.buckets[chunk.bucket];
    return std::tuple(bucket.spec_id, bucket.order_id, std::string_view(bucket.key_types),
                      std::string_view(keys[chunk.bucket]));
  });
  return chunks;
}

/// Tells which segments nobody will read any more.
class SegmentUses {
 public:
  SegmentUses(const PlannedIteration& iteration,
              const std::vector<planner::Chunk>& chunks)
      : iteration_(iteration), chunks_(chunks), uses_(iteration.segments.size()) {}

  void Begin(const Task& task) {
    for (const std::uint32_t segment : SegmentsOf(task)) ++uses_[segment];
  }

  void End(const Task& task) {
    for (const std::uint32_t segment : SegmentsOf(task)) {
      if (--uses_[segment] == 0) iteration_.segments[segment]->file->Release();
    }
  }

 private:
  std::set<std::uint32_t> SegmentsOf(const Task& task) const {
    std::set<std::uint32_t> segments;
    for (std::size_t i = task.begin; i < task.end; ++i) {
      for (const planner::RunSlice& slice : chunks_[i].runs) {
        segments.insert(iteration_.input.runs[slice.run].segment);
      }
    }
    return segments;
  }

  const PlannedIteration& iteration_;
  const std::vector<planner::Chunk>& chunks_;
  std::vector<int> uses_;
};

/// Where data files go, spread over more folders or not.
const std::string& DataFolder(const iceberg::TableMetadata& metadata) {
  const char* property = DataFolderProperty(metadata);
  return property == nullptr ? metadata.location : metadata.properties.at(property);
}

/// Works on the tasks of an iteration with several threads.
class TaskWorkers {
 public:
  struct Job {
    const PlannedIteration& iteration;
    const std::vector<planner::Chunk>& chunks;
    const ChunkWriter& writer;
    /// Begins the names of all files.
    std::string name;
    const IterationWriting& writing;
  };

  TaskWorkers(Runtime& runtime, MemoryBudget& memory, Job job)
      : runtime_(runtime),
        memory_(memory),
        job_(std::move(job)),
        chunks_(job_.chunks),
        tasks_(MakeTasks(job_.iteration.input, chunks_, job_.writing.options.limits)),
        mutex_(runtime),
        uses_(job_.iteration, chunks_),
        results_(chunks_.size()),
        upload_buffer_bytes_(
            storage::UploadBufferBytes(DataFolder(job_.iteration.start.metadata))) {
    for (Task& task : tasks_) {
      uses_.Begin(task);
      FitIntoMemory(task);
    }
    std::ranges::stable_sort(tasks_, std::ranges::greater(), &Task::bytes);
  }

  /// Results in the order of the chunks.
  Result<std::vector<ChunkFiles>> Run() {
    const auto count = std::min(tasks_.size(), static_cast<std::size_t>(workers()));
    {
      std::vector<Thread> threads;
      for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back(runtime_, "shift", [this] { WorkUntilDone(); });
      }
    }
    FIRN_RETURN_NOT_OK(failure_);
    return std::move(results_);
  }

 private:
  void WorkUntilDone() {
    for (std::size_t next = next_++; next < tasks_.size(); next = next_++) {
      // With fewer tasks left than workers, one has no more to do.
      const bool one_is_idle = tasks_.size() - next < static_cast<std::size_t>(workers());
      const Status status = Work(tasks_[next], one_is_idle);
      MutexLock lock(mutex_);
      if (failure_.ok()) failure_ = status;
      if (!failure_.ok()) return;
      uses_.End(tasks_[next]);
    }
  }

  int workers() const { return std::max(job_.writing.options.workers, 1); }

  Status Work(const Task& task, bool one_is_idle) {
    FIRN_RETURN_NOT_OK(job_.writing.stop.Check());
    const std::int64_t with_encoder = task.memory_bytes + task.encoder_thread_bytes;
    const bool is_pair = one_is_idle && with_encoder <= memory_.limit_bytes();
    FIRN_ASSIGN_OR_RETURN(
        const MemoryReservation reserved,
        memory_.Reserve(is_pair ? with_encoder : task.memory_bytes, job_.writing.stop));
    const ChunkWriter::Done done = [this](std::size_t chunk, ChunkFiles files) {
      MutexLock lock(mutex_);
      job_.writing.done(chunks_[chunk], files);
      results_[chunk] = std::move(files);
    };
    return job_.writer.Write(task, {.name = job_.name,
                                    .stop = job_.writing.stop,
                                    .done = done,
                                    .encoder_threads = is_pair ? &runtime_ : nullptr});
  }

  void FitIntoMemory(Task& task) const {
    const TaskMemory memory(job_.iteration.input, chunks_, job_.iteration.segments, task,
                            {.writer = job_.writing.options.writer,
                             .upload_buffer_bytes = upload_buffer_bytes_});
    task.max_open_runs = memory.OpenRunsWithin(memory_.limit_bytes());
    task.memory_bytes = memory.BytesWith(task.max_open_runs);
    task.encoder_thread_bytes = memory.encoder_thread_bytes();
  }

  Runtime& runtime_;
  MemoryBudget& memory_;
  const Job job_;
  const std::vector<planner::Chunk>& chunks_;
  std::vector<Task> tasks_;
  std::atomic<std::size_t> next_ = 0;

  Mutex mutex_;
  // All guarded by mutex_.
  SegmentUses uses_;
  std::vector<ChunkFiles> results_;
  Status failure_;

  const std::int64_t upload_buffer_bytes_;
};

/// The positions are about to say that every planned row is in the table.
Status CheckEveryRowWritten(const PlannedIteration& iteration, std::int64_t written) {
  std::int64_t planned = 0;
  for (const planner::Run& run : iteration.input.runs) planned += run.rows;
  // How many rows of a segment landed earlier is known only once they are read.
  const bool has_landed_rows = std::ranges::any_of(
      iteration.segments, [](const auto& segment) { return !segment->trims.empty(); });
  if (written == planned || (has_landed_rows && written < planned)) return Status::OK();
  // No corruption: no segment that could be named, or left out, is known to be damaged.
  return InvalidError(
      "{} rows were written of {} that were planned; nothing is committed", written,
      planned);
}

/// Writes the files, and describes them.
Result<WrittenIteration> WriteFiles(Runtime& runtime, MemoryBudget& memory,
                                    const PlannedIteration& iteration, NewFiles& files,
                                    IterationOutput output,
                                    const IterationWriting& writing) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<planner::Chunk> chunks,
                        ChunksByPartition(iteration));
  const ChunkWriter writer(files, iteration.start.metadata, iteration.input, chunks,
                           iteration.segments, writing.options.writer);
  TaskWorkers workers(runtime, memory,
                      {.iteration = iteration,
                       .chunks = chunks,
                       .writer = writer,
                       .name = output.id.value(),
                       .writing = writing});
  if (writing.begin) {
    FIRN_ASSIGN_OR_RETURN(
        const auto prefixes,
        BatchFilePrefixes(iteration.start.metadata, iteration.input, chunks, output.id));
    FIRN_RETURN_NOT_OK(writing.begin(prefixes));
  }
  // Not after the first file is opened: that its files are younger keeps them (see
  // abandoned_files.h).
  const BootTime begun = runtime.SinceBoot();
  FIRN_ASSIGN_OR_RETURN(std::vector<ChunkFiles> results, workers.Run());
  WrittenIteration written{.batch = {.id = std::move(output.id),
                                     .parent = std::move(output.parent),
                                     .begun = begun}};
  for (ChunkFiles& chunk : results) {
    std::ranges::move(chunk.files, std::back_inserter(written.batch.files));
    written.rows += chunk.rows;
    written.verbatim_bytes += chunk.verbatim_bytes;
    written.failover_rolls += chunk.failover_rolls;
  }
  FIRN_RETURN_NOT_OK(CheckEveryRowWritten(iteration, written.rows));
  DescribeRanges(iteration, written.batch);
  CrashPoint("shift.written");
  FIRN_RETURN_NOT_OK(writing.stop.Check());
  return written;
}

}  // namespace

Result<PlannedIteration> PlanIteration(wal::WalReader& reader, SegmentSpool& spool,
                                       IterationStart start,
                                       const IterationOptions& options,
                                       const StopToken& stop) {
  PlannedIteration iteration{.start = std::move(start), .limits = options.limits};
  const iceberg::TableMetadata& metadata = iteration.start.metadata;
  FIRN_ASSIGN_OR_RETURN(
      wal::ChosenSegments chosen,
      wal::ChooseSegments(reader,
                          {.table = metadata.table_uuid,
                           .shards = iteration.start.shards,
                           .from = iteration.start.from,
                           .limits = {.bytes_max = options.iteration_bytes,
                                      .segments_max = options.iteration_segments}},
                          stop));
  iteration.admission = std::move(chosen.admission);
  for (const wal::ChosenSegment& segment : chosen.segments) {
    iteration.segments.push_back(OpenChosen(segment, spool));
  }
  FIRN_ASSIGN_OR_RETURN(iteration.input, BuildPlanInput(iteration.segments, metadata));
  FIRN_ASSIGN_OR_RETURN(iteration.plan,
                        MakePlan(iteration.input, iteration.limits, stop));
  return iteration;
}

Result<WrittenIteration> WriteIteration(Runtime& runtime, MemoryBudget& memory,
                                        const PlannedIteration& iteration,
                                        IterationOutput output,
                                        const IterationWriting& writing) {
  NewFiles files(runtime, output.io);
  auto written =
      WriteFiles(runtime, memory, iteration, files, std::move(output), writing);
  if (!written.ok() && files.DeleteAll() && writing.gone) writing.gone();
  return written;
}

}  // namespace firn::shift
