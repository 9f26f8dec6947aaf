#include "rules.h"

#define FIRN_GUARDS_MAY_BE_OFF
#include "firn/core/guard.h"

namespace firn {
namespace sim {
namespace {

std::optional<Rule> g_broken;

}  // namespace

const std::vector<RuleName>& RuleNames() {
  static const std::vector<RuleName> names = {
      {Rule::kChain, "chain"},
      {Rule::kPositions, "positions"},
      {Rule::kRollbackStop, "rollback stop"},
      {Rule::kCleaner, "cleaner"},
      {Rule::kNamedFiles, "named files"},
      {Rule::kUnknownOutcome, "unknown outcome"},
      {Rule::kAcknowledgement, "acknowledgement"},
      {Rule::kFrozenBytes, "frozen bytes"},
      {Rule::kShardSelfCheck, "shard self-check"},
  };
  return names;
}

void BreakRule(std::optional<Rule> rule) { g_broken = rule; }
bool IsBroken(Rule rule) { return g_broken == rule; }

}  // namespace sim

bool IsOff(Guard guard) {
  switch (guard) {
    case Guard::kChain:
      return sim::IsBroken(sim::Rule::kChain);
    case Guard::kPositions:
      return sim::IsBroken(sim::Rule::kPositions) || sim::IsBroken(sim::Rule::kChain);
    case Guard::kRollbackStop:
      return sim::IsBroken(sim::Rule::kRollbackStop);
    case Guard::kPassed:
      return sim::IsBroken(sim::Rule::kCleaner);
    case Guard::kNamed:
      return sim::IsBroken(sim::Rule::kNamedFiles);
  }
  return false;
}

}  // namespace firn
