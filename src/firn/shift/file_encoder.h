#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/core/bounded_queue.h"
#include "firn/core/runtime.h"
#include "firn/parquet_io/file_writer.h"

namespace firn::shift {

/// Writes a data file while the merge goes on: what is handed over is encoded in order,
/// by a thread of the encoder's own or, without one, at once.
///
/// With a thread a failure may be told by a later call. After an error only the
/// destructor may be called. One caller at a time.
class FileEncoder {
 public:
  /// Batches that wait for the thread: so many are in memory beside the one that it
  /// encodes.
  static constexpr std::size_t kQueueSize = 2;
  /// Those, the one that it encodes, and the one that the caller holds.
  static constexpr std::size_t kHeldAtOnce = kQueueSize + 2;

  /// `thread_source` gives the thread, and must outlive the encoder; null: none.
  FileEncoder(std::unique_ptr<parquet_io::FileWriter> writer, Runtime* thread_source);
  ~FileEncoder();
  FileEncoder(const FileEncoder&) = delete;
  FileEncoder& operator=(const FileEncoder&) = delete;

  /// As the writer's.
  Status Write(std::shared_ptr<arrow::RecordBatch> rows);
  /// Waits until it is done.
  Status CopyRowGroup(parquet_io::RowGroupSource source, parquet_io::FileMetrics metrics);
  /// Of the file without the last few batches: equal for equal input, however far the
  /// thread is.
  std::int64_t bytes_estimate() const;
  Result<parquet_io::WrittenFile> Finish(
      std::vector<std::pair<std::string, std::string>> key_values);

 private:
  using Job = std::function<Status(parquet_io::FileWriter&)>;

  /// What is there with a thread only.
  struct Background {
    explicit Background(Runtime& runtime)
        : jobs(runtime, kQueueSize), mutex(runtime), changed(runtime) {}

    BoundedQueue<Job> jobs;
    Thread thread;
    Mutex mutex;
    CondVar changed;
    std::size_t done = 0;  // guarded by mutex
    Status failure;        // guarded by mutex
  };

  Status Do(Job job);
  Status DoNow(const Job& job, std::size_t number);
  void WorkUntilClosed();
  /// Waits until all that was handed over is done. The first failure.
  Status Drain();
  /// Drains, and ends the thread.
  Status Join();

  const std::unique_ptr<parquet_io::FileWriter> writer_;
  std::size_t handed_over_ = 0;
  /// When it was last known of the whole file.
  std::int64_t bytes_when_drained_ = 0;
  /// After job n at n modulo the size. The queue lets the caller be no more ahead of the
  /// thread, so none is overwritten before it may be asked for.
  std::array<std::atomic<std::int64_t>, kHeldAtOnce> bytes_after_{};
  std::optional<Background> background_;
};

}  // namespace firn::shift
