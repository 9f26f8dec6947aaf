#pragma once

#include <cstdint>
#include <memory>

#include <arrow/io/interfaces.h>

#include "firn/core/status.h"

namespace firn::parquet_io {

/// A file of which only ReadAt is of use: readers of Parquet ask for nothing else.
/// Closing it does nothing.
class RandomReads : public arrow::io::RandomAccessFile {
 public:
  Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position,
                                                std::int64_t nbytes) override = 0;
  Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t nbytes,
                              void* out) override;

  Result<std::int64_t> Read(std::int64_t nbytes, void* out) override;
  Result<std::shared_ptr<arrow::Buffer>> Read(std::int64_t nbytes) override;
  Status Seek(std::int64_t position) override;
  Result<std::int64_t> Tell() const override;
  Status Close() override { return Status::OK(); }
  bool closed() const override { return false; }
};

}  // namespace firn::parquet_io
