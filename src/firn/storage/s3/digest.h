#pragma once

#include <string>
#include <string_view>

namespace firn::storage::s3 {

/// SHA-256 of `bytes` in lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

/// HMAC-SHA-256 (RFC 2104): 32 raw bytes.
std::string HmacSha256(std::string_view key, std::string_view bytes);

/// Two lower-case digits a byte.
std::string Hex(std::string_view bytes);

}  // namespace firn::storage::s3
