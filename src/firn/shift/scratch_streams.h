#pragma once

#include <memory>
#include <utility>

#include <arrow/io/interfaces.h>

#include "firn/parquet_io/random_reads.h"
#include "firn/storage/scratch_file.h"

namespace firn::shift {

/// Arrow's view of a scratch file, for reading. ReadAt is thread-safe.
class ScratchReads final : public parquet_io::RandomReads {
 public:
  explicit ScratchReads(std::shared_ptr<const storage::ScratchFile> file)
      : file_(std::move(file)) {}

  using RandomReads::ReadAt;
  Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position,
                                                std::int64_t nbytes) override;
  Result<std::int64_t> GetSize() override { return file_->size_bytes(); }

 private:
  const std::shared_ptr<const storage::ScratchFile> file_;
};

/// Arrow's view of a scratch file, for appending; positions count from where it was made.
class ScratchSink final : public arrow::io::OutputStream {
 public:
  explicit ScratchSink(std::shared_ptr<storage::ScratchFile> file)
      : file_(std::move(file)), begin_(file_->size_bytes()) {}

  using OutputStream::Write;
  Status Write(const void* data, std::int64_t nbytes) override;
  Result<std::int64_t> Tell() const override { return file_->size_bytes() - begin_; }
  /// There is nothing to do: the file goes with its last owner.
  Status Close() override { return Status::OK(); }
  bool closed() const override { return false; }

  std::int64_t begin() const { return begin_; }

 private:
  const std::shared_ptr<storage::ScratchFile> file_;
  const std::int64_t begin_;
};

}  // namespace firn::shift
