#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "firn/planner/plan.h"

namespace firn::planner {

enum class RangeEnd : std::uint8_t { kExclusive, kInclusive, kUnbounded };

/// The keys from `first` up to an end, which belongs to the range, or does not, or is
/// above every key (`last` is then empty).
struct KeyRange {
  std::string_view first = {};
  std::string_view last = {};
  RangeEnd end = RangeEnd::kInclusive;

  bool operator==(const KeyRange&) const = default;
};

KeyRange RangeOf(const Run& run);
/// From `from_key`, if it is taken in part, up to `to_key`.
KeyRange RangeOf(const PlanInput& input, const RunSlice& slice);
/// From the smallest first key of the chunk's slices up to their largest end: what the
/// bounds of the file can be. REQUIRES: the chunk has runs.
KeyRange RangeOf(const PlanInput& input, const Chunk& chunk);

/// True if `key` and all above it are outside the range.
bool EndsBefore(const KeyRange& range, std::string_view key);

/// True if `a` ends before `b` does.
bool EndLess(const KeyRange& a, const KeyRange& b);

/// The most ranges that can hold one key; a half-open end does not touch. O(n log n).
std::int64_t OverlapDepth(std::vector<KeyRange> ranges);

}  // namespace firn::planner
