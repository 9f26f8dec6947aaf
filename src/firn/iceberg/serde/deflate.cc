#include "firn/iceberg/serde/deflate.h"

#include <zlib.h>

#include <algorithm>

namespace firn::iceberg {
namespace {

/// Manifests shrink little more at higher levels, at several times the cost.
constexpr int kLevel = 3;
constexpr int kMemoryLevel = 8;
/// Negative: no header. Above 15: gzip.
constexpr int kRawWindowBits = -15;
constexpr int kGzipWindowBits = 15 + 16;
constexpr std::size_t kFirstOutputBytes = 64 * 1024;

Bytef* AsBytes(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

/// Ends the stream however the function is left.
class InflateStream {
 public:
  explicit InflateStream(int window_bits) {
    FIRN_CHECK(inflateInit2(&stream_, window_bits) == Z_OK);
  }
  ~InflateStream() { inflateEnd(&stream_); }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;
  z_stream* operator->() { return &stream_; }
  int Inflate() { return inflate(&stream_, Z_NO_FLUSH); }

 private:
  z_stream stream_{};
};

Result<std::string> Inflate(std::string_view bytes, std::size_t bytes_max,
                            int window_bits) {
  InflateStream stream(window_bits);
  stream->next_in = AsBytes(bytes);
  stream->avail_in = static_cast<uInt>(bytes.size());
  std::string out(std::min(bytes_max, kFirstOutputBytes), '\0');
  std::size_t size = 0;
  while (true) {
    stream->next_out = AsBytes(out) + size;
    stream->avail_out = static_cast<uInt>(out.size() - size);
    const int code = stream.Inflate();
    size = stream->total_out;
    if (code == Z_STREAM_END) break;
    if (code != Z_OK || (stream->avail_out > 0 && stream->avail_in == 0)) {
      return Error(ErrorKind::kCorruption, "compressed data of {} bytes is damaged",
                   bytes.size());
    }
    if (stream->avail_out > 0) continue;
    if (out.size() >= bytes_max) {
      return Error(ErrorKind::kCorruption,
                   "compressed data of {} bytes holds more than {} bytes", bytes.size(),
                   bytes_max);
    }
    out.resize(std::min(bytes_max, out.size() * 2));
  }
  out.resize(size);
  return out;
}

std::string Deflate(std::string_view bytes, int window_bits) {
  z_stream stream{};
  FIRN_CHECK(deflateInit2(&stream, kLevel, Z_DEFLATED, window_bits, kMemoryLevel,
                          Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = AsBytes(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = AsBytes(out);
  stream.avail_out = static_cast<uInt>(out.size());
  FIRN_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::string DeflateRaw(std::string_view bytes) { return Deflate(bytes, kRawWindowBits); }

std::string Gzip(std::string_view bytes) { return Deflate(bytes, kGzipWindowBits); }

Result<std::string> InflateRaw(std::string_view bytes, std::size_t bytes_max) {
  return Inflate(bytes, bytes_max, kRawWindowBits);
}

Result<std::string> Gunzip(std::string_view bytes, std::size_t bytes_max) {
  return Inflate(bytes, bytes_max, kGzipWindowBits);
}

}  // namespace firn::iceberg
