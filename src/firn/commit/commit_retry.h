#pragma once

#include "firn/core/runtime.h"
#include "firn/core/status.h"

namespace firn::commit {

/// Commits that may fail and be tried again, before a committer gives up.
inline constexpr int kCommitAttemptsMax = 20;
/// The wait after the first failed attempt is random below this; the bound doubles with
/// each further attempt up to kCommitBackoffMax.
inline constexpr Duration kCommitBackoffFirst = std::chrono::milliseconds(50);
inline constexpr Duration kCommitBackoffMax = std::chrono::seconds(5);

/// How long a catalog or store that says "not now" is asked again.
inline constexpr Duration kUnavailableTimeMax = std::chrono::minutes(1);

/// What is to be done after an attempt that failed.
enum class AfterFailure {
  /// The same once more; the wait is over.
  kTryAgain,
  /// The attempts are used up. One of them may have been applied: whoever asks has to
  /// look, and to fail with Failure() if it was not.
  kGiveUp,
  /// No other attempt would do better.
  kFail,
};

/// Decides how often a change of a table, on top of whatever others commit, is tried. For
/// one change, used by one thread.
class CommitRetry {
 public:
  /// `runtime` must outlive it.
  explicit CommitRetry(Runtime& runtime) : runtime_(runtime) {}

  /// The number of the attempt that is being made, from 1 on.
  int attempt() const { return attempt_; }

  /// Told why the attempt failed. Waits if it is worth another.
  AfterFailure After(const Status& failure);

  /// Why the last attempt failed: OutcomeUnknown if any one may have been applied.
  Status Failure() const;

 private:
  bool IsUnavailableForTooLong(const Status& failure);

  Runtime& runtime_;
  int attempt_ = 1;
  BootTime last_answer_ = runtime_.SinceBoot();
  Status failure_;
  bool is_unknown_ = false;
};

}  // namespace firn::commit
