#include "firn/commit/commit_retry.h"

#include "firn/core/backoff.h"
#include "firn/core/stoppable_sleep.h"

namespace firn::commit {
namespace {

bool IsWorthRetrying(const Status& status) {
  return IsError(status, ErrorKind::kConflict) ||
         IsError(status, ErrorKind::kOutcomeUnknown) ||
         IsError(status, ErrorKind::kUnavailable);
}

constexpr Backoff kBackoff{.first = kCommitBackoffFirst, .max = kCommitBackoffMax};

}  // namespace

AfterFailure CommitRetry::After(const Status& failure) {
  if (!IsWorthRetrying(failure)) return AfterFailure::kFail;
  failure_ = failure;
  is_unknown_ |= IsError(failure, ErrorKind::kOutcomeUnknown);
  if (attempt_ == kCommitAttemptsMax || IsUnavailableForTooLong(failure)) {
    return GiveUp();
  }
  const Duration wait = WaitAfter(attempt_, kBackoff, runtime_);
  if (!SleepUnlessStopped(runtime_, wait, stop_).ok()) return GiveUp();
  ++attempt_;
  return AfterFailure::kTryAgain;
}

AfterFailure CommitRetry::GiveUp() {
  gave_up_ = true;
  return AfterFailure::kGiveUp;
}

/// A catalog that waits for a lock before it says so makes few attempts long.
bool CommitRetry::IsUnavailableForTooLong(const Status& failure) {
  if (!IsError(failure, ErrorKind::kUnavailable)) {
    last_answer_ = runtime_.SinceBoot();
    return false;
  }
  return runtime_.SinceBoot() - last_answer_ > kUnavailableTimeMax;
}

Status CommitRetry::Failure() const {
  if (is_unknown_) return MakeError(ErrorKind::kOutcomeUnknown, ErrorText(failure_));
  if (!stop_.stop_requested()) return failure_;
  return Error(ErrorKind::kCancelled, "stopped on request: {}", ErrorText(failure_));
}

}  // namespace firn::commit
