#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace firn::cli {

bool IsTerminal(std::FILE* stream);

/// Columns of the terminal behind `stream`; nothing is known of it: `otherwise`.
int TerminalWidth(std::FILE* stream, int otherwise);

/// Writes `text` to stderr. What cannot be written there is lost: work does not end
/// because the disk of a log file is full, or nobody reads.
void Tell(std::string_view text);

enum class Style { kGood, kNote, kBad, kStrong };

/// `text` with the escape codes of `style` around it where `stream` is a terminal that
/// understands them; as it is elsewhere, and if the environment has a non-empty NO_COLOR
/// (no-color.org) or TERM=dumb.
std::string Styled(std::FILE* stream, Style style, std::string_view text);

/// Text from outside as one line that a terminal cannot take for a command: control
/// characters, invalid UTF-8 and the characters that turn the direction of writing become
/// escapes such as "\n", "\x1b" and "\u202e".
std::string Printable(std::string_view text);

}  // namespace firn::cli
