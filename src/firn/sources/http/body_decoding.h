#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/sources/http/claim_memory.h"

namespace firn::sources {

/// True for a Content-Encoding that DecodeBody understands: gzip, x-gzip, zstd, identity
/// and none.
bool IsKnownEncoding(std::string_view encoding);

/// A request's body without its compression, which is told by its first bytes: gzip, also
/// of several members, or zstd.
///
/// Invalid if `encoding` says compressed and it is not, or it is damaged or cut short.
/// CapacityError once there are more than `bytes_max` bytes; no more are made. Errors of
/// `claim`, too. REQUIRES: IsKnownEncoding(encoding).
Result<std::string> DecodeBody(std::string body, std::string_view encoding,
                               std::int64_t bytes_max, const ClaimMemory& claim);

}  // namespace firn::sources
