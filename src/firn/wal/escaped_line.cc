#include "firn/wal/escaped_line.h"

#include <fmt/format.h>

namespace firn::wal {

std::string EscapedLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || c == '%') {
      line += fmt::format("%{:02X}", byte);
    } else {
      line.push_back(c);
    }
  }
  return line;
}

}  // namespace firn::wal
