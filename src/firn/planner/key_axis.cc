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

void DrawLabel(int first, int room, const std::vector<std::string>& labels,
               Cells& cells) {
  for (const std::string& label : labels) {
    const int length = static_cast<int>(label.size());
    if (length > room) continue;
    const int start = first + (room - length) / 2;
    for (int i = 0; i < length; ++i) cells[start + i] = label[i];
    return;
  }
}

void DrawBar(int first, int last, const BarStyle& style, const Bar& bar, Cells& cells) {
  if (first == last) {
    cells[first] = style.single;
    return;
  }
  for (int column = first + 1; column < last; ++column) cells[column] = style.line;
  cells[first] = style.begin;
  cells[last] = style.end;
  DrawLabel(first + 1, last - first - 1, bar.labels, cells);
}

/// Indexes of the ranges, by first key.
std::vector<std::size_t> ByFirstKey(std::size_t count, auto&& range_of) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return range_of(i).first; });
  return order;
}

/// Gives out lanes to ranges that come by where they begin.
class Lanes {
 public:
  template <typename Place>
  int Take(Place first, Place last) {
    const auto begin = static_cast<std::int64_t>(first);
    const auto free =
        std::ranges::find_if(ends_, [begin](std::int64_t end) { return end < begin; });
    const auto lane = static_cast<int>(free - ends_.begin());
    if (free == ends_.end()) ends_.push_back(0);
    ends_[lane] = static_cast<std::int64_t>(last);
    return lane;
  }

 private:
  std::vector<std::int64_t> ends_;
};

}  // namespace

KeyAxis::KeyAxis(std::span<const KeyRange> ranges) {
  for (const KeyRange& range : ranges) {
    keys_.push_back(range.first);
    if (range.end == RangeEnd::kUnbounded) {
      has_end_ = false;
    } else {
      keys_.push_back(range.last);
    }
  }
  std::ranges::sort(keys_);
  const auto repeated = std::ranges::unique(keys_);
  keys_.erase(repeated.begin(), repeated.end());
}

KeyAxis::Extent KeyAxis::ExtentOf(const KeyRange& range) const {
  const auto slots = static_cast<double>(slot_count());
  return {.begin = static_cast<double>(FirstSlot(range)) / slots,
          .end = static_cast<double>(LastSlot(range) + 1) / slots};
}

std::vector<int> KeyAxis::LanesOf(std::span<const KeyRange> ranges) const {
  std::vector<int> lanes(ranges.size());
  Lanes free;
  for (const std::size_t i :
       ByFirstKey(ranges.size(), [&](std::size_t i) { return ranges[i]; })) {
    lanes[i] = free.Take(FirstSlot(ranges[i]), LastSlot(ranges[i]));
  }
  return lanes;
}

std::vector<std::int64_t> KeyAxis::DepthsOf(std::span<const KeyRange> ranges,
                                            int pieces) const {
  std::vector<std::int64_t> change(slot_count() + 1);
  for (const KeyRange& range : ranges) {
    ++change[FirstSlot(range)];
    --change[LastSlot(range) + 1];
  }
  std::vector<std::int64_t> depths(pieces);
  std::int64_t depth = 0;
  for (std::size_t slot = 0; slot < slot_count(); ++slot) {
    depth += change[slot];
    const auto [first, last] = ColumnsOf(slot, slot, pieces);
    for (int piece = first; piece <= last; ++piece) {
      depths[piece] = std::max(depths[piece], depth);
    }
  }
  return depths;
}

std::vector<std::string> KeyAxis::DrawBars(std::span<const Bar> bars,
                                           const BarStyle& style, int width,
                                           int lines_max) const {
  std::vector<Cells> lines;
  Lanes free;
  for (const std::size_t i :
       ByFirstKey(bars.size(), [&](std::size_t i) { return bars[i].range; })) {
    const KeyRange& range = bars[i].range;
    const auto [first, last] = ColumnsOf(FirstSlot(range), LastSlot(range), width);
    const int line = free.Take(first, last);
    if (line == lines_max) return {};
    if (line == static_cast<int>(lines.size())) lines.emplace_back(width, " ");
    DrawBar(first, last, style, bars[i], lines[line]);
  }
  std::vector<std::string> text;
  for (const Cells& cells : lines) text.push_back(Joined(cells));
  return text;
}

std::vector<std::string> KeyAxis::DrawDepth(std::span<const KeyRange> ranges, int width,
                                            int lines) const {
  const std::vector<std::int64_t> depths = DepthsOf(ranges, width);
  const std::int64_t deepest =
      std::max<std::int64_t>(1, *std::max_element(depths.begin(), depths.end()));
  std::vector<std::string> text;
  for (int line = lines - 1; line >= 0; --line) {
    Cells cells;
    for (const std::int64_t depth : depths) {
      const std::int64_t height = (depth * kLevelMax * lines + deepest - 1) / deepest;
      cells.push_back(
          kLevels[std::clamp<std::int64_t>(height - line * kLevelMax, 0, kLevelMax)]);
    }
    text.push_back(Joined(cells));
  }
  return text;
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

KeyAxis::Columns KeyAxis::ColumnsOf(std::size_t first_slot, std::size_t last_slot,
                                    int width) const {
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t first = first_slot * columns / slot_count();
  const std::size_t end = (last_slot + 1) * columns / slot_count();
  return {.first = static_cast<int>(first),
          .last = static_cast<int>(std::max(first + 1, end) - 1)};
}

}  // namespace firn::planner
