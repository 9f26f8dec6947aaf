#pragma once

#include <string>
#include <string_view>

namespace firn::wal {

/// Text as part of one line of a WAL's object: bytes below 0x20 and '%' are '%' and two
/// hex digits. PercentDecoded is the way back.
std::string EscapedLine(std::string_view text);

}  // namespace firn::wal
