#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/core/status.h"

namespace firn::storage::s3 {

/// All but RFC 3986's unreserved characters as %XX, which is what a signature covers.
std::string EncodeUriPart(std::string_view text);

/// The same, but '/' stays.
std::string EncodeUriPath(std::string_view text);

/// Decodes %XX, and '+' as a blank: how S3 writes keys when asked for encoding-type=url.
/// Corruption if a '%' is not followed by two hexadecimal digits.
Result<std::string> DecodeUri(std::string_view text);

/// Names and values as they are, not encoded.
using Query = std::vector<std::pair<std::string, std::string>>;

/// "name=value&..." encoded and in order of the encoded names, as a signature needs it.
std::string EncodeQuery(const Query& query);

}  // namespace firn::storage::s3
