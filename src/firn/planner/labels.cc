#include "firn/planner/labels.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace firn::planner {
namespace {

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;
};

/// Nothing if `text` does not begin with a character in its shortest form.
std::optional<Character> FirstCharacter(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return Character{.code = first, .length = 1};
  if (first < 0xc2 || first > 0xf4) return std::nullopt;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (text.size() < length) return std::nullopt;
  std::uint32_t code = first & (0x7f >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return std::nullopt;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length]) return std::nullopt;
  return Character{.code = code, .length = length};
}

bool IsPrintable(std::uint32_t code) {
  const auto is_in = [code](std::uint32_t low, std::uint32_t high) {
    return low <= code && code <= high;
  };
  const bool is_control = code < 0x20 || is_in(0x7f, 0x9f);
  const bool turns_or_breaks = is_in(0x200e, 0x200f) || is_in(0x2028, 0x202e) ||
                               is_in(0x2066, 0x2069) || code == 0xfeff;
  const bool is_no_character =
      is_in(0xd800, 0xdfff) || is_in(0xfffe, 0xffff) || code > 0x10ffff;
  return !is_control && !turns_or_breaks && !is_no_character;
}

}  // namespace

std::string CountText(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string CountOf(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", CountText(count), thing, count == 1 ? "" : "s");
}

std::string SizeText(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes) / kStep;
  std::size_t unit = 0;
  for (; size >= kStep && unit + 1 < std::size(kUnits); ++unit) size /= kStep;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const std::optional<Character> character = FirstCharacter(text);
    const std::size_t length = character ? character->length : 1;
    const bool is_kept = character && IsPrintable(character->code);
    printable += is_kept ? text.substr(0, length) : "?";
    text.remove_prefix(length);
  }
  return printable;
}

std::size_t TextLength(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !IsContinuation(byte); }));
}

std::string Shortened(const std::string& text, std::size_t length_max) {
  if (TextLength(text) <= length_max) return text;
  if (length_max == 0) return "";
  std::size_t length = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!IsContinuation(text[end]) && ++length == length_max) break;
  }
  return text.substr(0, end) + "…";
}

}  // namespace firn::planner
