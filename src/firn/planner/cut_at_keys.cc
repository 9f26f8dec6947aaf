#include "firn/planner/cut_at_keys.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "firn/planner/key_range.h"
#include "firn/planner/split_row_groups.h"

namespace firn::planner {
namespace {

/// The fraction of a run that lies below a key is a step function: `fraction` holds from
/// `key` on, or from just above it.
struct Step {
  std::string_view key = {};
  bool above_key = false;
  double fraction = 0;
  bool is_sample = false;

  bool HoldsAt(std::string_view other) const {
    return above_key ? key < other : key <= other;
  }
};

std::span<const Sample> SamplesFrom(const PlanInput& input, const Run& run,
                                    std::string_view key) {
  const auto samples =
      std::span(input.samples).subspan(run.first_sample, run.sample_count);
  const auto from = std::ranges::lower_bound(samples, key, {}, &Sample::key);
  return samples.subspan(from - samples.begin());
}

/// NaN becomes `low`.
double Between(double low, double value, double high) {
  return std::min(value > low ? value : low, high);
}

/// The steps of `piece`, ascending; of two at one place the later holds. Below the first
/// one the fraction is `piece.begin`.
std::vector<Step> StepsOf(const PlanInput& input, const Piece& piece) {
  const KeyRange range = RangeOf(input, piece.slice);
  std::vector<Step> steps;
  std::string_view key = range.first;
  double fraction = piece.begin;
  for (const Sample& sample :
       SamplesFrom(input, input.runs[piece.slice.run], range.first)) {
    if (EndsBefore(range, sample.key)) break;
    if (sample.key < key) continue;
    const double next = Between(fraction, sample.fraction, piece.end);
    if (sample.key != key) {
      steps.push_back({key, true, std::midpoint(fraction, next)});
      steps.push_back({sample.key, false, next, true});
      key = sample.key;
    }
    fraction = next;
  }
  steps.push_back({key, true, std::midpoint(fraction, piece.end)});
  if (range.end == RangeEnd::kUnbounded) return steps;
  steps.push_back({range.last, range.end == RangeEnd::kInclusive, piece.end});
  return steps;
}

/// The share of `total`, a count over the whole piece, that lies below `fraction`.
std::int64_t ShareBelow(const Piece& piece, std::int64_t total, double fraction) {
  if (fraction >= piece.end) return total;
  const double share =
      static_cast<double>(total) * (fraction - piece.begin) / (piece.end - piece.begin);
  return std::min(total, static_cast<std::int64_t>(share));
}

std::string_view SmallestFirstKey(const PlanInput& input, std::span<const Piece> pieces) {
  std::string_view smallest = RangeOf(input, pieces.front().slice).first;
  for (const Piece& piece : pieces) {
    smallest = std::min(smallest, RangeOf(input, piece.slice).first);
  }
  return smallest;
}

/// Where the summed estimate of all pieces changes, and by how much.
struct Change {
  std::string_view key = {};
  bool above_key = false;
  std::int64_t bytes = 0;
};

void AppendChanges(const Piece& piece, std::span<const Step> steps,
                   std::vector<Change>& changes) {
  std::int64_t below = 0;
  for (const Step& step : steps) {
    const std::int64_t share = ShareBelow(piece, piece.slice.bytes, step.fraction);
    changes.push_back({step.key, step.above_key, share - below});
    below = share;
  }
}

/// A key to cut at, and the summed estimate of what lies below it.
struct Candidate {
  std::string_view key = {};
  std::int64_t bytes_below = 0;
};

std::vector<Candidate> SortDistinct(std::vector<Candidate> candidates) {
  std::ranges::sort(candidates, {}, &Candidate::key);
  const auto repeated = std::ranges::unique(candidates, {}, &Candidate::key);
  candidates.erase(repeated.begin(), repeated.end());
  return candidates;
}

std::vector<Candidate> FindCandidates(const PlanInput& input,
                                      std::span<const Piece> pieces) {
  const std::string_view smallest = SmallestFirstKey(input, pieces);
  std::vector<Candidate> candidates;
  std::vector<Change> changes;
  for (const Piece& piece : pieces) {
    const std::string_view first = RangeOf(input, piece.slice).first;
    if (first > smallest) candidates.push_back({first});
    const std::vector<Step> steps = StepsOf(input, piece);
    for (const Step& step : steps) {
      if (step.is_sample) candidates.push_back({step.key});
    }
    AppendChanges(piece, steps, changes);
  }
  candidates = SortDistinct(std::move(candidates));
  std::ranges::sort(changes, {}, [](const Change& change) {
    return std::tie(change.key, change.above_key);
  });
  std::int64_t below = 0;
  auto next = changes.begin();
  for (Candidate& candidate : candidates) {
    const auto holds = [&](const Change& change) {
      return change.above_key ? change.key < candidate.key : change.key <= candidate.key;
    };
    for (; next != changes.end() && holds(*next); ++next) below += next->bytes;
    candidate.bytes_below = below;
  }
  return candidates;
}

/// The largest i whose target i * bytes / parts is not above the middle of `a` and `b`.
std::int64_t LastTargetBelowMiddle(std::int64_t a, std::int64_t b, std::int64_t bytes,
                                   std::int64_t parts) {
  using Wide = unsigned __int128;
  const Wide twice_middle = Wide(a) + Wide(b);
  return static_cast<std::int64_t>(Wide(parts) * twice_middle / (Wide(bytes) * 2));
}

/// Keys ascending. The targets nearest to one candidate follow each other, so whether a
/// candidate is chosen is told by its neighbours, however many targets there are.
std::vector<std::string_view> ChooseCuts(std::vector<Candidate> candidates,
                                         std::int64_t bytes, std::int64_t parts) {
  // Of candidates with equal estimates the smallest is chosen.
  const auto repeated = std::ranges::unique(candidates, {}, &Candidate::bytes_below);
  candidates.erase(repeated.begin(), repeated.end());
  std::vector<std::string_view> cuts;
  std::int64_t last_target = 0;  // of those that an earlier candidate is nearest to
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool is_last = i + 1 == candidates.size();
    const std::int64_t last =
        is_last ? parts - 1
                : std::min(parts - 1, LastTargetBelowMiddle(candidates[i].bytes_below,
                                                            candidates[i + 1].bytes_below,
                                                            bytes, parts));
    if (last > last_target) cuts.push_back(candidates[i].key);
    last_target = last;
  }
  return cuts;
}

/// Takes the beginning of `rest`, up to `key`, out of it. `whole` is the piece that
/// `rest` is the end of; `fraction` the run's below `key`.
Piece TakeBelow(std::string_view key, double fraction, const Piece& whole, Piece& rest) {
  const RunSlice& all = whole.slice;
  const auto taken = [&](std::int64_t total, std::int64_t left) {
    return ShareBelow(whole, total, fraction) - (total - left);
  };
  Piece head = rest;
  head.end = fraction;
  head.slice.to_key = key;
  head.slice.bytes = taken(all.bytes, rest.slice.bytes);
  head.slice.rows = taken(all.rows, rest.slice.rows);
  rest.begin = fraction;
  rest.slice.from_key = key;
  rest.slice.bytes -= head.slice.bytes;
  rest.slice.rows -= head.slice.rows;
  return head;
}

/// Puts the slices of `piece` in the parts that its keys meet.
void Distribute(const PlanInput& input, const Piece& piece,
                std::span<const std::string_view> cuts,
                std::vector<std::vector<Piece>>& parts) {
  const KeyRange range = RangeOf(input, piece.slice);
  std::size_t part = std::ranges::upper_bound(cuts, range.first) - cuts.begin();
  Piece rest = piece;
  if (part < cuts.size() && !EndsBefore(range, cuts[part])) {
    const std::vector<Step> steps = StepsOf(input, piece);
    double fraction = piece.begin;
    auto step = steps.begin();
    for (; part < cuts.size() && !EndsBefore(range, cuts[part]); ++part) {
      for (; step != steps.end() && step->HoldsAt(cuts[part]); ++step) {
        fraction = step->fraction;
      }
      parts[part].push_back(TakeBelow(cuts[part], fraction, piece, rest));
    }
  }
  parts[part].push_back(rest);
}

std::vector<std::vector<Piece>> CutOnce(const PlanInput& input,
                                        std::span<const Piece> pieces,
                                        std::span<const Candidate> candidates,
                                        std::int64_t bytes, std::int64_t bytes_max) {
  const std::int64_t part_count = (bytes - 1) / bytes_max + 1;
  const std::vector<std::string_view> cuts =
      ChooseCuts({candidates.begin(), candidates.end()}, bytes, part_count);
  std::vector<std::vector<Piece>> parts(cuts.size() + 1);
  for (const Piece& piece : pieces) Distribute(input, piece, cuts, parts);
  return parts;
}

}  // namespace

CutParts CutAtKeys(const PlanInput& input, std::vector<Piece> pieces,
                   std::int64_t bytes_max) {
  CutParts result;
  std::vector<std::vector<Piece>> pending;  // the next part last
  pending.push_back(std::move(pieces));
  for (bool is_first = true; !pending.empty(); is_first = false) {
    std::vector<Piece> part = std::move(pending.back());
    pending.pop_back();
    const std::int64_t bytes = TotalBytes(part);
    if (bytes <= bytes_max) {
      result.parts.push_back(std::move(part));
      continue;
    }
    const std::vector<Candidate> candidates = FindCandidates(input, part);
    if (candidates.empty()) {
      ++result.uncut_parts;
      for (std::vector<Piece>& split :
           SplitRowGroups(std::move(part), {.bytes_max = bytes_max})) {
        result.parts.push_back(std::move(split));
      }
      continue;
    }
    const bool far_above = bytes - bytes_max > bytes_max / 4;
    if (!is_first && !far_above) {
      result.parts.push_back(std::move(part));
      continue;
    }
    std::vector<std::vector<Piece>> parts =
        CutOnce(input, part, candidates, bytes, bytes_max);
    std::move(parts.rbegin(), parts.rend(), std::back_inserter(pending));
  }
  return result;
}

}  // namespace firn::planner
