#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/core/test_seed.h"
#include "firn/planner/key_range.h"
#include "firn/planner/naive_plan.h"
#include "firn/planner/notation.h"
#include "firn/planner/plan.h"

namespace firn::planner {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : runtime_(seed) {}

  std::int64_t Between(std::int64_t low, std::int64_t high) {
    const auto width = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<std::int64_t>(runtime_.Random64() % width);
  }
  bool OneIn(std::int64_t n) { return Between(1, n) == 1; }

 private:
  FakeRuntime runtime_;
};

/// Keys of one or two letters, so that some are prefixes of others.
std::string RandomKey(Dice& dice, char last_letter) {
  std::string key(1, static_cast<char>(dice.Between('a', last_letter)));
  if (dice.OneIn(4)) key += static_cast<char>(dice.Between('a', 'c'));
  return key;
}

Runs::Description RandomRun(Dice& dice, char last_letter) {
  Runs::Description run{.first = RandomKey(dice, last_letter),
                        .last = RandomKey(dice, last_letter),
                        .bytes = dice.Between(0, 40),
                        .rows = dice.Between(0, 100)};
  if (run.last < run.first) std::swap(run.first, run.last);
  if (dice.OneIn(12)) run.last = run.first;
  run.unbounded = dice.OneIn(15);
  std::vector<std::string> keys;
  std::vector<std::int64_t> sixteenths;
  for (std::int64_t i = dice.Between(0, 5); i > 0; --i) {
    const std::string key = RandomKey(dice, last_letter);
    if (key < run.first || (!run.unbounded && key > run.last)) continue;
    keys.push_back(key);
    sixteenths.push_back(dice.Between(0, 16));
  }
  std::ranges::sort(keys);
  std::ranges::sort(sixteenths);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    run.samples.emplace_back(keys[i], static_cast<double>(sixteenths[i]) / 16);
  }
  if (run.unbounded) run.last.clear();
  return run;
}

Runs RandomRuns(Dice& dice, std::int64_t runs_max) {
  Runs runs;
  const char last_letter = static_cast<char>(dice.Between('b', 'p'));
  const bool sorted = !dice.OneIn(10);
  const std::int64_t partitions = dice.Between(1, 3);
  for (std::int64_t i = dice.Between(0, runs_max); i > 0; --i) {
    Runs::Description run = RandomRun(dice, last_letter);
    run.partition =
        std::string(1, static_cast<char>(dice.Between('P', 'O' + partitions)));
    if (!sorted) {
      run.sorted = run.unbounded = false;
      run.first = run.last = "";
      run.samples.clear();
    }
    runs.Add(run);
  }
  return runs;
}

Limits RandomLimits(Dice& dice) {
  const std::int64_t upper = dice.Between(1, 100);
  return {.lower_bound_input_bytes_per_task = dice.Between(0, upper),
          .upper_bound_input_bytes_per_task = upper,
          .max_row_groups_per_task = dice.OneIn(2) ? 1000 : dice.Between(1, 8),
          .oversized_clusters = dice.OneIn(2) ? OversizedClusters::kCutAtKeys
                                              : OversizedClusters::kSplitRowGroups,
          .non_empty_partition_fields = {}};
}

std::string Describe(const PlanInput& input, const Limits& limits) {
  std::string text = fmt::format(
      "lower {} upper {} cap {} {}:", limits.lower_bound_input_bytes_per_task,
      limits.upper_bound_input_bytes_per_task, limits.max_row_groups_per_task,
      limits.oversized_clusters == OversizedClusters::kCutAtKeys ? "cut" : "split");
  for (const Run& run : input.runs) {
    text += fmt::format(
        " {}/{}-{}{}:{}", std::get<std::string>(input.buckets[run.bucket].partition[0]),
        run.first_key, run.last_key, run.last_key_unbounded ? "~" : "", run.bytes);
    for (std::uint32_t i = 0; i < run.sample_count; ++i) {
      const Sample& sample = input.samples[run.first_sample + i];
      text += fmt::format("{}{}={}", i == 0 ? "@" : ",", sample.key, sample.fraction);
    }
  }
  return text;
}

void ExpectSamePlan(const PlanInput& input, const Limits& limits) {
  const Plan plan = MakePlan(input, limits, {}).ValueOrDie();
  const Plan naive = MakeNaivePlan(input, limits);
  ASSERT_EQ(ToText(input, plan), ToText(input, naive)) << Describe(input, limits);
  ASSERT_EQ(ToText(plan.stats), ToText(naive.stats)) << Describe(input, limits);
  for (std::size_t i = 0; i < plan.chunks.size(); ++i) {
    ASSERT_EQ(plan.chunks[i].rows, naive.chunks[i].rows) << Describe(input, limits);
    for (std::size_t j = 0; j < plan.chunks[i].runs.size(); ++j) {
      ASSERT_EQ(plan.chunks[i].runs[j].rows, naive.chunks[i].runs[j].rows);
    }
  }
}

TEST(PlanModelTest, EveryTwoAndThreeSmallRuns) {
  std::vector<std::string> runs;
  for (const char* range : {"a", "b", "c", "a-b", "b-c", "a-c", "a-", "b-c@c=0.5",
                            "a-c@b=0.5", "a-c@b=0.25,b=0.75", "a-b@a=0.5,b=1"}) {
    const std::string text = range;
    const std::size_t at = std::min(text.find('@'), text.size());
    for (const char* bytes : {":1", ":3", ":7"}) {
      runs.push_back(text.substr(0, at) + bytes + text.substr(at));
    }
  }
  for (const auto mode :
       {OversizedClusters::kCutAtKeys, OversizedClusters::kSplitRowGroups}) {
    const Limits limits{.lower_bound_input_bytes_per_task = 2,
                        .upper_bound_input_bytes_per_task = 4,
                        .max_row_groups_per_task = 2,
                        .oversized_clusters = mode,
                        .non_empty_partition_fields = {}};
    for (const std::string& a : runs) {
      for (const std::string& b : runs) {
        ExpectSamePlan(Runs(a + " " + b).input(), limits);
        for (const std::string& c : runs) {
          const Runs three(a + " " + b + " " + c);
          ExpectSamePlan(three.input(), limits);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(PlanModelTest, RandomRuns) {
  for (std::uint64_t seed = TestSeed(); seed < TestSeed() + 20'000; ++seed) {
    Dice dice(seed);
    const Runs runs = RandomRuns(dice, 12);
    ExpectSamePlan(runs.input(), RandomLimits(dice));
    if (HasFatalFailure()) FAIL() << "FIRN_TEST_SEED=" << seed;
  }
}

/// The slices of each run, in the order of chunks.
std::map<std::uint32_t, std::vector<RunSlice>> SlicesByRun(const Plan& plan) {
  std::map<std::uint32_t, std::vector<RunSlice>> slices;
  for (const Chunk& chunk : plan.chunks) {
    for (const RunSlice& slice : chunk.runs) slices[slice.run].push_back(slice);
  }
  return slices;
}

void ExpectSlicesChain(const Run& run, const std::vector<RunSlice>& slices) {
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  ASSERT_FALSE(slices.front().from_key);
  ASSERT_FALSE(slices.back().to_key);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (i > 0) {
      ASSERT_TRUE(slices[i].from_key);
      ASSERT_EQ(slices[i].from_key, slices[i - 1].to_key);
      ASSERT_GT(*slices[i].from_key, run.first_key);
      ASSERT_TRUE(run.last_key_unbounded || *slices[i].from_key <= run.last_key);
      const std::string_view before = slices[i - 1].from_key.value_or(run.first_key);
      ASSERT_LT(before, *slices[i].from_key);
    }
    ASSERT_GE(slices[i].bytes, 0);
    ASSERT_GE(slices[i].rows, 0);
    bytes += slices[i].bytes;
    rows += slices[i].rows;
  }
  ASSERT_EQ(bytes, run.bytes);
  ASSERT_EQ(rows, run.rows);
}

void ExpectChunkAddsUp(const PlanInput& input, const Chunk& chunk) {
  ASSERT_FALSE(chunk.runs.empty());
  std::int64_t bytes = 0;
  std::int64_t rows = 0;
  for (const RunSlice& slice : chunk.runs) {
    ASSERT_EQ(input.runs[slice.run].bucket, chunk.bucket);
    bytes += slice.bytes;
    rows += slice.rows;
  }
  ASSERT_EQ(bytes, chunk.bytes);
  ASSERT_EQ(rows, chunk.rows);
}

bool CutsAtKeys(const Limits& limits) {
  return limits.oversized_clusters == OversizedClusters::kCutAtKeys;
}

void ExpectChunkIsSized(const Chunk& chunk, const Limits& limits, const Stats& stats) {
  const std::int64_t upper = limits.upper_bound_input_bytes_per_task;
  if (chunk.bytes <= upper) return;
  ASSERT_TRUE(chunk.split);
  const bool is_one_run = chunk.runs.size() == 1;
  const bool is_uneven = CutsAtKeys(limits) && chunk.bytes <= upper + upper / 4;
  ASSERT_TRUE(is_one_run || is_uneven);
  ASSERT_TRUE(is_uneven || !CutsAtKeys(limits) || stats.uncut_parts > 0);
}

void ExpectDoNotJoin(const Chunk& left, const Chunk& right, const Limits& limits) {
  if (left.bucket != right.bucket) return;
  const auto runs = static_cast<std::int64_t>(left.runs.size() + right.runs.size());
  const bool fits = left.bytes + right.bytes <= limits.upper_bound_input_bytes_per_task &&
                    runs <= limits.max_row_groups_per_task;
  ASSERT_FALSE(fits && right.bytes < limits.lower_bound_input_bytes_per_task);
}

/// Whatever the rules: each row in one chunk, chunks apart where that is promised.
void ExpectSoundPlan(const PlanInput& input, const Limits& limits) {
  const Plan plan = MakePlan(input, limits, {}).ValueOrDie();
  const auto slices = SlicesByRun(plan);
  ASSERT_EQ(slices.size(), input.runs.size());
  for (const auto& [run, of_run] : slices) ExpectSlicesChain(input.runs[run], of_run);
  for (const Chunk& chunk : plan.chunks) {
    ExpectChunkAddsUp(input, chunk);
    ExpectChunkIsSized(chunk, limits, plan.stats);
  }
  for (std::size_t i = 1; i < plan.chunks.size(); ++i) {
    ExpectDoNotJoin(plan.chunks[i - 1], plan.chunks[i], limits);
  }
  const bool promises_apart = CutsAtKeys(limits) ? plan.stats.uncut_parts == 0
                                                 : plan.stats.oversized_clusters == 0;
  if (promises_apart) {
    ASSERT_LE(plan.stats.overlap_depth_max.value_or(1), 1);
  }
}

TEST(PlanPropertyTest, RandomLargerInputs) {
  for (std::uint64_t seed = TestSeed(); seed < TestSeed() + 500; ++seed) {
    Dice dice(seed);
    const Runs runs = RandomRuns(dice, 300);
    const Limits limits = RandomLimits(dice);
    ExpectSoundPlan(runs.input(), limits);
    if (HasFatalFailure()) {
      FAIL() << "FIRN_TEST_SEED=" << seed << " " << Describe(runs.input(), limits);
    }
  }
}

}  // namespace
}  // namespace firn::planner
