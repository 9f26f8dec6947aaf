#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/shift/iteration.h"
#include "firn/storage/object_store.h"
#include "firn/wal/wal_reader.h"

namespace firn::shift {

/// Attempts to plan and commit again after another planner was faster, or a listing was
/// out of date.
inline constexpr int kPlanAttemptsMax = 20;

struct TableShiftOptions {
  IterationOptions iteration;
  std::size_t commit_queue_size = 4;
};

/// What a shift did, in figures. Sums over its iterations, except for the maxima.
struct ShiftReport {
  std::int64_t iterations = 0;
  std::int64_t commits = 0;
  std::int64_t superseded = 0;
  std::int64_t segments = 0;
  std::int64_t input_bytes = 0;
  std::int64_t rows = 0;
  std::int64_t files = 0;
  std::int64_t output_bytes = 0;
  std::int64_t verbatim_bytes = 0;
  std::int64_t failover_rolls = 0;
  std::int64_t clusters = 0;
  std::int64_t oversized_clusters = 0;
  std::int64_t uncut_parts = 0;
  std::int64_t tail_merges = 0;
  /// Nothing for a table without a sort order.
  std::optional<std::int64_t> overlap_depth_max;
  /// Shards that cannot go on, as the last iteration saw them.
  std::vector<wal::ShardHole> holes;
  std::vector<wal::WaitingShard> waiting;
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
    iceberg::Catalog& catalog;
    const iceberg::FileIo& io;
    storage::ObjectStore& wal_store;
    wal::WalReader& wal_reader;
  };

  TableShift(const Environment& environment, iceberg::TableIdentifier table, WalId wal_id,
             TableShiftOptions options)
      : environment_(environment),
        table_(std::move(table)),
        wal_id_(std::move(wal_id)),
        options_(std::move(options)) {}

  /// What an iteration would do now, from the table's position.
  Result<PlannedIteration> Plan(const StopToken& stop);

  /// Iterations and commits until nothing in the WAL can be admitted. Work that another
  /// planner did first is planned again. After an error or a stop the table holds what
  /// was committed so far, each row once.
  Result<ShiftReport> Run(const StopToken& stop, ShiftObserver& observer);

 private:
  struct Head;
  Result<Head> LoadHead();
  Result<PlannedIteration> PlanFrom(const Head& head, const StopToken& stop);

  const Environment environment_;
  const iceberg::TableIdentifier table_;
  const WalId wal_id_;
  const TableShiftOptions options_;
};

}  // namespace firn::shift
