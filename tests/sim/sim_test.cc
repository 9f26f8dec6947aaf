#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <optional>
#include <regex>

#include <gtest/gtest.h>

#include "rules.h"
#include "simulation.h"

namespace firn::sim {
namespace {

constexpr std::uint64_t kSeedsInTests = 500;
constexpr std::uint64_t kSeedsToFindABrokenRule = 2000;

/// The heap keeps what it once got from the system.
[[maybe_unused]] const bool kKeepsItsHeap = [] {
  constexpr int kKeptBytes = 1 << 30;
  constexpr int kGrowthBytes = 16 << 20;
  return mallopt(M_TOP_PAD, kGrowthBytes) + mallopt(M_TRIM_THRESHOLD, kKeptBytes) +
             mallopt(M_MMAP_THRESHOLD, kKeptBytes) >
         0;
}();

std::optional<std::uint64_t> NumberIn(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

/// FIRN_SIM_SEED=n runs one seed, FIRN_SIM_SEEDS=n those from FIRN_SIM_FIRST, else 1, to
/// n.
class SimulationTest : public testing::Test {
 protected:
  SimulationTest() {
    if (const auto seed = NumberIn("FIRN_SIM_SEED")) {
      first_ = *seed;
      last_ = *seed;
      return;
    }
    first_ = NumberIn("FIRN_SIM_FIRST").value_or(1);
    last_ = NumberIn("FIRN_SIM_SEEDS").value_or(kSeedsInTests);
  }

  std::uint64_t first_ = 1;
  std::uint64_t last_ = kSeedsInTests;
};

TEST_F(SimulationTest, NothingIsLostAndNothingTwice) {
  std::size_t acknowledged = 0;
  std::size_t shared_commits = 0;
  const std::clock_t begin = std::clock();
  for (std::uint64_t seed = first_; seed <= last_; ++seed) {
    const Outcome outcome = Simulate(seed);
    acknowledged += outcome.acknowledged;
    shared_commits += outcome.shared_commits;
    for (const std::string& problem : outcome.problems) {
      ADD_FAILURE() << "FIRN_SIM_SEED=" << seed << ": " << problem;
    }
  }
  const auto seeds = static_cast<double>(last_ - first_ + 1);
  const double cpu_ms = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_GT(acknowledged, 0);
  // Else no batch was ever planned while another one waited.
  const bool has_many_seeds = seeds >= kSeedsInTests;
  EXPECT_TRUE(shared_commits > 0 || !has_many_seeds);
  std::cout << fmt::format(
      "seeds {} to {}: {} records acknowledged, {} commits of several batches, {:.1f} ms "
      "CPU per seed\n",
      first_, last_, acknowledged, shared_commits, cpu_ms / seeds);
}

TEST_F(SimulationTest, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(Simulate(seed), Simulate(seed)) << seed;
  }
}

/// Of a rule, as docs/simulation.md lists it.
std::optional<std::uint64_t> DocumentedSeed(std::string_view rule) {
  std::ifstream document(FIRN_SOURCE_DIR "/docs/simulation.md");
  const std::regex row(fmt::format("\\| {} \\|.*\\| (\\d+) \\|", rule));
  for (std::string line; std::getline(document, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row)) return std::stoull(match[1]);
  }
  return std::nullopt;
}

bool Finds(std::uint64_t seed, Rule broken) {
  return !Simulate(seed, broken).problems.empty();
}

std::optional<std::uint64_t> FirstThatFinds(Rule broken) {
  for (std::uint64_t seed = 1; seed <= kSeedsToFindABrokenRule; ++seed) {
    if (Finds(seed, broken)) return seed;
  }
  return std::nullopt;
}

class RuleTest : public testing::TestWithParam<RuleName> {};

/// Another step anywhere makes another run of each seed, so the documented one is only
/// tried first; FIRN_SIM_SEARCH=1 looks for the first all the same.
TEST_P(RuleTest, IsNoticedWhenItIsBroken) {
  const auto [rule, name] = GetParam();
  std::optional<std::uint64_t> seed = DocumentedSeed(name);
  ASSERT_TRUE(seed.has_value()) << name << " is not in docs/simulation.md";
  if (NumberIn("FIRN_SIM_SEARCH") || !Finds(*seed, rule)) {
    seed = FirstThatFinds(rule);
    ASSERT_TRUE(seed.has_value());
    std::cout << fmt::format("for docs/simulation.md: {} is now found by seed {}\n", name,
                             *seed);
  }
  EXPECT_EQ(Simulate(*seed).problems, std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleTest, testing::ValuesIn(RuleNames()),
                         [](const auto& info) {
                           std::string name(info.param.name);
                           std::ranges::replace_if(
                               name, [](char c) { return c == ' ' || c == '-'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace firn::sim
