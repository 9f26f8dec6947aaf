#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "firn/core/status.h"

namespace firn::iceberg {

/// Deflate without a header (RFC 1951), as Avro's "deflate" codec has it.
std::string DeflateRaw(std::string_view bytes);

/// Corruption if `bytes` is not such a stream, ends early, or holds more than
/// `bytes_max`.
Result<std::string> InflateRaw(std::string_view bytes, std::size_t bytes_max);

/// One gzip member (RFC 1952).
std::string Gzip(std::string_view bytes);

/// As InflateRaw, for one gzip member (RFC 1952).
Result<std::string> Gunzip(std::string_view bytes, std::size_t bytes_max);

}  // namespace firn::iceberg
