#pragma once

#include <string>
#include <string_view>

namespace firn {

/// What a library says, which may be several lines, as a part of one message.
inline std::string OneLine(std::string_view words) {
  std::string line;
  for (const char c : words) {
    if (c != '\n' && c != '\t') {
      line += c;
    } else if (!line.ends_with(' ')) {
      line += ' ';
    }
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace firn
