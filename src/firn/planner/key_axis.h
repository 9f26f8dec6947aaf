#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firn/planner/key_range.h"

namespace firn::planner {

/// What a bar is drawn with.
struct BarStyle {
  const char* begin;
  const char* line;
  const char* end;
  /// A bar of one column.
  const char* single;
};

inline constexpr BarStyle kThinBars{"├", "─", "┤", "│"};
inline constexpr BarStyle kHeavyBars{"┣", "━", "┫", "┃"};
inline constexpr BarStyle kBrackets{"╰", "─", "╯", "┘"};

struct Bar {
  KeyRange range;
  /// ASCII; the first that fits stands in the bar.
  std::vector<std::string> labels = {};
};

/// The key space, from left to right.
///
/// Each key at which a range begins or ends takes equal room, and so does what lies
/// between two neighbours: the distance of keys means nothing, their order does.
class KeyAxis {
 public:
  /// REQUIRES: `ranges` is not empty.
  explicit KeyAxis(std::span<const KeyRange> ranges);

  /// Where a range (of those given) begins and ends, as parts of the axis' length.
  struct Extent {
    double begin = 0;
    double end = 1;
  };
  Extent ExtentOf(const KeyRange& range) const;

  /// The lane of each range, from 0: the first in which it meets no other.
  std::vector<int> LanesOf(std::span<const KeyRange> ranges) const;

  /// How many ranges hold the keys of each of so many equal pieces, at most.
  std::vector<std::int64_t> DepthsOf(std::span<const KeyRange> ranges, int pieces) const;

  /// Bars on as few lines of `width` columns as keep them apart. Nothing if it takes more
  /// than `lines_max` lines.
  std::vector<std::string> DrawBars(std::span<const Bar> bars, const BarStyle& style,
                                    int width, int lines_max) const;

  /// DepthsOf as a curve, the deepest as high as all the lines.
  std::vector<std::string> DrawDepth(std::span<const KeyRange> ranges, int width,
                                     int lines) const;

 private:
  struct Columns {
    int first = 0;
    int last = 0;
  };

  /// A slot for each key, for what is between it and the next, and for what is above all
  /// if a range has no end.
  std::size_t slot_count() const { return 2 * keys_.size() - (has_end_ ? 1 : 0); }
  std::size_t FirstSlot(const KeyRange& range) const;
  std::size_t LastSlot(const KeyRange& range) const;
  Columns ColumnsOf(std::size_t first_slot, std::size_t last_slot, int width) const;

  std::vector<std::string_view> keys_;
  bool has_end_ = true;
};

}  // namespace firn::planner
