#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <set>

#include <gtest/gtest.h>

#include "firn/planner/notation.h"
#include "firn/planner/plan.h"

namespace firn::planner {
namespace {

// A plan has no seam at which a test could stop it, and needs none for its own sake. But
// it allocates in every phase, always alike: the n-th allocation is a place in it.
thread_local std::int64_t allocations = 0;
thread_local std::int64_t stop_at = 0;
thread_local StopSource* stop_source = nullptr;

void* Allocate(std::size_t size) {
  if (++allocations == stop_at) stop_source->RequestStop();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

struct StoppedPlan {
  bool is_cancelled = false;
  /// Until the plan returned.
  std::int64_t allocations = 0;
};

StoppedPlan PlanStoppedAt(std::int64_t allocation, const PlanInput& input) {
  StopSource source;
  stop_source = &source;
  stop_at = allocation;
  allocations = 0;
  const Result<Plan> plan = MakePlan(input, {}, source.token());
  stop_at = 0;
  return {.is_cancelled = IsError(plan.status(), ErrorKind::kCancelled),
          .allocations = allocations};
}

/// Of one partition; some overlap.
Runs ThousandRuns() {
  Runs runs;
  for (std::int64_t i = 0; i < 1000; ++i) {
    runs.Add({.first = fmt::format("{:05}", i),
              .last = fmt::format("{:05}", i + i % 3),
              .bytes = 8 << 20});
  }
  return runs;
}

TEST(PlanStopTest, IsHeardAtTheEndOfThePhaseItFallsInto) {
  const Runs runs = ThousandRuns();
  const StoppedPlan whole = PlanStoppedAt(0, runs.input());
  ASSERT_FALSE(whole.is_cancelled);
  std::set<std::int64_t> ends;
  for (std::int64_t n = 1; n <= whole.allocations; ++n) {
    const StoppedPlan stopped = PlanStoppedAt(n, runs.input());
    ASSERT_TRUE(stopped.is_cancelled) << "at allocation " << n;
    ends.insert(stopped.allocations);
  }
  // Check the input, bucket, sort, cluster, pack, merge small.
  EXPECT_EQ(ends.size(), 6U);
}

}  // namespace
}  // namespace firn::planner

void* operator new(std::size_t size) { return firn::planner::Allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
