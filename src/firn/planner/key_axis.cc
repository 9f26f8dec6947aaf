#include "firn/planner/key_axis.h"

#include <algorithm>
#include <numeric>

namespace firn::planner {
namespace {

constexpr const char* kLevels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::int64_t kLevelMax = 8;

using Cells = std::vector<std::string>;

std::string Joined(const Cells& cells) {
  std::string line = std::accumulate(cells.begin(), cells.end(), std::string());
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

void DrawBar(int first, int last, const std::string& label, Cells& cells) {
  if (first == last) {
    cells[first] = "│";
    return;
  }
  for (int column = first + 1; column < last; ++column) cells[column] = "─";
  cells[first] = "├";
  cells[last] = "┤";
  const int room = last - first - 1;
  const int length = static_cast<int>(label.size());
  if (length > room) return;
  const int start = first + 1 + (room - length) / 2;
  for (int i = 0; i < length; ++i) cells[start + i] = label[i];
}

}  // namespace

KeyAxis::KeyAxis(std::span<const KeyRange> ranges, int width) : width_(width) {
  for (const KeyRange& range : ranges) {
    keys_.push_back(range.first);
    if (range.end != RangeEnd::kUnbounded) keys_.push_back(range.last);
  }
  std::ranges::sort(keys_);
  const auto repeated = std::ranges::unique(keys_);
  keys_.erase(repeated.begin(), repeated.end());
}

std::vector<std::string> KeyAxis::DrawBars(std::span<const KeyRange> ranges,
                                           std::span<const std::string> labels,
                                           int lines_max) const {
  std::vector<std::size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ranges[i].first; });
  std::vector<Cells> lines;
  std::vector<int> taken;  // the last column of each line that is taken
  for (const std::size_t i : order) {
    const auto [first, last] = ColumnsOf(FirstSlot(ranges[i]), LastSlot(ranges[i]));
    const auto free = std::ranges::find_if(taken, [&](int end) { return end < first; });
    const std::size_t line = free - taken.begin();
    if (free == taken.end()) {
      if (static_cast<int>(lines.size()) == lines_max) return {};
      lines.emplace_back(width_, " ");
      taken.push_back(last);
    }
    taken[line] = last;
    DrawBar(first, last, labels.empty() ? "" : labels[i], lines[line]);
  }
  std::vector<std::string> text;
  for (const Cells& cells : lines) text.push_back(Joined(cells));
  return text;
}

std::string KeyAxis::DrawDepth(std::span<const KeyRange> ranges) const {
  std::vector<std::int64_t> change(slot_count() + 1);
  for (const KeyRange& range : ranges) {
    ++change[FirstSlot(range)];
    --change[LastSlot(range) + 1];
  }
  std::vector<std::int64_t> depth_of_column(width_);
  std::int64_t depth = 0;
  for (std::size_t slot = 0; slot < slot_count(); ++slot) {
    depth += change[slot];
    const auto [first, last] = ColumnsOf(slot, slot);
    for (int column = first; column <= last; ++column) {
      depth_of_column[column] = std::max(depth_of_column[column], depth);
    }
  }
  const std::int64_t depth_max = std::max<std::int64_t>(
      1, *std::max_element(depth_of_column.begin(), depth_of_column.end()));
  Cells cells;
  for (const std::int64_t column_depth : depth_of_column) {
    cells.push_back(kLevels[(column_depth * kLevelMax + depth_max - 1) / depth_max]);
  }
  return Joined(cells);
}

std::size_t KeyAxis::FirstSlot(const KeyRange& range) const {
  return 2 * (std::ranges::lower_bound(keys_, range.first) - keys_.begin());
}

std::size_t KeyAxis::LastSlot(const KeyRange& range) const {
  if (range.end == RangeEnd::kUnbounded) return slot_count() - 1;
  const std::size_t slot =
      2 * (std::ranges::lower_bound(keys_, range.last) - keys_.begin());
  return range.end == RangeEnd::kExclusive ? slot - 1 : slot;
}

KeyAxis::Columns KeyAxis::ColumnsOf(std::size_t first_slot, std::size_t last_slot) const {
  const auto width = static_cast<std::size_t>(width_);
  const std::size_t first = first_slot * width / slot_count();
  const std::size_t end = (last_slot + 1) * width / slot_count();
  return {.first = static_cast<int>(first),
          .last = static_cast<int>(std::max(first + 1, end) - 1)};
}

}  // namespace firn::planner
