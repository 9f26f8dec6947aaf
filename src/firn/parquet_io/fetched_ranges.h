#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <parquet/metadata.h>

#include "firn/core/status.h"
#include "firn/parquet_io/random_reads.h"

namespace firn::parquet_io {

/// Two ranges no farther apart than this are fetched together: on an object store one
/// request costs more than these bytes.
inline constexpr std::int64_t kFetchGapBytes = 512 << 10;

/// Parts of a file, fetched at once and held in memory. As a file it serves reads inside
/// those parts from memory, others from the file below.
class FetchedRanges final : public RandomReads {
 public:
  /// Fetches `ranges`, in any order. Corruption if one does not lie in the file.
  static Result<std::shared_ptr<FetchedRanges>> Fetch(
      std::shared_ptr<arrow::io::RandomAccessFile> file,
      std::vector<arrow::io::ReadRange> ranges);

  using RandomReads::ReadAt;
  Result<std::shared_ptr<arrow::Buffer>> ReadAt(std::int64_t position,
                                                std::int64_t nbytes) override;
  Result<std::int64_t> GetSize() override { return file_->GetSize(); }

 private:
  struct Part {
    std::int64_t offset = 0;
    std::shared_ptr<arrow::Buffer> bytes;
  };

  explicit FetchedRanges(std::shared_ptr<arrow::io::RandomAccessFile> file)
      : file_(std::move(file)) {}

  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  std::vector<Part> parts_;  // in order of offset, disjoint
};

/// Where a column chunk's pages lie, its dictionary page included. May throw.
arrow::io::ReadRange ChunkRange(const parquet::ColumnChunkMetaData& chunk);

}  // namespace firn::parquet_io
