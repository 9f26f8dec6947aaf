#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firn/planner/key_range.h"

namespace firn::planner {

/// A line of text as wide as the key space.
///
/// Each key at which a range begins or ends takes equal room, and so does what lies
/// between two neighbours: the distance of keys means nothing, their order does.
class KeyAxis {
 public:
  /// REQUIRES: `ranges` is not empty, width > 0.
  KeyAxis(std::span<const KeyRange> ranges, int width);

  /// Ranges (of those given) as bars, on as few lines as keep them apart; `labels` stand
  /// in the bars that have room for them. Nothing if it takes more than `lines_max`
  /// lines.
  std::vector<std::string> DrawBars(std::span<const KeyRange> ranges,
                                    std::span<const std::string> labels,
                                    int lines_max) const;

  /// One line: how many ranges hold the keys of a column, the fullest as a full block.
  std::string DrawDepth(std::span<const KeyRange> ranges) const;

 private:
  struct Columns {
    int first = 0;
    int last = 0;
  };

  /// A slot for each key, for what is between it and the next, and for what is above all.
  std::size_t slot_count() const { return 2 * keys_.size(); }
  std::size_t FirstSlot(const KeyRange& range) const;
  std::size_t LastSlot(const KeyRange& range) const;
  Columns ColumnsOf(std::size_t first_slot, std::size_t last_slot) const;

  const int width_;
  std::vector<std::string_view> keys_;
};

}  // namespace firn::planner
