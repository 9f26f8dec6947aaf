#include "firn/shift/segment_spool.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/io/memory.h>

#include "firn/parquet_io/row_group_source.h"
#include "firn/storage/location.h"

namespace firn::shift {
namespace {

using arrow::io::RandomAccessFile;

Status WriteFile(const std::string& path, const std::string& bytes) {
  FIRN_ASSIGN_OR_RETURN(const auto file, arrow::io::FileOutputStream::Open(path));
  FIRN_RETURN_NOT_OK(file->Write(bytes.data(), static_cast<std::int64_t>(bytes.size())));
  return file->Close();
}

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

Result<std::string> SegmentSpool::TakeDisk(std::int64_t bytes) {
  MutexLock lock(mutex_);
  if (!directory_) {
    FIRN_ASSIGN_OR_RETURN(auto directory, storage::TemporaryDirectory::Make());
    directory_.emplace(std::move(directory));
  }
  disk_bytes_ += bytes;
  return fmt::format("{}/{}", directory_->path(), ++files_);
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
  source_ = nullptr;
  std::error_code ignored;
  // Who still reads keeps the file open: it is gone when the last one closes it.
  if (!path_.empty()) std::filesystem::remove(path_, ignored);
  path_.clear();
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
  FIRN_ASSIGN_OR_RETURN(path_, spool_.TakeDisk(size_bytes_));
  disk_bytes_ = size_bytes_;
  const Status written = WriteFile(path_, bytes);
  if (!written.ok()) {
    Drop();
    return AddContext(written, "keeping a copy of segment " + key_ +
                                   " on the local disk (TMPDIR names another place)");
  }
  return arrow::io::ReadableFile::Open(path_);
}

Result<std::shared_ptr<arrow::Buffer>> SpooledSegment::ReadAt(std::int64_t position,
                                                              std::int64_t nbytes) {
  FIRN_ASSIGN_OR_RETURN(const auto source, Source());
  return source->ReadAt(position, nbytes);
}

}  // namespace firn::shift
