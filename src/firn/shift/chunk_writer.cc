#include "firn/shift/chunk_writer.h"
#include "firn/shift/batch_files.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <arrow/api.h>

#include "firn/iceberg/metadata/dropped_columns.h"
#include "firn/merge/limit_open_runs.h"
#include "firn/merge/sorted_merge.h"
#include "firn/order/key_encoder.h"
#include "firn/planner/bucket.h"
#include "firn/planner/key_range.h"
#include "firn/shift/data_file_options.h"
#include "firn/shift/run_spool.h"
#include "firn/types/schema_union.h"

namespace firn::shift {
namespace {

using planner::Chunk;
using planner::RunSlice;

/// What a merge takes of a run, and whether its rows go to one chunk only.
struct TakenRun {
  RunSlice slice;
  bool is_cut = false;
};

/// The runs of all chunks in run order, slices of one run that follow each other
/// reunited.
std::vector<TakenRun> TakenRuns(const planner::PlanInput& input,
                                std::span<const Chunk> chunks, bool is_sorted) {
  std::vector<RunSlice> slices;
  for (const Chunk& chunk : chunks) std::ranges::copy(chunk.runs, back_inserter(slices));
  const planner::RunOrder order(input, is_sorted);
  if (chunks.size() > 1) {
    std::ranges::stable_sort(slices, [&](const RunSlice& a, const RunSlice& b) {
      return order(a.run, b.run);
    });
  }
  std::vector<TakenRun> runs;
  for (const RunSlice& slice : slices) {
    if (runs.empty() || runs.back().slice.run != slice.run) {
      runs.push_back({.slice = slice});
      continue;
    }
    runs.back().slice.to_key = slice.to_key;
    runs.back().is_cut = true;
  }
  return runs;
}

RunSelection SelectionOf(const planner::Run& run, const TakenRun& taken) {
  RunSelection selection{.segment = run.segment,
                         .row_group = run.row_group,
                         .run_in_row_group = run.run_in_row_group,
                         .may_copy = !taken.is_cut};
  if (taken.slice.from_key) selection.from_key = std::string(*taken.slice.from_key);
  if (taken.slice.to_key) selection.to_key = std::string(*taken.slice.to_key);
  return selection;
}

/// The first row of the step whose key is not below `border`.
std::int64_t RowAt(const merge::MergedRows& step, std::string_view border) {
  if (step.KeyAt(step.rows - 1) < border) return step.rows;
  std::int64_t low = 0;
  std::int64_t high = step.rows - 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (step.KeyAt(middle) < border) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The inputs that are runs of a segment: only those come out as whole row groups.
std::vector<const SegmentRunInput*> SegmentRunsOf(
    const std::vector<std::unique_ptr<merge::MergeInput>>& inputs) {
  std::vector<const SegmentRunInput*> runs;
  for (const auto& input : inputs) {
    runs.push_back(dynamic_cast<const SegmentRunInput*>(input.get()));
  }
  return runs;
}

/// A step is as long as two batches of a run: of the run with the widest rows, since a
/// step may be of its rows alone.
std::int64_t StepRows(const std::vector<std::unique_ptr<merge::MergeInput>>& inputs) {
  std::int64_t rows = kRunBatchRows;
  for (const SegmentRunInput* run : SegmentRunsOf(inputs)) {
    rows = std::min(rows, run->batch_rows());
  }
  return 2 * rows;
}

/// The order by which keys of `key_types` are encoded from the columns that `schema` has
/// now. They were encoded from dates where a column has become a timestamp since (format
/// version 3): its day is that date.
Result<order::SortOrder> OrderOfKeys(order::SortOrder order, const types::Schema& schema,
                                     std::string_view key_types) {
  FIRN_ASSIGN_OR_RETURN(const auto now, order::KeyEncoder::Make(order, schema));
  if (now.KeyTypesText() == key_types || key_types.empty()) return order;
  for (order::SortField& field : order.fields) {
    const types::Field* column = FindField(schema, field.source_id);
    const bool may_have_been_date =
        column != nullptr &&
        MayBePromoted(types::Type(types::TypeKind::kDate), column->type, 3);
    if (may_have_been_date && field.transform == types::Transform{}) {
      field.transform.kind = types::TransformKind::kDay;
    }
  }
  FIRN_ASSIGN_OR_RETURN(const auto before, order::KeyEncoder::Make(order, schema));
  if (before.KeyTypesText() == key_types) return order;
  return InvalidError(
      "the WAL holds rows that are sorted by keys of '{}', and the table now has '{}': "
      "leave their segments out ('firn wal quarantine'), or give the columns back their "
      "types",
      key_types, now.KeyTypesText());
}

/// Takes the steps of one merge, and goes on to the next chunk's output where its keys
/// begin.
class ChunkSequence {
 public:
  using MakeOutput = std::function<ChunkOutput(std::size_t)>;

  /// `borders`: where the second chunk begins, and each further one.
  ChunkSequence(std::vector<std::string_view> borders, MakeOutput make_output,
                std::function<void(std::size_t, ChunkFiles)> done)
      : borders_(std::move(borders)),
        make_output_(std::move(make_output)),
        done_(std::move(done)) {
    output_.emplace(make_output_(0));
  }

  Status Add(const merge::MergedRows& step) {
    FIRN_ASSIGN_OR_RETURN(const auto rows, step.Gather());
    std::int64_t from = 0;
    while (chunk_ < borders_.size()) {
      const std::int64_t to = RowAt(step, borders_[chunk_]);
      if (to == step.rows) break;
      if (from < to) FIRN_RETURN_NOT_OK(output_->Add(step, *rows, from, to));
      FIRN_RETURN_NOT_OK(NextChunk());
      from = to;
    }
    return output_->Add(step, *rows, from, step.rows);
  }

  Status Copy(const SegmentRunInput& input) {
    while (chunk_ < borders_.size() && borders_[chunk_] <= input.first_key()) {
      FIRN_RETURN_NOT_OK(NextChunk());
    }
    return output_->Copy(input);
  }

  Status Finish() {
    while (chunk_ < borders_.size()) FIRN_RETURN_NOT_OK(NextChunk());
    return FinishChunk();
  }

 private:
  Status FinishChunk() {
    FIRN_ASSIGN_OR_RETURN(ChunkFiles files, output_->Finish());
    done_(chunk_, std::move(files));
    return Status::OK();
  }

  Status NextChunk() {
    FIRN_RETURN_NOT_OK(FinishChunk());
    output_.emplace(make_output_(++chunk_));
    return Status::OK();
  }

  const std::vector<std::string_view> borders_;
  const MakeOutput make_output_;
  const std::function<void(std::size_t, ChunkFiles)> done_;
  std::size_t chunk_ = 0;
  std::optional<ChunkOutput> output_;
};

}  // namespace

Status ChunkWriter::Write(const Task& task, const Request& request) const {
  SharedRowGroups shared;
  const Job job{
      .request = request, .max_open_runs = task.max_open_runs, .shared = shared};
  if (task.is_one_merge) return Merge(task.begin, task.end, job);
  for (std::size_t i = task.begin; i < task.end; ++i) {
    FIRN_RETURN_NOT_OK(Merge(i, i + 1, job));
  }
  return Status::OK();
}

Status ChunkWriter::Merge(std::size_t begin, std::size_t end, const Job& job) const {
  const auto chunks = std::span(chunks_).subspan(begin, end - begin);
  FIRN_ASSIGN_OR_RETURN(const ChunkTarget target,
                        FindTarget(metadata_, input_.buckets[chunks.front().bucket]));
  ReadPlan plan{.schema = CurrentSchema(metadata_),
                .key_schema = SchemaFor(metadata_, target.order),
                .order = {}};
  FIRN_ASSIGN_OR_RETURN(
      plan.order, OrderOfKeys(target.order, plan.key_schema, target.bucket.key_types));
  FIRN_ASSIGN_OR_RETURN(plan.writer_options, DataFileOptions(metadata_, target.order));
  plan.writer_options.row_group_bytes =
      std::min(plan.writer_options.row_group_bytes, options_.row_group_bytes_max);

  std::vector<std::unique_ptr<merge::MergeInput>> inputs;
  for (const TakenRun& taken : TakenRuns(input_, chunks, target.is_sorted())) {
    const planner::Run& run = input_.runs[taken.slice.run];
    inputs.push_back(std::make_unique<SegmentRunInput>(
        segments_[run.segment], SelectionOf(run, taken), plan, job.shared));
  }
  const merge::MergeOptions options = {.sorted = target.is_sorted(),
                                       .batch_rows = StepRows(inputs)};
  DiskRunSpool spool(job.request.stop);
  if (target.is_sorted()) {
    FIRN_ASSIGN_OR_RETURN(
        inputs, LimitOpenRuns(std::move(inputs), job.max_open_runs, spool, options));
  }
  const std::vector<const SegmentRunInput*> runs = SegmentRunsOf(inputs);
  std::vector<std::string_view> borders;
  for (const Chunk& chunk : chunks.subspan(1)) {
    borders.push_back(RangeOf(input_, chunk).first);
  }
  ChunkSequence outputs(
      std::move(borders),
      [&](std::size_t chunk) {
        return ChunkOutput(files_, metadata_, target,
                           {.writer = plan.writer_options,
                            .file_bytes_max = options_.writer_max_parquet_bytes,
                            .name = ChunkName(job.request.name, begin + chunk),
                            .encoder_threads = job.request.encoder_threads});
      },
      [&](std::size_t chunk, ChunkFiles files) {
        job.request.done(begin + chunk, std::move(files));
      });

  merge::SortedMerge merge(std::move(inputs), options);
  while (true) {
    FIRN_RETURN_NOT_OK(job.request.stop.Check());
    FIRN_ASSIGN_OR_RETURN(const merge::MergeStep step, merge.Next());
    if (std::holds_alternative<merge::MergeEnd>(step)) return outputs.Finish();
    if (const auto* whole = std::get_if<merge::WholeRowGroup>(&step)) {
      FIRN_RETURN_NOT_OK(outputs.Copy(*runs[whole->input]));
    } else {
      FIRN_RETURN_NOT_OK(outputs.Add(std::get<merge::MergedRows>(step)));
    }
  }
}

}  // namespace firn::shift
