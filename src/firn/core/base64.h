#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"

namespace firn {

/// Standard alphabet, padded (RFC 4648, section 4).
std::string EncodeBase64(std::string_view bytes);

/// Corruption if `text` is not what EncodeBase64 writes.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace firn
