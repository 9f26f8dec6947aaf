#pragma once

#include <string>

#include "firn/planner/partition_view.h"

namespace firn::planner {

struct PictureOptions {
  /// Columns of the terminal; at least 72 are used.
  int width = 80;
  /// Partitions that are drawn, and files of each that are listed; what is beyond is
  /// summed up in a line.
  int partitions_max = 24;
  int files_max = 8;
};

/// A plan for a terminal, of bounded height. Of each partition:
///
///   day=2026-01-01
///     3 runs in 1 cluster, 196.0 MiB, 3,000 rows → 2 files
///     keys      account=acme, (service, ts desc)
///               (api, 2026-01-01T10:00:00)           …           (web,
///               2026-01-01T09:00:00)
///     runs      ├─────────────┤    ├────────────┤
///                        ├───────────┤
///     clusters  ╰──────────── 196.0 MiB ────────╯
///     files     ┣━━ 1: 98.0 MiB ━━━┫┣━━ 2 ━━━━━━┫
///
///      1   98.0 MiB  ███████▌  ╎    1,600 rows     2 runs (1 in part)
///                    (api, 2026-01-01T10:00:00) to before (k, 2026-01-01T09:30:00)
///      2   ...
///
/// Left to right runs the key space, stretched so that each key at which a run or a file
/// begins or ends takes equal room. Where too many runs overlap for a line each, a curve
/// shows how many there are. The ticks in the bars of sizes are the bounds. Keys and
/// partition values are printed without control characters. UTF-8.
std::string DrawPlan(const ExplainedPlan& explained, const PictureOptions& options = {});

}  // namespace firn::planner
