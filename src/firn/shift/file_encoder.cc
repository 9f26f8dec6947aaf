#include "firn/shift/file_encoder.h"

#include <algorithm>

#include <arrow/record_batch.h>

namespace firn::shift {

FileEncoder::FileEncoder(std::unique_ptr<parquet_io::FileWriter> writer,
                         Runtime* thread_source)
    : writer_(std::move(writer)) {
  if (thread_source == nullptr) return;
  background_.emplace(*thread_source);
  background_->thread = Thread(*thread_source, "encode", [this] { WorkUntilClosed(); });
}

FileEncoder::~FileEncoder() { (void)Join(); }

Status FileEncoder::Write(std::shared_ptr<arrow::RecordBatch> rows) {
  return Do([rows = std::move(rows)](parquet_io::FileWriter& writer) {
    return writer.Write(*rows);
  });
}

Status FileEncoder::CopyRowGroup(parquet_io::RowGroupSource source,
                                 parquet_io::FileMetrics metrics) {
  FIRN_RETURN_NOT_OK(Do([source = std::move(source),
                         metrics = std::move(metrics)](parquet_io::FileWriter& writer) {
    return writer.CopyRowGroup(source, metrics);
  }));
  // A row group may be large: the estimate must not be late by one.
  FIRN_RETURN_NOT_OK(Drain());
  bytes_when_drained_ = bytes_after_[(handed_over_ - 1) % kHeldAtOnce];
  return Status::OK();
}

std::int64_t FileEncoder::bytes_estimate() const {
  if (handed_over_ < kHeldAtOnce) return bytes_when_drained_;
  const std::int64_t surely_done = bytes_after_[handed_over_ % kHeldAtOnce];
  return std::max(bytes_when_drained_, surely_done);
}

Result<parquet_io::WrittenFile> FileEncoder::Finish(
    std::vector<std::pair<std::string, std::string>> key_values) {
  FIRN_RETURN_NOT_OK(Join());
  return writer_->Finish(std::move(key_values));
}

Status FileEncoder::Do(Job job) {
  const std::size_t number = handed_over_++;
  if (!background_) return DoNow(job, number);
  if (background_->jobs.Push(std::move(job))) return Status::OK();
  // The thread closes the queue when it fails.
  return Join();
}

Status FileEncoder::DoNow(const Job& job, std::size_t number) {
  FIRN_RETURN_NOT_OK(job(*writer_));
  bytes_after_[number % kHeldAtOnce] = writer_->bytes_estimate();
  return Status::OK();
}

void FileEncoder::WorkUntilClosed() {
  for (std::size_t number = 0; const auto job = background_->jobs.Pop(); ++number) {
    const Status status = DoNow(*job, number);
    if (!status.ok()) background_->jobs.Close();
    MutexLock lock(background_->mutex);
    background_->failure = status;
    background_->done = number + 1;
    background_->changed.NotifyAll();
    if (!status.ok()) return;
  }
}

Status FileEncoder::Drain() {
  if (!background_) return Status::OK();
  MutexLock lock(background_->mutex);
  while (background_->failure.ok() && background_->done < handed_over_) {
    background_->changed.Wait(background_->mutex);
  }
  return background_->failure;
}

Status FileEncoder::Join() {
  if (!background_) return Status::OK();
  background_->jobs.Close();
  background_->thread.Join();
  MutexLock lock(background_->mutex);
  return background_->failure;
}

}  // namespace firn::shift
