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

  /// What an iteration would do now, from the table's position. Lives as long as the
  /// shift.
  Result<PlannedIteration> Plan(const StopToken& stop);

  /// Of the table as it was just loaded: lists its WAL, and reads no segment.
  Result<WalBacklog> FindBacklog(iceberg::TableMetadata metadata);

  /// Moves what the WAL holds at the beginning, by as many iterations and commits as that
  /// takes; segments that arrive meanwhile are left to the next shift. Work that another
  /// planner did first is planned again. After an error or a stop (Cancelled, saying what
  /// was committed) the table holds what was committed so far, each row once.
  Result<ShiftReport> Run(const StopToken& stop, ShiftObserver& observer);

  /// Merges the table's small manifests if there are many, and returns how many were
  /// replaced.
  Result<std::int64_t> MergeManifests();

  /// Deletes the segments that the table took long enough ago, and returns how many: the
  /// snapshot that took them is `retention` old, or was expired. An error leaves the rest
  /// to the next cleaning, as a stop does; a table that was rolled back is one.
  Result<std::int64_t> Clean(const StopToken& stop = {});

 private:
  /// How long positions know what is over. A request that its writer gave up on may still
  /// be applied, and then only they tell that its rows were taken: so it is longer than
  /// the time for which anybody waits for such a request.
  Duration remembered_for() const { return 2 * options_.dead_after; }

  class Session;
  struct Head;

  Result<Head> LoadHead();
  Result<Head> HeadOf(iceberg::TableMetadata metadata);

  const Environment environment_;
  const iceberg::TableIdentifier table_;
  const WalId wal_id_;
  const TableShiftOptions options_;
  std::unique_ptr<SegmentSpool> spool_;
};

}  // namespace firn::shift
