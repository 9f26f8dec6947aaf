#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "firn/commit/batch.h"
#include "firn/commit/committer.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/wal/admission.h"

namespace firn::commit {

/// Where a submitter learns what became of its batch. Thread-safe; may outlive the queue.
class CommitTicket {
 public:
  explicit CommitTicket(Runtime& runtime) : mutex_(runtime), resolved_(runtime) {}

  /// Waits for the outcome; the same one however often it is asked. The queue's error if
  /// the queue stopped: then the batch may or may not have landed.
  Result<BatchOutcome> Wait();
  /// Wait would return at once.
  bool is_resolved();

 private:
  friend class CommitQueue;
  void Resolve(Result<BatchOutcome> outcome);

  Mutex mutex_;
  CondVar resolved_;
  std::optional<Result<BatchOutcome>> outcome_;  // guarded by mutex_
};

/// The end of what a queue will have committed: plan the next batch from here.
struct PlannedHead {
  BatchId id;
  wal::Positions positions;

  bool operator==(const PlannedHead&) const = default;
};

/// The batches of one table that wait for their commit: a bounded FIFO queue with one
/// commit thread.
///
/// The thread takes the head and all that waits behind it, and commits that as one: the
/// slower the catalog, the fewer and larger the commits. A superseded batch takes all
/// that were submitted behind it along, and the queue goes on from the table's position.
/// An error of the committer stops the queue for good: every ticket gets it. Thread-safe.
class CommitQueue {
 public:
  /// `committer` and `runtime` must outlive the queue, and nobody else uses `committer`.
  /// `on_resolved` is called by the commit thread after it has resolved tickets.
  /// REQUIRES: at least one place for waiting batches (commit.queue_size).
  CommitQueue(Runtime& runtime, Committer& committer, std::size_t queue_size,
              std::function<void()> on_resolved = {});
  ~CommitQueue();

  /// Waits for a free place, first come, first served; the ticket tells the outcome.
  /// `after`: where the positions stand after the batch.
  ///
  /// The ticket is resolved on return: as superseded if the batch does not follow the
  /// planned head (while there is one), with an error if the batch is malformed or the
  /// queue has stopped, as Cancelled if it is closed.
  std::shared_ptr<CommitTicket> Submit(Batch batch, wal::Positions after);

  /// The last batch submitted; nothing once all that were are resolved: then plan from
  /// the table's own position, loaded after this call.
  std::optional<PlannedHead> planned_head();

  /// Takes no more, commits what waits, and returns the error that stopped the queue, if
  /// one did; also the second time. For one thread at a time.
  Status Close();

 private:
  struct Waiting {
    Batch batch;
    std::shared_ptr<CommitTicket> ticket;
  };
  using Group = std::vector<Waiting>;

  /// Nothing once the batch waits in the queue; else what its ticket is told.
  std::optional<Result<BatchOutcome>> Enqueue(
      Batch batch, wal::Positions after, const std::shared_ptr<CommitTicket>& ticket);
  /// Why a batch of this chain may not enter; nothing if it may. REQUIRES: mutex_ is
  /// held.
  std::optional<Result<BatchOutcome>> Refusal(std::uint64_t chain) const;
  /// REQUIRES: mutex_ is held.
  void WaitForPlace(std::uint64_t turn, std::uint64_t chain);
  void CommitUntilClosed();
  /// Empty once the queue is closed and nothing waits.
  Group TakeAllThatWait();
  /// Gives what was dropped behind a group that did not land whole.
  Group Settle(const Result<std::vector<BatchOutcome>>& outcomes);

  Runtime& runtime_;
  Committer& committer_;
  const std::size_t queue_size_;
  const std::function<void()> on_resolved_;

  Mutex mutex_;
  CondVar changed_;
  // All guarded by mutex_.
  std::deque<Waiting> waiting_;
  std::optional<PlannedHead> head_;
  /// Turns of the submitters: the next one to give, and the one that may enter.
  std::uint64_t next_turn_ = 0;
  std::uint64_t entering_turn_ = 0;
  /// Counts the chains that were cut off as superseded.
  std::uint64_t chain_ = 0;
  bool closed_ = false;
  Status failure_;

  Thread thread_;
};

}  // namespace firn::commit
