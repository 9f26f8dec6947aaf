#pragma once

#include <functional>
#include <optional>
#include <utility>

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
  /// No other attempt would do better. Whoever asks has to look all the same.
  kFail,
};

/// Decides how often a change of a table, on top of whatever others commit, is tried. For
/// one change, used by one thread.
class CommitRetry {
 public:
  /// `runtime` must outlive it. Once `stop` asks for it, no wait goes on and no attempt
  /// is made anew.
  explicit CommitRetry(Runtime& runtime, StopToken stop = {})
      : runtime_(runtime), stop_(std::move(stop)) {}

  /// The number of the attempt that is being made, from 1 on.
  int attempt() const { return attempt_; }

  /// Told why the attempt failed. Waits if it is worth another.
  AfterFailure After(const Status& failure);

  /// Whether the attempts were used up, rather than the last one failed for good.
  bool gave_up() const { return gave_up_; }

  /// Why the last attempt failed: OutcomeUnknown if any one may have been applied, else
  /// Cancelled if it was the last one because of a stop.
  Status Failure() const;

 private:
  AfterFailure GiveUp();
  bool IsUnavailableForTooLong(const Status& failure);

  Runtime& runtime_;
  const StopToken stop_;
  int attempt_ = 1;
  BootTime last_answer_ = runtime_.SinceBoot();
  Status failure_;
  bool is_unknown_ = false;
  bool gave_up_ = false;
};

/// Makes attempts until one succeeds or `retry` says that it was the last one. Then
/// `look` gives what an attempt may have done all the same, nothing if that is not to be
/// seen. It is asked after a refusal, too: a proxy that lost the answer to a request
/// sends it again, and what a server says to one that it has applied already is any 4xx.
template <typename Done>
Result<Done> TryCommit(CommitRetry& retry, const std::function<Result<Done>()>& attempt,
                       const std::function<std::optional<Done>()>& look) {
  while (true) {
    Result<Done> done = attempt();
    if (done.ok()) return done;
    const AfterFailure next = retry.After(done.status());
    if (next == AfterFailure::kTryAgain) continue;
    std::optional<Done> found = look();
    if (found.has_value()) return *std::move(found);
    return retry.gave_up() ? retry.Failure() : done.status();
  }
}

}  // namespace firn::commit
