#include "firn/planner/key_range.h"

#include <algorithm>
#include <tuple>

namespace firn::planner {

KeyRange RangeOf(const Run& run) {
  if (run.last_key_unbounded)
    return {.first = run.first_key, .end = RangeEnd::kUnbounded};
  return {.first = run.first_key, .last = run.last_key};
}

KeyRange RangeOf(const PlanInput& input, const RunSlice& slice) {
  KeyRange range = RangeOf(input.runs[slice.run]);
  if (slice.from_key) range.first = *slice.from_key;
  if (slice.to_key) {
    range.last = *slice.to_key;
    range.end = RangeEnd::kExclusive;
  }
  return range;
}

KeyRange RangeOf(const PlanInput& input, const Chunk& chunk) {
  KeyRange whole = RangeOf(input, chunk.runs.front());
  for (const RunSlice& slice : chunk.runs) {
    const KeyRange range = RangeOf(input, slice);
    whole.first = std::min(whole.first, range.first);
    if (EndLess(whole, range)) {
      whole.last = range.last;
      whole.end = range.end;
    }
  }
  return whole;
}

bool EndsBefore(const KeyRange& range, std::string_view key) {
  switch (range.end) {
    case RangeEnd::kExclusive:
      return range.last <= key;
    case RangeEnd::kInclusive:
      return range.last < key;
    case RangeEnd::kUnbounded:
      return false;
  }
  return false;
}

bool EndLess(const KeyRange& a, const KeyRange& b) {
  if (a.end == RangeEnd::kUnbounded || b.end == RangeEnd::kUnbounded) {
    return a.end != RangeEnd::kUnbounded;
  }
  return std::tie(a.last, a.end) < std::tie(b.last, b.end);
}

std::int64_t OverlapDepth(std::vector<KeyRange> ranges) {
  std::vector<KeyRange> by_end = ranges;
  std::ranges::sort(ranges, {}, &KeyRange::first);
  std::ranges::sort(by_end, EndLess);
  std::size_t ended = 0;
  std::int64_t depth_max = 0;
  // The depth rises only where a range starts.
  for (std::size_t started = 0; started < ranges.size(); ++started) {
    while (EndsBefore(by_end[ended], ranges[started].first)) ++ended;
    depth_max = std::max(depth_max, static_cast<std::int64_t>(started + 1 - ended));
  }
  return depth_max;
}

}  // namespace firn::planner
