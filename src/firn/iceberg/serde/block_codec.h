#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "firn/core/status.h"

namespace firn::iceberg {

/// Blocks of Avro files that Java's writers compress otherwise than with deflate (Avro
/// specification, "Required Codecs" and "Optional Codecs"). Corruption if a block is
/// damaged, ends early, or holds more than `bytes_max`.

/// One Zstandard frame.
Result<std::string> DecompressZstandard(std::string_view block, std::size_t bytes_max);

/// Raw Snappy, and behind it the big-endian CRC-32 of what it holds.
Result<std::string> DecompressSnappy(std::string_view block, std::size_t bytes_max);

}  // namespace firn::iceberg
