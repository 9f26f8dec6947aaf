#include "firn/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include <arrow/util/utf8.h>
#include <fmt/format.h>

namespace firn::cli {
namespace {

bool HasColours(std::FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return IsTerminal(stream);
}

std::string_view CodeOf(Style style) {
  switch (style) {
    case Style::kGood:
      return "32";
    case Style::kNote:
      return "33";
    case Style::kBad:
      return "1;31";
    case Style::kStrong:
      return "1";
  }
  return "0";
}

struct Character {
  std::size_t bytes = 1;
  /// Nothing for a byte that is not UTF-8.
  std::int32_t code = -1;
};

/// The first character of `text`, which is not empty.
Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {.bytes = 1, .code = lead};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (bytes > text.size()) return {};
  const auto* data = reinterpret_cast<const std::uint8_t*>(text.data());
  if (!arrow::util::ValidateUTF8(data, static_cast<std::int64_t>(bytes))) return {};
  std::int32_t code = lead & (0xFF >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) code = (code << 6) | (data[i] & 0x3F);
  return {.bytes = bytes, .code = code};
}

bool IsControl(std::int32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return true;
  const bool turns_direction = code == 0x061C || code == 0x200E || code == 0x200F ||
                               (code >= 0x202A && code <= 0x202E) ||
                               (code >= 0x2066 && code <= 0x2069);
  const bool breaks_line = code == 0x2028 || code == 0x2029;
  return turns_direction || breaks_line;
}

std::string Escape(std::int32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  if (code == '\r') return "\\r";
  return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

}  // namespace

void Tell(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

bool IsTerminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

int TerminalWidth(std::FILE* stream, int otherwise) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return otherwise;
  return size.ws_col;
}

std::string Styled(std::FILE* stream, Style style, std::string_view text) {
  if (!HasColours(stream)) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", CodeOf(style), text);
}

std::string Printable(std::string_view text) {
  arrow::util::InitializeUTF8();
  std::string out;
  while (!text.empty()) {
    const Character character = FirstCharacter(text);
    if (character.code < 0) {
      out += Escape(static_cast<unsigned char>(text[0]));
    } else if (IsControl(character.code)) {
      out += Escape(character.code);
    } else {
      out += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

}  // namespace firn::cli
