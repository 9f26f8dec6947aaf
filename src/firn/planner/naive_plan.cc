#include "firn/planner/naive_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace firn::planner {
namespace {

using Wide = __int128;

/// An exact, non-negative fraction.
struct Fraction {
  Wide above = 0;
  Wide below = 1;
};

Fraction Reduced(Wide above, Wide below) {
  Wide a = above;
  Wide b = below;
  while (b != 0) std::swap(a %= b, b);
  return {above / a, below / a};
}

Fraction Exactly(double value) {
  constexpr Wide kScale = 1LL << 40;
  return Reduced(static_cast<Wide>(value * static_cast<double>(kScale)), kScale);
}

bool Less(Fraction a, Fraction b) { return a.above * b.below < b.above * a.below; }

Fraction Middle(Fraction a, Fraction b) {
  return Reduced(a.above * b.below + b.above * a.below, 2 * a.below * b.below);
}

/// Where `value` stands between `from` and `to`.
Fraction Relative(Fraction value, Fraction from, Fraction to) {
  const Wide length = to.above * from.below - from.above * to.below;
  const Wide place = value.above * from.below - from.above * value.below;
  return Reduced(place * to.below, value.below * length);
}

struct NaiveSample {
  std::string key;
  Fraction fraction;
};

/// A run, or a slice of one, which counts as a run.
struct NaiveRun {
  std::uint32_t run = 0;
  std::string first = {};
  std::string last = {};
  bool ends_before_last = false;
  bool unbounded = false;
  std::vector<NaiveSample> samples = {};
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  bool starts_whole = true;
  bool ends_whole = true;
  bool oversized = false;
};

using NaivePart = std::vector<NaiveRun>;

bool IsAbove(const std::string& key, const NaiveRun& run) {
  if (run.unbounded) return false;
  return run.ends_before_last ? key >= run.last : key > run.last;
}

Fraction FractionBelow(const NaiveRun& run, const std::string& key) {
  if (key <= run.first) return {0, 1};
  if (IsAbove(key, run)) return {1, 1};
  for (const NaiveSample& sample : run.samples) {
    if (sample.key == key) return sample.fraction;
  }
  Fraction before{0, 1};
  Fraction after{1, 1};
  for (const NaiveSample& sample : run.samples) {
    if (sample.key < key) before = sample.fraction;
  }
  for (const NaiveSample& sample : run.samples) {
    if (sample.key <= key) continue;
    after = sample.fraction;
    break;
  }
  return Middle(before, after);
}

std::int64_t Share(std::int64_t total, Fraction fraction) {
  return static_cast<std::int64_t>(total * fraction.above / fraction.below);
}

std::int64_t Bytes(const NaivePart& part) {
  std::int64_t bytes = 0;
  for (const NaiveRun& run : part) bytes += run.bytes;
  return bytes;
}

std::set<std::string> CandidatesOf(const NaivePart& part) {
  std::set<std::string> keys;
  std::string smallest = part.front().first;
  for (const NaiveRun& run : part) {
    smallest = std::min(smallest, run.first);
    keys.insert(run.first);
    for (const NaiveSample& sample : run.samples) keys.insert(sample.key);
  }
  std::set<std::string> candidates;
  for (const std::string& key : keys) {
    if (key > smallest) candidates.insert(key);
  }
  return candidates;
}

std::int64_t BytesBelow(const NaivePart& part, const std::string& key) {
  std::int64_t bytes = 0;
  for (const NaiveRun& run : part) bytes += Share(run.bytes, FractionBelow(run, key));
  return bytes;
}

/// The part of `run` from `from` (empty: its beginning) up to `to` (empty: its end).
NaiveRun SliceOf(const NaiveRun& run, const std::string& from, const std::string& to) {
  NaiveRun slice = run;
  const Fraction begin = from.empty() ? Fraction{0, 1} : FractionBelow(run, from);
  const Fraction end = to.empty() ? Fraction{1, 1} : FractionBelow(run, to);
  slice.bytes = Share(run.bytes, end) - Share(run.bytes, begin);
  slice.rows = Share(run.rows, end) - Share(run.rows, begin);
  if (!from.empty() && from > run.first) {
    slice.first = from;
    slice.starts_whole = false;
  }
  if (!to.empty() && !IsAbove(to, run)) {
    slice.last = to;
    slice.ends_before_last = true;
    slice.unbounded = false;
    slice.ends_whole = false;
  }
  slice.samples.clear();
  for (const NaiveSample& sample : run.samples) {
    if (sample.key < slice.first || IsAbove(sample.key, slice)) continue;
    const Fraction fraction =
        Less(begin, end) ? Relative(sample.fraction, begin, end) : Fraction{0, 1};
    slice.samples.push_back({sample.key, fraction});
  }
  return slice;
}

std::vector<std::string> CutsOf(const NaivePart& part, std::int64_t upper) {
  const std::int64_t bytes = Bytes(part);
  const std::int64_t parts = (bytes + upper - 1) / upper;
  const std::set<std::string> candidates = CandidatesOf(part);
  std::vector<std::string> cuts;
  for (std::int64_t i = 1; i < parts && !candidates.empty(); ++i) {
    std::string best;
    Wide best_distance = -1;
    for (const std::string& key : candidates) {
      Wide distance = Wide(BytesBelow(part, key)) * parts - Wide(i) * bytes;
      if (distance < 0) distance = -distance;
      if (best_distance < 0 || distance < best_distance) {
        best = key;
        best_distance = distance;
      }
    }
    if (cuts.empty() || best > cuts.back()) cuts.push_back(best);
  }
  return cuts;
}

std::vector<NaivePart> CutOnce(const NaivePart& part, std::int64_t upper) {
  std::vector<std::string> bounds = CutsOf(part, upper);
  bounds.insert(bounds.begin(), "");
  bounds.push_back("");
  std::vector<NaivePart> parts;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    parts.emplace_back();
    for (const NaiveRun& run : part) {
      const bool below_end = bounds[i + 1].empty() || run.first < bounds[i + 1];
      const bool above_begin = bounds[i].empty() || !IsAbove(bounds[i], run);
      if (!below_end || !above_begin) continue;
      parts.back().push_back(SliceOf(run, bounds[i], bounds[i + 1]));
    }
  }
  return parts;
}

std::vector<NaivePart> SplitByRowGroups(const NaivePart& runs, std::int64_t upper,
                                        std::int64_t cap) {
  std::vector<NaivePart> parts;
  NaivePart part;
  for (const NaiveRun& run : runs) {
    const bool fits =
        Bytes(part) + run.bytes <= upper && static_cast<std::int64_t>(part.size()) < cap;
    if (!part.empty() && !fits) parts.push_back(std::exchange(part, {}));
    part.push_back(run);
  }
  parts.push_back(part);
  return parts;
}

std::vector<NaivePart> CutAgain(const NaivePart& part, std::int64_t upper,
                                std::int64_t& uncut);

std::vector<NaivePart> CutAll(const NaivePart& part, std::int64_t upper,
                              std::int64_t& uncut) {
  std::vector<NaivePart> all;
  for (const NaivePart& once : CutOnce(part, upper)) {
    for (const NaivePart& again : CutAgain(once, upper, uncut)) all.push_back(again);
  }
  return all;
}

std::vector<NaivePart> CutAgain(const NaivePart& part, std::int64_t upper,
                                std::int64_t& uncut) {
  const std::int64_t bytes = Bytes(part);
  const bool has_candidate = !CandidatesOf(part).empty();
  if (bytes * 4 > upper * 5 && has_candidate) return CutAll(part, upper, uncut);
  if (bytes <= upper || has_candidate) return {part};
  ++uncut;
  return SplitByRowGroups(part, upper, part.size());
}

NaiveRun ToNaive(const PlanInput& input, std::uint32_t index) {
  const Run& run = input.runs[index];
  NaiveRun naive{.run = index,
                 .first = std::string(run.first_key),
                 .last = std::string(run.last_key),
                 .unbounded = run.last_key_unbounded,
                 .bytes = run.bytes,
                 .rows = run.rows};
  for (std::uint32_t i = 0; i < run.sample_count; ++i) {
    const Sample& sample = input.samples[run.first_sample + i];
    naive.samples.push_back({std::string(sample.key), Exactly(sample.fraction)});
  }
  return naive;
}

std::vector<NaivePart> Clusters(const NaivePart& runs, bool sorted) {
  std::vector<NaivePart> clusters;
  for (const NaiveRun& run : runs) {
    bool touches = false;
    for (const NaiveRun& other : clusters.empty() ? NaivePart{} : clusters.back()) {
      touches |= sorted && !IsAbove(run.first, other);
    }
    if (!touches) clusters.emplace_back();
    clusters.back().push_back(run);
  }
  return clusters;
}

std::vector<NaivePart> PackBucket(const NaivePart& runs, bool sorted,
                                  const Limits& limits, Stats& stats) {
  const std::int64_t lower = limits.lower_bound_input_bytes_per_task;
  const std::int64_t upper = limits.upper_bound_input_bytes_per_task;
  const std::int64_t cap = limits.max_row_groups_per_task;
  const bool cuts = limits.oversized_clusters == OversizedClusters::kCutAtKeys;
  std::vector<NaivePart> chunks;
  NaivePart open;
  for (NaivePart cluster : Clusters(runs, sorted)) {
    const std::int64_t bytes = Bytes(cluster);
    const auto count = static_cast<std::int64_t>(cluster.size());
    ++stats.clusters;
    stats.largest_cluster_bytes = std::max(stats.largest_cluster_bytes, bytes);
    const bool oversized = bytes > upper || (!cuts && count > cap);
    bool closes = Bytes(open) >= lower;
    if (!oversized) {
      closes |= Bytes(open) + bytes > upper;
      closes |= static_cast<std::int64_t>(open.size()) + count > cap;
    } else {
      closes |= !cuts;
      ++stats.oversized_clusters;
      for (NaiveRun& run : cluster) run.oversized = true;
    }
    if (closes && !open.empty()) chunks.push_back(std::exchange(open, {}));
    open.insert(open.end(), cluster.begin(), cluster.end());
    if (!oversized) continue;
    std::vector<NaivePart> parts;
    if (!cuts) {
      parts = SplitByRowGroups(open, upper, cap);
    } else if (!sorted) {
      ++stats.uncut_parts;
      parts = SplitByRowGroups(open, upper, open.size());
    } else {
      parts = CutAll(open, upper, stats.uncut_parts);
    }
    open = parts.back();
    chunks.insert(chunks.end(), parts.begin(), parts.end() - 1);
  }
  if (!open.empty()) chunks.push_back(open);
  return chunks;
}

NaivePart Together(const NaivePart& left, const NaivePart& right,
                   const std::map<std::uint32_t, std::size_t>& place) {
  NaivePart joined = left;
  for (const NaiveRun& run : right) {
    auto same = std::ranges::find(joined, run.run, &NaiveRun::run);
    if (same == joined.end()) {
      joined.push_back(run);
      continue;
    }
    same->bytes += run.bytes;
    same->rows += run.rows;
    same->last = run.last;
    same->ends_before_last = run.ends_before_last;
    same->unbounded = run.unbounded;
    same->ends_whole = run.ends_whole;
  }
  std::ranges::sort(joined, {}, [&](const NaiveRun& run) { return place.at(run.run); });
  return joined;
}

std::vector<NaivePart> MergeSmall(const std::vector<NaivePart>& chunks,
                                  const NaivePart& run_order, const Limits& limits,
                                  Stats& stats) {
  std::map<std::uint32_t, std::size_t> place;
  for (const NaiveRun& run : run_order) place.emplace(run.run, place.size());
  std::vector<NaivePart> merged;
  for (const NaivePart& chunk : chunks) {
    if (!merged.empty() && Bytes(chunk) < limits.lower_bound_input_bytes_per_task) {
      const NaivePart joined = Together(merged.back(), chunk, place);
      if (Bytes(joined) <= limits.upper_bound_input_bytes_per_task &&
          static_cast<std::int64_t>(joined.size()) <= limits.max_row_groups_per_task) {
        merged.back() = joined;
        ++stats.tail_merges;
        continue;
      }
    }
    merged.push_back(chunk);
  }
  return merged;
}

/// A point of the key space: a key, or what is just above it.
bool Holds(const NaivePart& chunk, const std::string& key, bool above) {
  return std::ranges::any_of(chunk, [&](const NaiveRun& run) {
    if (key < run.first || IsAbove(key, run)) return false;
    return !above || run.unbounded || key < run.last;
  });
}

std::int64_t Depth(const std::vector<NaivePart>& chunks) {
  std::int64_t depth = 0;
  for (const NaivePart& chunk : chunks) {
    for (const NaiveRun& run : chunk) {
      for (const std::string& key : {run.first, run.last}) {
        for (const bool above : {false, true}) {
          const auto holds = [&](const NaivePart& c) { return Holds(c, key, above); };
          depth = std::max<std::int64_t>(depth, std::ranges::count_if(chunks, holds));
        }
      }
    }
  }
  return depth;
}

/// Views of the keys, which live as long as the input's.
std::string_view KeyOfInput(const PlanInput& input, const std::string& key) {
  for (const Run& run : input.runs) {
    if (run.first_key == key) return run.first_key;
  }
  for (const Sample& sample : input.samples) {
    if (sample.key == key) return sample.key;
  }
  return "?";
}

Chunk ToChunk(const PlanInput& input, const NaivePart& part, std::uint32_t bucket) {
  Chunk chunk{.bucket = bucket};
  for (const NaiveRun& run : part) {
    RunSlice slice{.run = run.run, .bytes = run.bytes, .rows = run.rows};
    if (!run.starts_whole) slice.from_key = KeyOfInput(input, run.first);
    if (!run.ends_whole) slice.to_key = KeyOfInput(input, run.last);
    chunk.bytes += run.bytes;
    chunk.rows += run.rows;
    chunk.split |= run.oversized;
    chunk.runs.push_back(slice);
  }
  return chunk;
}

}  // namespace

Plan MakeNaivePlan(const PlanInput& input, const Limits& limits) {
  Plan plan;
  plan.stats.row_groups = static_cast<std::int64_t>(input.runs.size());
  if (input.runs.empty()) plan.stats.overlap_depth_max = 0;
  std::vector<std::uint32_t> buckets;
  for (const Run& run : input.runs) {
    if (std::ranges::count(buckets, run.bucket) == 0) buckets.push_back(run.bucket);
  }
  for (const std::uint32_t bucket : buckets) {
    const bool sorted = !input.buckets[bucket].key_types.empty();
    NaivePart runs;
    for (std::uint32_t i = 0; i < input.runs.size(); ++i) {
      if (input.runs[i].bucket == bucket) runs.push_back(ToNaive(input, i));
    }
    std::ranges::stable_sort(runs, {}, [&](const NaiveRun& run) {
      const Run& source = input.runs[run.run];
      return std::tuple(run.first, input.segments[source.segment], source.row_group);
    });
    const std::vector<NaivePart> chunks = MergeSmall(
        PackBucket(runs, sorted, limits, plan.stats), runs, limits, plan.stats);
    if (sorted) {
      plan.stats.overlap_depth_max =
          std::max(plan.stats.overlap_depth_max.value_or(0), Depth(chunks));
    }
    for (const NaivePart& chunk : chunks) {
      plan.chunks.push_back(ToChunk(input, chunk, bucket));
    }
  }
  return plan;
}

}  // namespace firn::planner
