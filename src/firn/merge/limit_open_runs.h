#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "firn/core/status.h"
#include "firn/merge/run_reader.h"
#include "firn/merge/sorted_merge.h"

namespace firn::merge {

/// Where the rows of a first pass wait for the second one: a temporary file, since open
/// runs are what memory could not hold.
class RunSpool {
 public:
  virtual ~RunSpool() = default;

  /// Takes all rows of `rows`, which never come as whole row groups, and gives them back
  /// as one run with the same keys.
  virtual Result<std::unique_ptr<MergeInput>> Keep(SortedMerge& rows) = 0;
};

/// The most inputs of a sorted merge that are open at once, as their bounds say: the most
/// ranges that hold one key. O(n log n).
std::int64_t OverlapDepth(const std::vector<std::unique_ptr<MergeInput>>& inputs);

/// Makes inputs of which at most `max_open_runs` (2 at least) are open at once, and whose
/// merge gives the same rows in the same order.
///
/// An open run costs one batch of memory. As long as OverlapDepth allows, nothing
/// happens. Else the inputs of each cluster (ranges that touch, directly or through
/// others) that is too deep are merged in groups of neighbours in run order, each into
/// one run that `spool` keeps, if need be more than once; the others stay as they are.
/// `options` are those of the merge that follows; the batches of kept runs are its steps.
/// Fails with what a run or `spool` fails with.
Result<std::vector<std::unique_ptr<MergeInput>>> LimitOpenRuns(
    std::vector<std::unique_ptr<MergeInput>> inputs, std::int64_t max_open_runs,
    RunSpool& spool, MergeOptions options = {});

}  // namespace firn::merge
