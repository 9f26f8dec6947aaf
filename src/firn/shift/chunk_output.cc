#include "firn/shift/chunk_output.h"

#include <algorithm>
#include <utility>

#include <arrow/api.h>

#include "firn/core/base64.h"
#include "firn/core/crash_point.h"
#include "firn/shift/batch_files.h"
#include "firn/shift/data_file_location.h"

namespace firn::shift {
namespace {

iceberg::DataFile DescribeFile(const parquet_io::WrittenFile& written,
                               std::string location, const ChunkTarget& target) {
  iceberg::DataFile file{
      .file_path = std::move(location),
      .partition_spec_id = target.spec.id,
      .partition = target.bucket.partition,
      .record_count = written.rows,
      .file_size_in_bytes = written.size_bytes,
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

}  // namespace

Result<ChunkTarget> FindTarget(const iceberg::TableMetadata& metadata,
                               const planner::Bucket& bucket) {
  const types::PartitionSpec* spec = FindSpec(metadata, bucket.spec_id);
  const order::SortOrder* order = FindSortOrder(metadata, bucket.order_id);
  if (spec == nullptr || order == nullptr) {
    return InvalidError(
        "the WAL holds rows of partition spec {} and sort order {}, which the table does "
        "not have",
        bucket.spec_id, bucket.order_id);
  }
  return ChunkTarget{.bucket = bucket, .spec = *spec, .order = *order};
}

Status ChunkOutput::Add(const merge::MergedRows& step, const arrow::RecordBatch& rows,
                        std::int64_t from, std::int64_t to) {
  if (IsFull()) {
    // The rows of the last key stay together: files of one chunk must not overlap.
    const std::int64_t change = std::clamp(step.rows_of_previous_key, from, to);
    FIRN_RETURN_NOT_OK(Append(step, rows, from, change));
    if (change == to) return Status::OK();
    FIRN_RETURN_NOT_OK(Roll());
    from = change;
  }
  return Append(step, rows, from, to);
}

Status ChunkOutput::Copy(const SegmentRunInput& input) {
  if (IsFull()) FIRN_RETURN_NOT_OK(Roll());
  FIRN_RETURN_NOT_OK(OpenFile());
  const wal::SegmentRun& run = input.run();
  FIRN_RETURN_NOT_OK(encoder_->CopyRowGroup(input.row_group(), run.metrics));
  if (rows_in_file_ == 0) first_key_ = run.first_key;
  last_key_ = *run.last_key;
  rows_in_file_ += run.rows;
  result_.verbatim_bytes += run.bytes;
  return Status::OK();
}

Result<ChunkFiles> ChunkOutput::Finish() {
  FIRN_RETURN_NOT_OK(FinishFile());
  return std::move(result_);
}

bool ChunkOutput::IsFull() const {
  return encoder_ != nullptr && encoder_->bytes_estimate() >= options_.file_bytes_max;
}

Status ChunkOutput::Roll() {
  ++result_.failover_rolls;
  return FinishFile();
}

Status ChunkOutput::OpenFile() {
  if (encoder_ != nullptr) return Status::OK();
  rows_in_file_ = 0;
  const std::string file_name = ChunkFileName(options_.name, result_.files.size());
  FIRN_ASSIGN_OR_RETURN(location_, DataFileLocation(metadata_, target_.spec,
                                                    target_.bucket.partition, file_name));
  FIRN_ASSIGN_OR_RETURN(object_, files_.Open(location_));
  FIRN_ASSIGN_OR_RETURN(
      auto writer,
      parquet_io::FileWriter::Make(CurrentSchema(metadata_), options_.writer, *object_));
  encoder_ = std::make_unique<FileEncoder>(std::move(writer), options_.encoder_threads);
  return Status::OK();
}

Status ChunkOutput::Append(const merge::MergedRows& step, const arrow::RecordBatch& rows,
                           std::int64_t from, std::int64_t to) {
  if (from == to) return Status::OK();
  FIRN_RETURN_NOT_OK(OpenFile());
  FIRN_RETURN_NOT_OK(encoder_->Write(rows.Slice(from, to - from)));
  if (target_.is_sorted()) {
    if (rows_in_file_ == 0) first_key_ = step.KeyAt(from);
    last_key_ = step.KeyAt(to - 1);
  }
  rows_in_file_ += to - from;
  return Status::OK();
}

Status ChunkOutput::FinishFile() {
  if (encoder_ == nullptr) return Status::OK();
  std::vector<std::pair<std::string, std::string>> key_values;
  if (target_.is_sorted()) {
    key_values = {{kFirstKeyName, EncodeBase64(first_key_)},
                  {kLastKeyName, EncodeBase64(last_key_)}};
  }
  FIRN_ASSIGN_OR_RETURN(const parquet_io::WrittenFile written,
                        encoder_->Finish(std::move(key_values)));
  encoder_ = nullptr;
  CrashPoint("shift.file.before_put");
  FIRN_RETURN_NOT_OK(files_.Finish(location_, *std::exchange(object_, nullptr)));
  CrashPoint("shift.file.after_put");
  result_.rows += written.rows;
  result_.files.push_back(DescribeFile(written, location_, target_));
  return Status::OK();
}

}  // namespace firn::shift
