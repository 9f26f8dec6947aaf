#include <cstdlib>
#include <iostream>
#include <optional>

#include <gtest/gtest.h>

#include "simulation.h"

namespace firn::sim {
namespace {

constexpr std::uint64_t kSeedsInTests = 100;

std::optional<std::uint64_t> NumberIn(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

/// FIRN_SIM_SEED=n runs one seed, FIRN_SIM_SEEDS=n those from 1 to n.
class SimulationTest : public testing::Test {
 protected:
  SimulationTest() {
    if (const auto seed = NumberIn("FIRN_SIM_SEED")) {
      first_ = *seed;
      last_ = *seed;
      return;
    }
    last_ = NumberIn("FIRN_SIM_SEEDS").value_or(kSeedsInTests);
  }

  std::uint64_t first_ = 1;
  std::uint64_t last_ = kSeedsInTests;
};

TEST_F(SimulationTest, NothingIsLostAndNothingTwice) {
  std::size_t acknowledged = 0;
  for (std::uint64_t seed = first_; seed <= last_; ++seed) {
    const Outcome outcome = Simulate(seed);
    acknowledged += outcome.acknowledged;
    for (const std::string& problem : outcome.problems) {
      ADD_FAILURE() << "FIRN_SIM_SEED=" << seed << ": " << problem;
    }
  }
  EXPECT_GT(acknowledged, 0);
  std::cout << fmt::format("seeds {} to {}: {} records acknowledged\n", first_, last_,
                           acknowledged);
}

TEST_F(SimulationTest, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(Simulate(seed), Simulate(seed)) << seed;
  }
}

}  // namespace
}  // namespace firn::sim
