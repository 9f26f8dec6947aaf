#include "firn/shift/segment_spool.h"

#include <utility>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>

#include "firn/parquet_io/row_group_source.h"
#include "firn/shift/scratch_streams.h"
#include "firn/storage/location.h"

namespace firn::shift {
namespace {

using arrow::io::RandomAccessFile;

}  // namespace

SegmentSpool::SegmentSpool(Runtime& runtime, storage::ObjectStore& store,
                           std::int64_t memory_bytes_max)
    : runtime_(runtime),
      store_(store),
      is_in_place_(storage::LocalPathOf(store.Location("")).ok()),
      memory_bytes_max_(memory_bytes_max),
      mutex_(runtime) {}

std::shared_ptr<SpooledSegment> SegmentSpool::Open(std::string key,
                                                   std::int64_t size_bytes) {
  return std::make_shared<SpooledSegment>(*this, std::move(key), size_bytes);
}

std::int64_t SegmentSpool::memory_bytes() {
  MutexLock lock(mutex_);
  return memory_bytes_;
}

std::int64_t SegmentSpool::disk_bytes() {
  MutexLock lock(mutex_);
  return disk_bytes_;
}

bool SegmentSpool::TakeMemory(std::int64_t bytes) {
  MutexLock lock(mutex_);
  if (bytes > memory_bytes_max_ - memory_bytes_) return false;
  memory_bytes_ += bytes;
  return true;
}

void SegmentSpool::TakeDisk(std::int64_t bytes) {
  MutexLock lock(mutex_);
  disk_bytes_ += bytes;
}

void SegmentSpool::GiveBack(std::int64_t memory_bytes, std::int64_t disk_bytes) {
  MutexLock lock(mutex_);
  memory_bytes_ -= memory_bytes;
  disk_bytes_ -= disk_bytes;
}

SpooledSegment::SpooledSegment(SegmentSpool& spool, std::string key,
                               std::int64_t size_bytes)
    : spool_(spool),
      key_(std::move(key)),
      size_bytes_(size_bytes),
      mutex_(spool.runtime_) {}

SpooledSegment::~SpooledSegment() { Release(); }

void SpooledSegment::Release() {
  MutexLock lock(mutex_);
  Drop();
}

void SpooledSegment::Drop() {
  // Who still reads keeps a file open: it is gone when the last one closes it.
  source_ = nullptr;
  spool_.GiveBack(std::exchange(memory_bytes_, 0), std::exchange(disk_bytes_, 0));
}

Result<std::shared_ptr<RandomAccessFile>> SpooledSegment::Source() {
  MutexLock lock(mutex_);
  if (source_ == nullptr) {
    FIRN_ASSIGN_OR_RETURN(source_, Fetch());
  }
  return source_;
}

Result<std::shared_ptr<RandomAccessFile>> SpooledSegment::Fetch() {
  if (spool_.is_in_place_) {
    return parquet_io::OpenObject(spool_.store_, key_, size_bytes_);
  }
  FIRN_ASSIGN_OR_RETURN(std::string bytes, spool_.store_.GetRange(key_, 0, size_bytes_));
  if (!spool_.TakeMemory(size_bytes_)) return KeepOnDisk(bytes);
  memory_bytes_ = size_bytes_;
  return std::make_shared<arrow::io::BufferReader>(
      arrow::Buffer::FromString(std::move(bytes)));
}

Result<std::shared_ptr<RandomAccessFile>> SpooledSegment::KeepOnDisk(
    const std::string& bytes) {
  const std::string context = "keeping a copy of segment " + key_;
  std::shared_ptr<storage::ScratchFile> file;
  FIRN_RETURN_NOT_OK(AddContext(storage::ScratchFile::Make().Value(&file), context));
  FIRN_RETURN_NOT_OK(AddContext(file->Append(bytes), context));
  spool_.TakeDisk(size_bytes_);
  disk_bytes_ = size_bytes_;
  return std::make_shared<ScratchReads>(std::move(file));
}

Result<std::shared_ptr<arrow::Buffer>> SpooledSegment::ReadAt(std::int64_t position,
                                                              std::int64_t nbytes) {
  FIRN_ASSIGN_OR_RETURN(const auto source, Source());
  return source->ReadAt(position, nbytes);
}

}  // namespace firn::shift
