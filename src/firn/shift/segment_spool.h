#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/io/interfaces.h>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/parquet_io/random_reads.h"
#include "firn/storage/object_store.h"

namespace firn::shift {

class SpooledSegment;

/// Where the bytes of segments wait while an iteration reads them here and there: each is
/// fetched whole, by one request, when it is first read, and kept until it is released.
///
/// In memory as long as there is room, else in a scratch file of the local disk (below
/// $TMPDIR).
/// A segment of a local store is a local file already: it is read in place, and nothing
/// is kept. Thread-safe.
class SegmentSpool {
 public:
  /// `memory_bytes_max` is for all segments together, and beside any MemoryBudget: tasks
  /// wait for that one while the spool still holds what they will read. Both references
  /// must outlive the spool.
  SegmentSpool(Runtime& runtime, storage::ObjectStore& store,
               std::int64_t memory_bytes_max);

  /// Reads nothing yet. The spool must outlive the segment.
  std::shared_ptr<SpooledSegment> Open(std::string key, std::int64_t size_bytes);

  std::int64_t memory_bytes();
  std::int64_t disk_bytes();

 private:
  friend class SpooledSegment;
  bool TakeMemory(std::int64_t bytes);
  void TakeDisk(std::int64_t bytes);
  void GiveBack(std::int64_t memory_bytes, std::int64_t disk_bytes);

  Runtime& runtime_;
  storage::ObjectStore& store_;
  const bool is_in_place_;
  const std::int64_t memory_bytes_max_;

  Mutex mutex_;
  // All guarded by mutex_.
  std::int64_t memory_bytes_ = 0;
  std::int64_t disk_bytes_ = 0;
};

/// One segment of a spool, as a file. ReadAt is thread-safe, and its errors are the
/// store's (NotFound if the segment was deleted meanwhile).
class SpooledSegment final : public parquet_io::RandomReads {
 public:
  SpooledSegment(SegmentSpool& spool, std::string key, std::int64_t size_bytes);
  ~SpooledSegment() override;

  /// Gives memory or disk back. What is read afterwards is fetched again.
  void Release();

  using RandomReads::ReadAt;
  Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position,
                                                std::int64_t nbytes) override;
  Result<std::int64_t> GetSize() override { return size_bytes_; }
  std::int64_t size_bytes() const { return size_bytes_; }

 private:
  /// What serves reads: the store itself, memory, or a file.
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> Source();
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> Fetch();
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> KeepOnDisk(
      const std::string& bytes);
  /// REQUIRES: mutex_ is held.
  void Drop();

  SegmentSpool& spool_;
  const std::string key_;
  const std::int64_t size_bytes_;

  Mutex mutex_;
  // All guarded by mutex_.
  std::shared_ptr<arrow::io::RandomAccessFile> source_;
  std::int64_t memory_bytes_ = 0;
  std::int64_t disk_bytes_ = 0;
};

}  // namespace firn::shift
