#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/core/memory_budget.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/metrics/metrics.h"
#include "firn/shift/iteration.h"
#include "firn/shift/shift_figures.h"
#include "firn/storage/object_store.h"
#include "firn/wal/wal_reader.h"

namespace firn::shift {

/// Attempts to plan and commit again after another planner was faster, or a listing was
/// out of date.
inline constexpr int kPlanAttemptsMax = 20;

struct TableShiftOptions {
  IterationOptions iteration;
  /// Batches in flight: those that wait for their commit, and those being committed.
  std::size_t commit_queue_size = 4;
  /// Of the segment spool, beside the memory budget; only a WAL that is not local needs
  /// any.
  std::int64_t spool_memory_bytes = 256LL << 20;
  /// A shard that was silent for so long is dead.
  Duration dead_after = std::chrono::hours(24);
  /// A segment is kept until the snapshot that took it is so old.
  Duration retention = std::chrono::hours(1);
};

enum class ShardState {
  /// Its writer may still write the missing segment.
  kLive,
  /// Nothing behind the missing segment was ever acknowledged.
  kDead,
  /// Its writer had made all segments durable: one was lost.
  kClosed,
};

/// A segment that is missing though later ones are there: looked for by name, twice,
/// after the positions were read anew.
struct JudgedHole {
  wal::ShardHole hole;
  ShardState shard_state = ShardState::kLive;

  bool operator==(const JudgedHole&) const = default;
};

struct ShiftReport {
  ShiftFigures figures;
  /// Iterations in vain, since another planner was faster.
  std::int64_t superseded = 0;
  /// Shards that cannot go on, as the last listing shows them.
  std::vector<JudgedHole> holes;
  std::vector<wal::WaitingShard> waiting;
};

/// What the WAL holds that is not in the table yet.
struct WalBacklog {
  std::int64_t segments = 0;
  /// As files.
  std::int64_t bytes = 0;
  /// When the oldest of them was written; nothing if there are none.
  std::optional<WallTime> since;

  bool operator==(const WalBacklog&) const = default;
};

/// Told how far a shift is; called from one thread at a time.
class ShiftObserver {
 public:
  virtual ~ShiftObserver() = default;
  virtual void OnPlanned(const PlannedIteration& iteration) = 0;
  virtual void OnChunk(const planner::Chunk& chunk, const ChunkFiles& files) = 0;
  /// What became of one or more batches is known now. Called from another thread, also
  /// while one of the others is; must not wait for the shift.
  virtual void OnOutcome() {}
};

/// What a shift that goes on in steps needs next.
enum class ShiftNext {
  /// Nothing: all is in the table that the WAL held at the last TableShift::Advance.
  kDone,
  /// Nothing before an outcome is known.
  kAwaitCommits,
  /// Another TableShift::Advance: there is more, or a batch was superseded.
  kAdvance,
};

struct ShiftProgress {
  /// Of the batches that were committed since the last one.
  ShiftReport report;
  ShiftNext next = ShiftNext::kDone;
  /// Fewer batches are in flight than may be.
  bool has_place = true;
};

/// Moves the WAL of one table into it. For one thread.
class TableShift {
 public:
  /// What the shift works on; all must outlive it.
  struct Environment {
    Runtime& runtime;
    MemoryBudget& memory;
    metrics::Registry& metrics;
    iceberg::Catalog& catalog;
    const iceberg::FileIo& io;
    storage::ObjectStore& wal_store;
    wal::WalReader& wal_reader;
  };

  TableShift(const Environment& environment, iceberg::TableIdentifier table, WalId wal_id,
             TableShiftOptions options);
  /// Not while a batch is in flight.
  TableShift(TableShift&& other) noexcept;
  ~TableShift();

  /// What an iteration would do now, from the table's position. Lives as long as the
  /// shift.
  Result<PlannedIteration> Plan(const StopToken& stop);

  /// Of the table as it was just loaded: lists its WAL, and reads no segment.
  Result<WalBacklog> FindBacklog(iceberg::TableMetadata metadata);

  /// Moves what the WAL holds at the beginning, by as many iterations and commits as that
  /// takes; segments that arrive meanwhile are left to the next shift. Work that another
  /// planner did first is planned again. After an error or a stop (Cancelled, saying what
  /// was committed) the table holds what was committed so far, each row once.
  ///
  /// The next iteration is planned and written while up to `commit_queue_size` wait for
  /// their commit; what waits together is one commit.
  Result<ShiftReport> Run(const StopToken& stop, ShiftObserver& observer);

  /// Run in steps, for who does other things, or begins the next shift, while commits go
  /// on. Plans and writes what the WAL holds now, behind what is in flight, and has it
  /// committed in the background; returns before that is done, or once
  /// `commit_queue_size` batches are in flight. `observer`, and what `stop` comes from,
  /// must outlive all until Settle tells kDone, or Finish. After an error call Finish.
  Status Advance(const StopToken& stop, ShiftObserver& observer);
  /// What has become of it so far; does not wait. An error of a commit ends all that is
  /// in flight: call Finish, and begin again.
  Result<ShiftProgress> Settle();
  /// Waits until everything in flight is committed, or dropped; then nothing is in
  /// flight. Of the batches that were committed since the last Settle.
  Result<ShiftReport> Finish();

  /// Merges the table's small manifests if there are many, and returns how many were
  /// replaced.
  Result<std::int64_t> MergeManifests();

  /// Deletes the segments that the table took long enough ago, and returns how many: the
  /// snapshot that took them is `retention` old, or was expired. An error leaves the rest
  /// to the next cleaning, as a stop does; a table that was rolled back is one.
  Result<std::int64_t> Clean(const StopToken& stop = {});

  /// Deletes the data files of batches that were never committed and never will be, and
  /// returns how many (DeleteAbandonedFiles). Does nothing if it did so less than
  /// kAbandonedInterval ago. Errors as Clean's.
  Result<std::int64_t> DeleteAbandoned(const StopToken& stop = {});

 private:
  /// How long positions know what is over. A request that its writer gave up on may still
  /// be applied, and then only they tell that its rows were taken: so it is longer than
  /// the time for which anybody waits for such a request.
  Duration remembered_for() const { return 2 * options_.dead_after; }

  class Session;
  struct Head;

  Result<std::unique_ptr<Session>> OpenSession(const StopToken& stop,
                                               ShiftObserver& observer);
  Result<Head> LoadHead();
  Result<Head> HeadOf(iceberg::TableMetadata metadata);
  /// Of the table's log, if the head's positions may be what they say.
  Result<std::vector<wal::ShardListing>> ListShards(const Head& head);

  const Environment environment_;
  const iceberg::TableIdentifier table_;
  const WalId wal_id_;
  const TableShiftOptions options_;
  std::unique_ptr<SegmentSpool> spool_;
  /// Of Advance; null while nothing is in flight.
  std::unique_ptr<Session> session_;
  std::optional<BootTime> looked_for_abandoned_;
};

}  // namespace firn::shift
