#include "firn/iceberg/serde/block_codec.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include <arrow/util/compression.h>
#include <zlib.h>

namespace firn::iceberg {
namespace {

constexpr std::size_t kFirstOutputBytes = 64 * 1024;
constexpr std::size_t kChecksumBytes = 4;

const std::uint8_t* In(std::string_view bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

std::uint8_t* Out(std::string& bytes, std::size_t at) {
  return reinterpret_cast<std::uint8_t*>(bytes.data()) + at;
}

Status Damaged(std::string_view block) {
  return Error(ErrorKind::kCorruption, "compressed data of {} bytes is damaged",
               block.size());
}

Status TooLarge(std::string_view block, std::size_t bytes_max) {
  return Error(ErrorKind::kCorruption,
               "compressed data of {} bytes holds more than {} bytes", block.size(),
               bytes_max);
}

/// The size that stands in front of Snappy's data, seven bits a byte, the lowest first.
Result<std::size_t> SnappySize(std::string_view data) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(data.size(), 5); ++i) {
    const auto byte = static_cast<unsigned char>(data[i]);
    size |= std::size_t{byte & 0x7fU} << (7 * i);
    if (byte < 0x80) return size;
  }
  return Damaged(data);
}

bool IsChecksumOf(std::string_view stored, std::string_view data) {
  const uLong sum = crc32(0, In(data), static_cast<uInt>(data.size()));
  for (std::size_t i = 0; i < kChecksumBytes; ++i) {
    const auto byte = static_cast<unsigned char>(sum >> (8 * (kChecksumBytes - 1 - i)));
    if (static_cast<unsigned char>(stored[i]) != byte) return false;
  }
  return true;
}

}  // namespace

Result<std::string> DecompressZstandard(std::string_view block, std::size_t bytes_max) {
  FIRN_ASSIGN_OR_RETURN(const auto codec,
                        arrow::util::Codec::Create(arrow::Compression::ZSTD));
  FIRN_ASSIGN_OR_RETURN(const auto stream, codec->MakeDecompressor());
  std::string out(std::min(bytes_max, kFirstOutputBytes), '\0');
  std::size_t taken = 0;
  std::size_t size = 0;
  while (!stream->IsFinished()) {
    const auto step = stream->Decompress(
        static_cast<std::int64_t>(block.size() - taken), In(block) + taken,
        static_cast<std::int64_t>(out.size() - size), Out(out, size));
    if (!step.ok()) return Damaged(block);
    taken += static_cast<std::size_t>(step->bytes_read);
    size += static_cast<std::size_t>(step->bytes_written);
    if (stream->IsFinished()) break;
    const bool is_stuck = step->bytes_read == 0 && step->bytes_written == 0;
    if (is_stuck && size < out.size()) return Damaged(block);
    if (size < out.size()) continue;
    if (out.size() >= bytes_max) return TooLarge(block, bytes_max);
    out.resize(std::min(bytes_max, out.size() * 2));
  }
  if (taken != block.size()) return Damaged(block);
  out.resize(size);
  return out;
}

Result<std::string> DecompressSnappy(std::string_view block, std::size_t bytes_max) {
  if (block.size() < kChecksumBytes) return Damaged(block);
  const std::string_view data = block.substr(0, block.size() - kChecksumBytes);
  FIRN_ASSIGN_OR_RETURN(const std::size_t size, SnappySize(data));
  if (size > bytes_max) return TooLarge(block, bytes_max);
  FIRN_ASSIGN_OR_RETURN(const auto codec,
                        arrow::util::Codec::Create(arrow::Compression::SNAPPY));
  std::string out(size, '\0');
  const auto written = codec->Decompress(static_cast<std::int64_t>(data.size()), In(data),
                                         static_cast<std::int64_t>(size), Out(out, 0));
  const bool is_whole = written.ok() && static_cast<std::size_t>(*written) == size;
  if (!is_whole || !IsChecksumOf(block.substr(data.size()), out)) return Damaged(block);
  return out;
}

}  // namespace firn::iceberg
