// The planner alone, on many runs, against a sort of their keys and nothing else.
//
//   cmake --preset release -DFIRN_BENCH=ON && cmake --build --preset release -t
//   planner_bench && build/release/bench/planner_bench
//
// Keys: (tenant prefix, service, time), 40 bytes. "disjoint": runs that follow each
// other; "overlapping": clusters of about ten runs; "oversized": each partition is one
// cluster far over the upper bound, which is cut at keys.

#include <algorithm>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "firn/core/runtime.h"
#include "firn/planner/plan.h"

namespace firn::planner {
namespace {

constexpr int kRepetitions = 3;
constexpr std::int64_t kRunBytes = 1 << 20;
constexpr std::uint32_t kPartitions = 50;
constexpr std::uint32_t kSegments = 1000;

struct Shape {
  const char* name;
  /// How many runs hold a key, about.
  std::int64_t depth;
  std::uint32_t samples;
};

/// A plan's input with the keys that it views.
struct BenchInput {
  PlanInput input;
  std::deque<std::string> keys;
};

std::string KeyAt(std::int64_t time) {
  return fmt::format("tenant-0001/service-{:04}/{:016}", time >> 20, time);
}

BenchInput MakeInput(std::uint32_t runs, const Shape& shape) {
  BenchInput bench;
  PlanInput& input = bench.input;
  for (std::uint32_t i = 0; i < kSegments; ++i) {
    input.segments.push_back(fmt::format("node-1/{:020}", i + 1));
  }
  input.specs.push_back({});
  for (std::uint32_t i = 0; i < kPartitions; ++i) {
    input.buckets.push_back({.key_types = "string asc nulls first",
                             .partition = {types::Value(std::int64_t{i})}});
  }
  std::mt19937_64 random(1);
  for (std::uint32_t i = 0; i < runs; ++i) {
    const std::int64_t from = static_cast<std::int64_t>(random() % (runs * 8ULL));
    const std::int64_t length = shape.depth * 8 * kPartitions;
    const auto key = [&](std::int64_t part, std::int64_t of) {
      return std::string_view(bench.keys.emplace_back(KeyAt(from + length * part / of)));
    };
    Run run{.segment = i % kSegments,
            .row_group = i / kSegments,
            .bucket = i % kPartitions,
            .bytes = kRunBytes,
            .rows = 1000,
            .first_key = key(0, 1),
            .sample_count = shape.samples,
            .first_sample = static_cast<std::uint32_t>(input.samples.size())};
    for (std::uint32_t s = 1; s <= shape.samples; ++s) {
      input.samples.push_back({.key = key(s, shape.samples + 1),
                               .fraction = static_cast<double>(s) / (shape.samples + 1)});
    }
    run.last_key = key(1, 1);
    input.runs.push_back(run);
  }
  return bench;
}

template <typename Work>
double MedianSeconds(Work work) {
  std::vector<double> seconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const BootTime begin = SystemRuntime().SinceBoot();
    work();
    const Duration taken = SystemRuntime().SinceBoot() - begin;
    seconds.push_back(static_cast<double>(taken.count()) / 1e6);
  }
  std::ranges::nth_element(seconds, seconds.begin() + kRepetitions / 2);
  return seconds[kRepetitions / 2];
}

double PlanSeconds(const BenchInput& bench, std::size_t& chunks) {
  return MedianSeconds([&] {
    const Plan plan = MakePlan(bench.input, {}, {}).ValueOrDie();
    chunks = plan.chunks.size();
  });
}

double SortSeconds(const BenchInput& bench) {
  return MedianSeconds([&] {
    std::vector<std::string_view> keys;
    for (const Run& run : bench.input.runs) keys.push_back(run.first_key);
    std::ranges::sort(keys);
  });
}

void Measure(const Shape& shape, std::uint32_t runs) {
  std::size_t chunks = 0;
  const BenchInput bench = MakeInput(runs, shape);
  const double one = PlanSeconds(bench, chunks);
  const double sort = SortSeconds(bench);
  const double four = PlanSeconds(MakeInput(4 * runs, shape), chunks);
  fmt::print(
      "{:<12} {:>7.0f} ms  {:>5.2f} x a sort of the keys  {:>5.2f} x for 4 x the runs\n",
      shape.name, one * 1e3, one / sort, four / one);
}

}  // namespace
}  // namespace firn::planner

int main() {
  constexpr std::uint32_t kRuns = 1'000'000;
  fmt::print("{} runs in {} partitions\n", kRuns, firn::planner::kPartitions);
  firn::planner::Measure({.name = "disjoint", .depth = 0, .samples = 0}, kRuns);
  firn::planner::Measure({.name = "overlapping", .depth = 1, .samples = 0}, kRuns);
  firn::planner::Measure({.name = "oversized", .depth = 100, .samples = 3}, kRuns / 4);
}
