#pragma once

#include <cstdint>
#include <memory>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/merge/limit_open_runs.h"
#include "firn/storage/scratch_file.h"

namespace firn::shift {

/// Keeps the runs that a first pass of a merge makes one behind the other in a scratch
/// file of the local disk (below $TMPDIR), which goes with the last of them. For one
/// thread, as are the runs and their readers.
class DiskRunSpool final : public merge::RunSpool {
 public:
  /// Keep fails with Cancelled if `stop`, which must outlive the spool, fires.
  explicit DiskRunSpool(const StopToken& stop) : stop_(stop) {}

  Result<std::unique_ptr<merge::MergeInput>> Keep(merge::SortedMerge& rows) override;

  /// Runs kept so far.
  std::int64_t runs() const { return runs_; }

 private:
  const StopToken& stop_;
  std::shared_ptr<storage::ScratchFile> file_;
  std::int64_t runs_ = 0;
};

}  // namespace firn::shift
