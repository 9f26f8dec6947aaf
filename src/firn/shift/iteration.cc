#include "firn/shift/iteration.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <utility>

#include "firn/parquet_io/row_group_source.h"
#include "firn/shift/plan_input.h"
#include "firn/wal/segment.h"

namespace firn::shift {
namespace {

Result<std::shared_ptr<const OpenSegment>> OpenAdmitted(
    wal::WalReader& reader, storage::ObjectStore& store, const wal::ListedSegment& listed,
    std::vector<wal::SourceTrim> trims) {
  const std::string key = SegmentKey(listed.name);
  FIRN_ASSIGN_OR_RETURN(const wal::ReadSegment read,
                        reader.ReadSegmentFooter(key, listed.size_bytes));
  return std::make_shared<const OpenSegment>(OpenSegment{
      .name = listed.name,
      .footer = *read.footer,
      .trims = std::move(trims),
      .file = parquet_io::OpenObject(store, key, listed.size_bytes),
      .parquet_footer = read.parquet,
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
  for (auto& [source, offset] : first) {
    const auto position = iteration.from.sources.find(source);
    if (position != iteration.from.sources.end()) offset = position->second;
  }
  return first;
}

SegmentSequence SequenceAt(const wal::Positions& positions, const ShardId& shard) {
  const auto position = positions.shards.find(shard);
  return position == positions.shards.end() ? SegmentSequence(0) : position->second;
}

/// The ranges that the iteration consumed.
void DescribeRanges(const PlannedIteration& iteration, commit::Batch& batch) {
  for (const auto& [shard, through] : iteration.admission.next.shards) {
    const SegmentSequence after = SequenceAt(iteration.from, shard);
    if (after != through) batch.shards[shard] = {.after = after, .through = through};
  }
  for (const auto& [source, first] : FirstOffsets(iteration)) {
    const std::int64_t next = iteration.admission.next.sources.at(source);
    if (first != next) batch.sources[source] = {.first = first, .next = next};
  }
}

/// Writes chunks with several threads.
class ChunkWorkers {
 public:
  ChunkWorkers(Runtime& runtime, const ChunkWriter& writer,
               const PlannedIteration& iteration, const BatchId& id,
               const StopToken& stop, const ChunkDone& done)
      : writer_(writer),
        chunks_(iteration.plan.chunks),
        id_(id),
        stop_(stop),
        done_(done),
        order_(chunks_.size()),
        results_(chunks_.size()),
        runtime_(runtime),
        mutex_(runtime) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, std::ranges::greater(),
                             [&](std::size_t i) { return chunks_[i].bytes; });
  }

  /// Results in the order of the plan's chunks.
  Result<std::vector<ChunkFiles>> Run(int workers) {
    {
      std::vector<Thread> threads;
      const int useful = static_cast<int>(std::min<std::size_t>(workers, order_.size()));
      for (int i = 0; i < useful; ++i) {
        threads.emplace_back(runtime_, "shift", [this] { WriteUntilDone(); });
      }
    }
    FIRN_RETURN_NOT_OK(failure_);
    return std::move(results_);
  }

 private:
  void WriteUntilDone() {
    for (std::size_t next = next_++; next < order_.size(); next = next_++) {
      const std::size_t index = order_[next];
      Result<ChunkFiles> files =
          writer_.Write(chunks_[index], fmt::format("{}-{:05}", id_, index), stop_);
      MutexLock lock(mutex_);
      if (!failure_.ok()) return;
      if (!files.ok()) {
        failure_ = files.status();
        return;
      }
      done_(chunks_[index], *files);
      results_[index] = *std::move(files);
    }
  }

  const ChunkWriter& writer_;
  const std::vector<planner::Chunk>& chunks_;
  const BatchId& id_;
  const StopToken& stop_;
  const ChunkDone& done_;
  std::vector<std::size_t> order_;
  std::vector<ChunkFiles>
      results_;  // each element written once, by the thread that took it
  Runtime& runtime_;
  std::atomic<std::size_t> next_ = 0;
  Mutex mutex_;
  Status failure_;  // guarded by mutex_
};

/// The positions are about to say that every planned row is in the table.
Status CheckEveryRowWritten(const PlannedIteration& iteration, std::int64_t written) {
  std::int64_t planned = 0;
  for (const planner::Run& run : iteration.input.runs) planned += run.rows;
  // How many rows of a segment landed earlier is known only once they are read.
  const bool has_landed_rows = std::ranges::any_of(
      iteration.segments, [](const auto& segment) { return !segment->trims.empty(); });
  if (written == planned || (has_landed_rows && written < planned)) return Status::OK();
  return Error(ErrorKind::kCorruption,
               "{} rows were written of {} that were planned; nothing is committed",
               written, planned);
}

}  // namespace

Result<PlannedIteration> PlanIteration(wal::WalReader& reader,
                                       storage::ObjectStore& wal_store,
                                       iceberg::TableMetadata metadata,
                                       const wal::Positions& from,
                                       const IterationOptions& options,
                                       const StopToken& stop) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<wal::ListedSegment> listing,
                        reader.ListSegments(metadata.table_uuid, from));
  PlannedIteration iteration{.metadata = std::move(metadata), .from = from};
  iteration.admission = Admit(from, listing, options.iteration_bytes);
  for (const wal::AdmittedSegment& admitted : iteration.admission.segments) {
    FIRN_ASSIGN_OR_RETURN(
        auto segment,
        OpenAdmitted(reader, wal_store, listing[admitted.segment], admitted.trims));
    iteration.segments.push_back(std::move(segment));
  }
  FIRN_ASSIGN_OR_RETURN(iteration.input,
                        BuildPlanInput(iteration.segments, iteration.metadata));
  FIRN_ASSIGN_OR_RETURN(iteration.plan, MakePlan(iteration.input, options.limits, stop));
  return iteration;
}

Result<WrittenIteration> WriteIteration(Runtime& runtime, const iceberg::FileIo& io,
                                        const PlannedIteration& iteration, BatchId id,
                                        std::optional<BatchId> parent,
                                        const IterationOptions& options,
                                        const StopToken& stop, const ChunkDone& done) {
  const ChunkWriter writer(io, iteration.metadata, iteration.input, iteration.segments,
                           options.writer);
  FIRN_ASSIGN_OR_RETURN(
      std::vector<ChunkFiles> chunks,
      ChunkWorkers(runtime, writer, iteration, id, stop, done).Run(options.workers));
  WrittenIteration written{.batch = {.id = std::move(id), .parent = std::move(parent)}};
  for (ChunkFiles& chunk : chunks) {
    std::ranges::move(chunk.files, std::back_inserter(written.batch.files));
    written.rows += chunk.rows;
    written.verbatim_bytes += chunk.verbatim_bytes;
    written.failover_rolls += chunk.failover_rolls;
  }
  FIRN_RETURN_NOT_OK(CheckEveryRowWritten(iteration, written.rows));
  DescribeRanges(iteration, written.batch);
  return written;
}

}  // namespace firn::shift
