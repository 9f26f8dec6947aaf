#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace firn::sim {

/// Rules without which records are lost or landed twice. A run can be made in which one
/// is not kept, to see that the simulation notices.
enum class Rule {
  /// A batch is committed only on top of its parent, from the table's positions.
  kChain,
  /// A batch's ranges start at the table's positions.
  kPositions,
  /// Nothing is committed to a table that was rolled back.
  kRollbackStop,
  /// Only segments that the position has passed are deleted.
  kCleaner,
  /// Data files are deleted only of batches that no snapshot names.
  kNamedFiles,
  /// A commit that may have landed deletes no files.
  kUnknownOutcome,
  /// A record is acknowledged once its segment is durable, not before.
  kAcknowledgement,
  /// All attempts to write a segment send the same bytes.
  kFrozenBytes,
  /// A writer does not go on in a shard that readers may take for dead.
  kShardSelfCheck,
};

struct RuleName {
  Rule rule;
  std::string_view name;
};

const std::vector<RuleName>& RuleNames();

/// Holds for the whole process, until the next call; nothing = all rules are kept.
void BreakRule(std::optional<Rule> rule);
bool IsBroken(Rule rule);

}  // namespace firn::sim
