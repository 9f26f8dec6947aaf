#include "firn/cli/text_table.h"

#include <algorithm>

#include "firn/cli/terminal.h"
#include "firn/core/status.h"

namespace firn::cli {
namespace {

// Continuation bytes of UTF-8 take no place of their own.
bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, StartsCharacter));
}

/// At most `width` characters, the last one "…" if there were more.
std::string Cut(std::string text, std::size_t width) {
  if (Width(text) <= width) return text;
  std::size_t end = 0;
  for (std::size_t characters = 0; end < text.size(); ++end) {
    if (StartsCharacter(text[end]) && ++characters == width) break;
  }
  return text.substr(0, end) + "…";
}

}  // namespace

void TextTable::AddRow(std::vector<std::string> cells) {
  FIRN_CHECK(cells.size() == columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = Cut(Printable(cells[i]), columns_[i].width_max);
  }
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString() const {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string>& header = lines.emplace_back();
  for (const Column& column : columns_) header.push_back(column.name);
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<std::size_t> widths(columns_.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], Width(line[i]));
    }
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - Width(line[i]), ' ');
      row += columns_[i].align == Align::kLeft ? line[i] + padding : padding + line[i];
      row += "  ";
    }
    row.resize(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

}  // namespace firn::cli
