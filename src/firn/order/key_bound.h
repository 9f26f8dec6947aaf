#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace firn::order {

/// Keys in a segment's footer are cut at this many bytes.
inline constexpr std::size_t kKeyBytesMax = 256;

/// A key that is not above `key`: its first kKeyBytesMax bytes.
std::string TruncateKeyDown(std::string_view key);

/// A key that is not below `key`, nor below any key that starts with its first
/// kKeyBytesMax bytes; nothing (unbounded) if no byte of the prefix can be raised.
std::optional<std::string> TruncateKeyUp(std::string_view key);

}  // namespace firn::order
