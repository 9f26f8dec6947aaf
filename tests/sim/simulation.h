#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rules.h"

namespace firn::sim {

/// What became of a run; equal for equal seeds.
struct Outcome {
  /// What must never be, in words; empty if all is well.
  std::vector<std::string> problems;
  std::uint64_t trace_hash = 0;
  std::int64_t steps = 0;
  std::size_t acknowledged = 0;
  /// Commits that took several batches.
  std::size_t shared_commits = 0;

  bool operator==(const Outcome&) const = default;
};

/// Runs the pipeline from clients to table in this process, as the seed says, and counts
/// in the end:
///   every acknowledged record is in the table exactly once, and no other one twice;
///   files of one shift are sorted, and do not overlap;
///   the positions never go back;
///   every live file is there, and none that a batch left behind which nobody can commit;
///   no process fails for good, takes more memory for buffers than it may, or keeps any.
/// A run that hangs ends the process (SimRuntime).
/// One run at a time in a process.
Outcome Simulate(std::uint64_t seed, std::optional<Rule> broken = std::nullopt);

}  // namespace firn::sim
