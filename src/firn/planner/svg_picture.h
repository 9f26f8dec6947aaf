#pragma once

#include <string>

#include "firn/planner/partition_view.h"

namespace firn::planner {

struct SvgOptions {
  /// Partitions that are drawn, and files of each that are listed; what is beyond is
  /// summed up in a line.
  int partitions_max = 40;
  int files_max = 16;
};

/// A plan as an SVG document of its own: no script, no font, no other file.
///
/// A panel for each partition. Left to right runs its key space, stretched as in
/// text_picture.h. Runs are bars, in lanes where they overlap, in the colour of the file
/// that they (or their parts) go to; clusters are shaded behind them, those over the
/// upper bound in another shade. Too many runs for bars are a curve of how many lie over
/// one key. Beside it stand the files' sizes against the bounds. Bars tell more in a tool
/// tip. Light, or dark where the reader prefers that.
std::string DrawPlanAsSvg(const ExplainedPlan& explained, const SvgOptions& options = {});

}  // namespace firn::planner
