#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/commit/commit_queue.h"
#include "firn/commit/committer.h"
#include "firn/commit/positions.h"
#include "firn/shift/table_shift.h"

// Inside of table_shift: nobody else includes this.

namespace firn::shift {

/// The table as it is now, and from where to plan.
struct TableShift::Head {
  iceberg::TableMetadata metadata;
  commit::TablePositions positions;
};

/// What is damaged while a shift plans and reads is a segment, which its message names.
Status WithWayOut(const Status& status, const iceberg::TableIdentifier& table);

/// The last segment of each shard.
using SegmentHorizon = std::map<ShardId, SegmentSequence>;

/// Iterations of one table and their commits, which go on while the next iteration is
/// planned and written.
///
/// Each is planned from where the last one submitted ends, and names it as its parent: if
/// a batch does not land, none that was planned upon it does, and planning starts again
/// from the table. For one thread.
class TableShift::Session {
 public:
  /// `shift` and `observer` must outlive the session.
  Session(TableShift& shift, const TableUuid& table_uuid, StopToken stop,
          ShiftObserver& observer);

  enum class Horizon {
    /// All that the WAL holds now.
    kNow,
    /// All that it held at the last time.
    kSame,
  };
  enum class WhenFull { kWait, kReturn };

  /// Plans, writes and submits until nothing is left that could be admitted, or
  /// (WhenFull::kReturn) as many are in flight as may be. The error of a commit, too.
  Status Advance(Horizon horizon, WhenFull when_full);
  /// Takes notice of the outcomes that are known.
  Status Settle();
  /// Waits for all outcomes.
  Status SettleAll();
  /// Commits what was submitted, and takes no more. An error of the queue, too.
  Status Close();

  ShiftNext next() const;
  /// Nothing was left by the last Advance, and nothing of it was superseded since.
  bool is_drained() const { return is_drained_; }
  bool IsFull() const { return in_flight_.size() >= shift_.options_.commit_queue_size; }
  /// Of what was committed since the last call.
  ShiftReport TakeReport();
  /// Cancelled, with what was committed.
  Status Stopped() const;

 private:
  enum class Step { kSubmitted, kDrained, kAwaitCommits, kPlanAgain };

  /// A batch whose outcome is not known. Its iteration's footers and bytes are given
  /// back already.
  struct InFlight {
    BatchId id;
    std::optional<BatchId> parent;
    std::shared_ptr<commit::CommitTicket> ticket;
    ShiftFigures figures;
  };

  /// Waits for the oldest one's outcome.
  Status SettleFirst();
  void OnCommitted(const InFlight& batch, std::optional<SnapshotId> snapshot);
  void OnSuperseded(const InFlight& batch);

  Result<Step> Iterate();
  /// From where the next iteration is planned.
  Result<Head> LoadPlannedHead();
  Result<PlannedIteration> Plan(Head head);
  bool IsStale(const Status& status);
  Result<WrittenIteration> Write(const PlannedIteration& planned,
                                 const std::optional<BatchId>& parent);
  Result<wal::Retired> FindRetired(const PlannedIteration& planned,
                                   const commit::Batch& batch);
  Status Submit(const PlannedIteration& planned, const WrittenIteration& written);
  Result<Step> Conclude(const PlannedIteration& planned);
  /// True if listings or positions were out of date: one of the holes is none.
  Result<bool> IsOutOfDate(const PlannedIteration& planned);
  Result<bool> IsThere(const PlannedIteration& planned, const wal::ShardHole& hole);
  ShardState StateOf(const PlannedIteration& planned, const ShardId& shard);
  Status GaveUp() const;

  TableShift& shift_;
  const Environment& environment_;
  const StopToken stop_;
  ShiftObserver& observer_;
  commit::CommitMetrics commit_metrics_;
  commit::Committer committer_;
  commit::CommitQueue queue_;
  ShiftMetrics metrics_;
  /// Oldest first.
  std::deque<InFlight> in_flight_;
  /// The last listing, with what lies beyond the horizon.
  std::vector<wal::ShardListing> listed_;
  std::optional<SegmentHorizon> horizon_;
  ShiftReport report_;
  bool is_drained_ = false;
  /// What is left can be judged only once nothing is in flight.
  bool awaits_commits_ = false;
  /// Plans in vain since the last batch that landed, and why the last one was.
  int attempts_ = 0;
  Status last_failure_;
  std::optional<BatchId> last_superseded_;
  /// Since the last plan: the other planner may be about to commit more.
  bool was_superseded_ = false;
  std::optional<SnapshotId> last_snapshot_;
};

}  // namespace firn::shift
