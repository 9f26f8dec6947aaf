#include "firn/parquet_io/fetched_ranges.h"

#include <algorithm>
#include <utility>

namespace firn::parquet_io {
namespace {

using arrow::io::ReadRange;

Status CheckInside(const ReadRange& range, std::int64_t file_bytes) {
  const bool inside = range.offset >= 0 && range.length >= 0 &&
                      range.offset <= file_bytes &&
                      range.length <= file_bytes - range.offset;
  if (inside) return Status::OK();
  return Error(ErrorKind::kCorruption,
               "the footer names {} bytes at offset {}, but the file has {} bytes",
               range.length, range.offset, file_bytes);
}

/// Joins neighbours; the result is in order of offset, disjoint, without empty ranges.
std::vector<ReadRange> Coalesce(std::vector<ReadRange> ranges) {
  std::erase_if(ranges, [](const ReadRange& range) { return range.length == 0; });
  std::ranges::sort(ranges, {}, &ReadRange::offset);
  std::vector<ReadRange> joined;
  for (const ReadRange& range : ranges) {
    const bool is_near =
        !joined.empty() &&
        range.offset <= joined.back().offset + joined.back().length + kFetchGapBytes;
    if (!is_near) {
      joined.push_back(range);
      continue;
    }
    ReadRange& last = joined.back();
    last.length =
        std::max(last.offset + last.length, range.offset + range.length) - last.offset;
  }
  return joined;
}

}  // namespace

Result<std::shared_ptr<FetchedRanges>> FetchedRanges::Fetch(
    std::shared_ptr<arrow::io::RandomAccessFile> file, std::vector<ReadRange> ranges) {
  FIRN_ASSIGN_OR_RETURN(const std::int64_t file_bytes, file->GetSize());
  for (const ReadRange& range : ranges) {
    FIRN_RETURN_NOT_OK(CheckInside(range, file_bytes));
  }
  std::shared_ptr<FetchedRanges> fetched(new FetchedRanges(std::move(file)));
  for (const ReadRange& range : Coalesce(std::move(ranges))) {
    FIRN_ASSIGN_OR_RETURN(auto bytes, fetched->file_->ReadAt(range.offset, range.length));
    if (bytes->size() != range.length) {
      return Error(ErrorKind::kCorruption, "ends after {} of {} bytes at offset {}",
                   bytes->size(), range.length, range.offset);
    }
    fetched->parts_.push_back({.offset = range.offset, .bytes = std::move(bytes)});
  }
  return fetched;
}

Result<std::shared_ptr<arrow::Buffer>> FetchedRanges::ReadAt(std::int64_t position,
                                                             std::int64_t nbytes) {
  auto after = std::ranges::upper_bound(parts_, position, {}, &Part::offset);
  if (after == parts_.begin()) return file_->ReadAt(position, nbytes);
  const Part& part = *std::prev(after);
  const std::int64_t start = position - part.offset;
  if (start > part.bytes->size() || nbytes > part.bytes->size() - start) {
    return file_->ReadAt(position, nbytes);
  }
  return arrow::SliceBuffer(part.bytes, start, nbytes);
}

ReadRange ChunkRange(const parquet::ColumnChunkMetaData& chunk) {
  std::int64_t offset = chunk.data_page_offset();
  // Some writers say that there is a dictionary page and leave its offset at 0.
  if (chunk.has_dictionary_page() && chunk.dictionary_page_offset() > 0) {
    offset = std::min(offset, chunk.dictionary_page_offset());
  }
  return {.offset = offset, .length = chunk.total_compressed_size()};
}

}  // namespace firn::parquet_io
