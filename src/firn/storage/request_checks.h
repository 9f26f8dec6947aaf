#pragma once

#include <cstdint>
#include <string_view>

#include "firn/core/status.h"

namespace firn::storage {

/// What every ObjectStore refuses, with the same words; the rules stand there.

/// First characters of a file name that is a store's own, never a key's.
inline constexpr std::string_view kReservedNamePrefix = ".firn-";

Status ValidateKey(std::string_view key);

/// Invalid if the folders named in `prefix`, if any, cannot be those of a key.
Status ValidatePrefix(std::string_view prefix);

/// Invalid if `offset` or `length` is negative, Corruption if the range ends behind
/// `size_bytes`.
Status ValidateRange(std::string_view key, std::int64_t offset, std::int64_t length,
                     std::int64_t size_bytes);

}  // namespace firn::storage
