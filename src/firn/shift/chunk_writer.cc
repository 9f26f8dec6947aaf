#include "firn/shift/chunk_writer.h"

#include <utility>

#include <arrow/api.h>

#include "firn/core/base64.h"
#include "firn/core/crash_point.h"
#include "firn/merge/sorted_merge.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/shift/data_file_options.h"

namespace firn::shift {
namespace {

/// Bucket of a chunk, with what the table knows of it.
struct Target {
  const planner::Bucket& bucket;
  const types::PartitionSpec& spec;
  const order::SortOrder& order;
};

Result<Target> FindTarget(const iceberg::TableMetadata& metadata,
                          const planner::Bucket& bucket) {
  const types::PartitionSpec* spec = FindSpec(metadata, bucket.spec_id);
  const order::SortOrder* order = FindSortOrder(metadata, bucket.order_id);
  if (spec == nullptr || order == nullptr) {
    return InvalidError(
        "the WAL holds rows of partition spec {} and sort order {}, which the table does "
        "not have",
        bucket.spec_id, bucket.order_id);
  }
  return Target{.bucket = bucket, .spec = *spec, .order = *order};
}

iceberg::DataFile DescribeFile(const parquet_io::WrittenFile& written,
                               std::string location, const Target& target) {
  iceberg::DataFile file{
      .file_path = std::move(location),
      .partition_spec_id = target.spec.id,
      .partition = target.bucket.partition,
      .record_count = written.rows,
      .file_size_in_bytes = written.bytes->size(),
      .column_sizes = written.column_sizes,
      .sort_order_id = target.order.id,
  };
  for (const auto& [id, metrics] : written.metrics) {
    file.value_counts[id] = metrics.value_count;
    file.null_value_counts[id] = metrics.null_count;
    if (metrics.nan_count) file.nan_value_counts[id] = *metrics.nan_count;
    if (metrics.lower_bound) file.lower_bounds[id] = *metrics.lower_bound;
    if (metrics.upper_bound) file.upper_bounds[id] = *metrics.upper_bound;
  }
  for (const parquet_io::WrittenRowGroup& row_group : written.row_groups) {
    file.split_offsets.push_back(row_group.offset);
  }
  return file;
}

/// Writes the steps of one merge into files, and rolls to another where one grows too
/// large.
class ChunkOutput {
 public:
  ChunkOutput(const iceberg::FileIo& io, const iceberg::TableMetadata& metadata,
              const Target& target, parquet_io::FileWriterOptions writer_options,
              std::int64_t file_bytes_max, std::string name)
      : io_(io),
        metadata_(metadata),
        target_(target),
        writer_options_(std::move(writer_options)),
        file_bytes_max_(file_bytes_max),
        name_(std::move(name)) {}

  Status Add(const merge::MergedRows& step) {
    FIRN_ASSIGN_OR_RETURN(std::shared_ptr<arrow::RecordBatch> rows, step.Gather());
    std::int64_t from = 0;
    if (IsFull()) {
      // The rows of the last key stay together: files of one chunk must not overlap.
      from = step.rows_of_previous_key;
      FIRN_RETURN_NOT_OK(Append(*rows->Slice(0, from), step, 0));
      if (from == rows->num_rows()) return Status::OK();
      FIRN_RETURN_NOT_OK(Roll());
    }
    return Append(*rows->Slice(from), step, from);
  }

  Status Copy(const SegmentRunInput& input) {
    if (IsFull()) FIRN_RETURN_NOT_OK(Roll());
    FIRN_RETURN_NOT_OK(OpenFile());
    const wal::SegmentRun& run = input.run();
    FIRN_RETURN_NOT_OK(writer_->CopyRowGroup(input.row_group(), run.metrics));
    if (rows_in_file_ == 0) first_key_ = run.first_key;
    last_key_ = *run.last_key;
    rows_in_file_ += run.rows;
    result_.verbatim_bytes += run.bytes;
    return Status::OK();
  }

  Result<ChunkFiles> Finish() {
    FIRN_RETURN_NOT_OK(FinishFile());
    return std::move(result_);
  }

 private:
  bool IsFull() const {
    return writer_ != nullptr && writer_->bytes_estimate() >= file_bytes_max_;
  }

  Status Roll() {
    ++result_.failover_rolls;
    return FinishFile();
  }

  Status OpenFile() {
    if (writer_ != nullptr) return Status::OK();
    rows_in_file_ = 0;
    return parquet_io::FileWriter::Make(CurrentSchema(metadata_), writer_options_)
        .Value(&writer_);
  }

  /// `rows` are those of `step` from row `from` on.
  Status Append(const arrow::RecordBatch& rows, const merge::MergedRows& step,
                std::int64_t from) {
    if (rows.num_rows() == 0) return Status::OK();
    FIRN_RETURN_NOT_OK(OpenFile());
    FIRN_RETURN_NOT_OK(writer_->Write(rows));
    if (is_sorted()) {
      if (rows_in_file_ == 0) first_key_ = step.KeyAt(from);
      last_key_ = step.KeyAt(from + rows.num_rows() - 1);
    }
    rows_in_file_ += rows.num_rows();
    return Status::OK();
  }

  Status FinishFile() {
    if (writer_ == nullptr) return Status::OK();
    std::vector<std::pair<std::string, std::string>> key_values;
    if (is_sorted()) {
      key_values = {{kFirstKeyName, EncodeBase64(first_key_)},
                    {kLastKeyName, EncodeBase64(last_key_)}};
    }
    FIRN_ASSIGN_OR_RETURN(const parquet_io::WrittenFile written,
                          writer_->Finish(std::move(key_values)));
    writer_ = nullptr;
    const std::string file_name =
        result_.files.empty() ? name_ + ".parquet"
                              : fmt::format("{}-{}.parquet", name_, result_.files.size());
    FIRN_ASSIGN_OR_RETURN(
        std::string location,
        DataFileLocation(metadata_, target_.spec, target_.bucket.partition, file_name));
    CrashPoint("shift.file.before_put");
    FIRN_RETURN_NOT_OK(io_.WriteNew(
        location, std::string_view(reinterpret_cast<const char*>(written.bytes->data()),
                                   static_cast<std::size_t>(written.bytes->size()))));
    CrashPoint("shift.file.after_put");
    result_.rows += written.rows;
    result_.files.push_back(DescribeFile(written, std::move(location), target_));
    return Status::OK();
  }

  bool is_sorted() const { return !target_.bucket.key_types.empty(); }

  const iceberg::FileIo& io_;
  const iceberg::TableMetadata& metadata_;
  const Target target_;
  const parquet_io::FileWriterOptions writer_options_;
  const std::int64_t file_bytes_max_;
  const std::string name_;

  std::unique_ptr<parquet_io::FileWriter> writer_;
  std::int64_t rows_in_file_ = 0;
  std::string first_key_;
  std::string last_key_;
  ChunkFiles result_;
};

RunSelection SelectionOf(const planner::Run& run, const planner::RunSlice& slice) {
  RunSelection selection{.row_group = run.row_group,
                         .run_in_row_group = run.run_in_row_group};
  if (slice.from_key) selection.from_key = std::string(*slice.from_key);
  if (slice.to_key) selection.to_key = std::string(*slice.to_key);
  return selection;
}

}  // namespace

Result<ChunkFiles> ChunkWriter::Write(const planner::Chunk& chunk,
                                      const std::string& name,
                                      const StopToken& stop) const {
  FIRN_ASSIGN_OR_RETURN(const Target target,
                        FindTarget(metadata_, input_.buckets[chunk.bucket]));
  ReadPlan plan{.schema = CurrentSchema(metadata_), .order = target.order};
  FIRN_ASSIGN_OR_RETURN(plan.writer_options, DataFileOptions(metadata_, target.order));

  std::vector<std::unique_ptr<merge::MergeInput>> inputs;
  std::vector<const SegmentRunInput*> runs;
  for (const planner::RunSlice& slice : chunk.runs) {
    const planner::Run& run = input_.runs[slice.run];
    auto input = std::make_unique<SegmentRunInput>(segments_[run.segment],
                                                   SelectionOf(run, slice), plan);
    runs.push_back(input.get());
    inputs.push_back(std::move(input));
  }

  merge::SortedMerge merge(std::move(inputs),
                           {.sorted = !target.bucket.key_types.empty()});
  ChunkOutput output(io_, metadata_, target, plan.writer_options,
                     options_.writer_max_parquet_bytes, name);
  while (true) {
    FIRN_RETURN_NOT_OK(stop.Check());
    FIRN_ASSIGN_OR_RETURN(const merge::MergeStep step, merge.Next());
    if (std::holds_alternative<merge::MergeEnd>(step)) return output.Finish();
    if (const auto* whole = std::get_if<merge::WholeRowGroup>(&step)) {
      FIRN_RETURN_NOT_OK(output.Copy(*runs[whole->input]));
    } else {
      FIRN_RETURN_NOT_OK(output.Add(std::get<merge::MergedRows>(step)));
    }
  }
}

}  // namespace firn::shift
