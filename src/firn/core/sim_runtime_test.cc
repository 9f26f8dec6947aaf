#include "firn/core/sim_runtime.h"

#include <exception>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/bounded_queue.h"

namespace firn {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr std::uint64_t kSeeds = 100;

/// Producers and consumers around a queue of one place.
std::string PassNumbers(SimNode& node) {
  BoundedQueue<int> queue(node, 1);
  std::string received;
  Mutex mutex(node);
  const auto consume = [&](char name) {
    while (const auto number = queue.Pop()) {
      MutexLock lock(mutex);
      received += fmt::format("{}{} ", name, *number);
    }
  };
  Thread first(node, "first", [&] { consume('a'); });
  Thread second(node, "second", [&] { consume('b'); });
  for (int i = 0; i < 5; ++i) queue.Push(i);
  queue.Close();
  first.Join();
  second.Join();
  return received;
}

struct PassedNumbers {
  std::string received;
  std::uint64_t trace_hash = 0;

  auto operator<=>(const PassedNumbers&) const = default;
};

PassedNumbers PassNumbers(std::uint64_t seed) {
  SimRuntime sim({.seed = seed});
  std::string received = PassNumbers(sim.NewNode("node"));
  return {std::move(received), sim.trace_hash()};
}

TEST(SimRuntimeTest, TheSameSeedGivesTheSameRun) {
  std::set<PassedNumbers> runs;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    runs.insert(PassNumbers(seed));
    EXPECT_EQ(PassNumbers(seed), PassNumbers(seed)) << seed;
  }
  EXPECT_GT(runs.size(), kSeeds / 2);
}

/// What two threads make of a counter that they read and write in two steps.
int Count(std::uint64_t seed) {
  SimRuntime sim({.seed = seed});
  SimNode& node = sim.NewNode("node");
  int counter = 0;
  const auto add_one = [&] {
    const int before = counter;
    node.Yield();
    counter = before + 1;
  };
  {
    Thread first(node, "first", add_one);
    Thread second(node, "second", add_one);
  }
  return counter;
}

TEST(SimRuntimeTest, FindsARace) {
  std::set<int> counts;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) counts.insert(Count(seed));
  EXPECT_THAT(counts, ElementsAre(1, 2));
}

/// True if a waiter that takes each wake-up for the event goes on before it.
bool WakesUpTooEarly(std::uint64_t seed) {
  SimRuntime sim({.seed = seed});
  SimNode& node = sim.NewNode("node");
  Mutex mutex(node);
  CondVar changed(node);
  bool has_happened = false;
  bool was_early = false;
  Thread waiter(node, "waiter", [&] {
    MutexLock lock(mutex);
    if (!has_happened) changed.Wait(mutex);
    was_early = !has_happened;
  });
  node.Sleep(milliseconds(1));
  {
    MutexLock lock(mutex);
    has_happened = true;
    changed.NotifyAll();
  }
  waiter.Join();
  return was_early;
}

TEST(SimRuntimeTest, FindsAWaitWithoutALoop) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    found += WakesUpTooEarly(seed) ? 1 : 0;
  }
  EXPECT_GT(found, 0);
  EXPECT_LT(found, kSeeds / 2);
}

void LockInTwoOrders() {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SimRuntime sim({.seed = seed});
    SimNode& node = sim.NewNode("node");
    Mutex left(node);
    Mutex right(node);
    const auto lock_both = [](Mutex& one, Mutex& other) {
      MutexLock first(one);
      MutexLock second(other);
    };
    Thread first(node, "first", [&] { lock_both(left, right); });
    Thread second(node, "second", [&] { lock_both(right, left); });
  }
}

TEST(SimRuntimeDeathTest, ADeadlockIsReportedWithAllThreads) {
  EXPECT_DEATH(LockInTwoOrders(),
               "every thread waits for another one .seed [0-9]+, .*\n"
               "  main: waits for the end of a thread, .*\n"
               "  node/first: waits for a lock, .*\n"
               "  node/second: waits for a lock");
}

TEST(SimRuntimeDeathTest, ARunWithoutEndIsEnded) {
  const auto yield_for_ever = [] {
    SimRuntime sim({.steps_max = 1000});
    SimNode& node = sim.NewNode("node");
    for (;;) node.Yield();
  };
  EXPECT_DEATH(yield_for_ever(), "it may never end .seed 1, step 1001");
}

TEST(SimRuntimeTest, TimeMovesOnlyWhileAllWait) {
  SimRuntime sim({});
  SimNode& node = sim.NewNode("node");
  std::vector<std::string> events;
  Thread busy(node, "busy", [&] {
    for (int i = 0; i < 1000; ++i) node.Yield();
    events.emplace_back("busy");
  });
  const WallTime before = node.Now();
  node.Sleep(milliseconds(5));
  events.emplace_back("slept");
  EXPECT_EQ(node.Now() - before, milliseconds(5));
  busy.Join();
  EXPECT_THAT(events, ElementsAre("busy", "slept"));
}

TEST(SimRuntimeTest, AWaitEndsWithItsTime) {
  SimRuntime sim({});
  SimNode& node = sim.NewNode("node");
  Mutex mutex(node);
  CondVar never(node);
  const BootTime before = node.SinceBoot();
  MutexLock lock(mutex);
  while (never.WaitFor(mutex, milliseconds(7))) {
  }
  EXPECT_EQ(node.SinceBoot() - before, milliseconds(7));
}

TEST(SimRuntimeTest, ANodeCrashesAtAnyOfItsSteps) {
  std::set<int> reached;
  for (std::int64_t steps = 1; steps <= 5; ++steps) {
    SimRuntime sim({});
    SimNode& node = sim.NewNode("node");
    SimNode& other = sim.NewNode("other");
    node.CrashAfter(steps);
    Thread thread(node, "thread", [&] {
      int step = 0;
      for (; !node.crash_token().stop_requested(); ++step) node.Yield();
      reached.insert(step);
    });
    thread.Join();
    EXPECT_TRUE(node.crashed());
    EXPECT_FALSE(other.crashed());
  }
  EXPECT_THAT(reached, ElementsAre(1, 2, 3, 4, 5));
}

TEST(SimRuntimeTest, AGhostWaitsForNoTime) {
  SimRuntime sim({});
  SimNode& node = sim.NewNode("node");
  SimNode& other = sim.NewNode("other");
  const BootTime before = other.SinceBoot();
  Thread sleeper(node, "sleeper", [&] {
    node.Sleep(hours(1));
    node.Sleep(hours(1));
  });
  other.Sleep(milliseconds(1));
  node.Crash();
  sleeper.Join();
  EXPECT_EQ(other.SinceBoot() - before, milliseconds(1));
}

TEST(SimRuntimeTest, APausedNodeGoesOnLater) {
  SimRuntime sim({});
  SimNode& node = sim.NewNode("node");
  SimNode& other = sim.NewNode("other");
  const BootTime before = node.SinceBoot();
  Thread thread(node, "thread", [&] { node.Pause(hours(1)), node.Yield(); });
  other.Sleep(milliseconds(1));
  EXPECT_EQ(other.SinceBoot() - before, milliseconds(1));
  thread.Join();
  EXPECT_EQ(node.SinceBoot() - before, hours(1));
}

TEST(SimRuntimeTest, EachThreadHandlesItsOwnExceptions) {
  SimRuntime sim({.switch_percent = 100});
  SimNode& node = sim.NewNode("node");
  std::vector<std::string> caught;
  const auto fail = [&](const std::string& name) {
    try {
      throw std::runtime_error(name);
    } catch (const std::runtime_error&) {
      for (int i = 0; i < 10; ++i) node.Yield();
      try {
        throw;
      } catch (const std::runtime_error& again) {
        caught.push_back(name + again.what());
      }
    }
  };
  {
    Thread first(node, "first", [&] { fail("a"); });
    Thread second(node, "second", [&] { fail("b"); });
    fail("c");
  }
  EXPECT_THAT(caught, UnorderedElementsAre("aa", "bb", "cc"));
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST(SimRuntimeTest, AClockJumpsAlone) {
  SimRuntime sim({});
  SimNode& node = sim.NewNode("node");
  SimNode& other = sim.NewNode("other");
  node.JumpClock(hours(-2));
  EXPECT_EQ(other.Now() - node.Now(), hours(2));
  EXPECT_EQ(other.SinceBoot(), node.SinceBoot());
}

}  // namespace
}  // namespace firn
