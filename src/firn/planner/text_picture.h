#pragma once

#include <string>

#include "firn/planner/legend.h"
#include "firn/planner/plan.h"

namespace firn::planner {

struct PictureOptions {
  /// Columns of the terminal; at least 40 are used.
  int width = 80;
  /// Partitions that are drawn, and files of each that are listed; what is beyond is
  /// summed up in a line.
  int partitions_max = 24;
  int files_max = 8;
};

/// A plan for a terminal, of bounded height. Of each partition:
///
///   day=2026-01-01
///     3 runs in 1 cluster, 96.0 MiB, 3,000 rows -> 2 files
///     runs over one key: 2, files over one key: 1
///     runs   ├─────────────┤    ├────────────┤
///                      ├───────────┤
///     files  ├────────1─────────┤├─────2─────┤
///        1    49.0 MiB    1,600 rows  2 runs (1 in part)
///            (a, 1) to before (k, 5)
///        2    ...
///
/// Left to right runs the key space, stretched so that each key at which a run or a file
/// begins or ends takes equal room. Where too many runs overlap for a line each, one line
/// shows by its height how many there are. Keys and partition values are printed without
/// control characters. UTF-8.
std::string DrawPlan(const PlanInput& input, const Plan& plan, const Legend& legend,
                     const PictureOptions& options = {});

}  // namespace firn::planner
