#pragma once

#include <string>
#include <string_view>

#include "firn/core/runtime.h"

namespace firn {

/// A new ULID: 26 characters of Crockford base 32, 48 bits of milliseconds and 80 random
/// bits.
///
/// ULIDs made in different milliseconds sort by time as text (github.com/ulid/spec).
std::string NewUlid(Runtime& runtime);

bool IsUlid(std::string_view text);

/// A random (version 4) UUID, lower case, with hyphens (RFC 9562, section 5.4).
std::string NewUuid(Runtime& runtime);

/// A version 7 UUID in the same form: 48 bits of milliseconds, then random bits (RFC
/// 9562, section 5.7).
std::string NewUuidV7(Runtime& runtime);

}  // namespace firn
