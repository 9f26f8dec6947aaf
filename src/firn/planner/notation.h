#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "firn/planner/plan.h"

namespace firn::planner {

/// Runs described in a few letters, for tests; keys are the letters themselves.
///
/// `d-f` a run from d to f; `d` all on one key; `d-` without an end. `d-f:30` of 30 bytes
/// (1 by default; rows are ten times that). `d-f@e` with a sample in the middle,
/// `d-f@e=0.25,f` with fractions. `P/d-f` in partition P, `~/d-f` in the null partition,
/// `P/` a run of a table without a sort order. Segments are "s000", "s001", ... in the
/// order of the text.
class Runs {
 public:
  explicit Runs(std::string_view text);
  Runs() = default;
  Runs(Runs&&) = default;

  struct Description {
    std::string partition = "P";
    bool partition_is_null = false;
    bool sorted = true;
    std::string first;
    std::string last;
    bool unbounded = false;
    std::int64_t bytes = 1;
    std::int64_t rows = 10;
    std::deque<std::pair<std::string, double>> samples = {};
  };
  void Add(const Description& description);

  const PlanInput& input() const { return input_; }

 private:
  std::string_view Keep(std::string key);
  std::uint32_t FindBucket(const Description& description);

  PlanInput input_;
  std::deque<std::string> keys_;
};

/// `[a-c b-e:5] [x-z]`: the chunks of a plan; `!` before one that holds a part of an
/// oversized cluster, `P/` for a partition other than P, `a-z[c,m):7` for a slice.
std::string ToText(const PlanInput& input, const Plan& plan);

/// The same, without sizes.
std::string ToShortText(const PlanInput& input, const Plan& plan);

std::string ToText(const Stats& stats);

}  // namespace firn::planner
