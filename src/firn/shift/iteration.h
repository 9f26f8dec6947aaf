#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "firn/commit/batch.h"
#include "firn/commit/positions.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/planner/plan.h"
#include "firn/shift/chunk_writer.h"
#include "firn/storage/object_store.h"
#include "firn/wal/admission.h"
#include "firn/wal/wal_reader.h"

// One iteration of one table: what the WAL holds becomes one batch of data files.
//   plan_input         segment footers as the planner's runs and buckets
//   iteration          admission, plan, tasks, batch
//   segment_run_input  a run of a segment as an input of the merge
//   chunk_writer       merges the runs of a chunk into a file
//   table_shift        iterations and commits until the WAL is drained

namespace firn::shift {

struct IterationOptions {
  planner::Limits limits;
  /// Segment file bytes of one iteration.
  std::int64_t iteration_bytes = 4LL << 30;
  ChunkWriterOptions writer;
  /// Chunks written at the same time.
  int workers = 2;
};

/// An iteration that was planned, and not begun. Changes nothing.
struct PlannedIteration {
  iceberg::TableMetadata metadata;
  /// Where it starts.
  wal::Positions from;
  wal::Admission admission;
  /// Those that were admitted, in the order of the admission.
  std::vector<std::shared_ptr<const OpenSegment>> segments;
  planner::PlanInput input;
  planner::Plan plan;
};

/// Lists the WAL, admits segments from `from` on, and plans them. `metadata` is the
/// table's, just loaded. NotFound if a segment was deleted meanwhile: reload the table
/// and try again.
Result<PlannedIteration> PlanIteration(wal::WalReader& reader,
                                       storage::ObjectStore& wal_store,
                                       iceberg::TableMetadata metadata,
                                       const wal::Positions& from,
                                       const IterationOptions& options,
                                       const StopToken& stop);

/// Called after each chunk, from one thread at a time.
using ChunkDone = std::function<void(const planner::Chunk&, const ChunkFiles&)>;

/// What an iteration wrote.
struct WrittenIteration {
  commit::Batch batch;
  std::int64_t rows = 0;
  std::int64_t verbatim_bytes = 0;
  std::int64_t failover_rolls = 0;
};

/// Writes the files of a planned iteration, largest chunk first, and describes them as a
/// batch. Nothing is in the table until the batch is committed. Cancelled if `stop`
/// fires.
Result<WrittenIteration> WriteIteration(Runtime& runtime, const iceberg::FileIo& io,
                                        const PlannedIteration& iteration, BatchId id,
                                        std::optional<BatchId> parent,
                                        const IterationOptions& options,
                                        const StopToken& stop, const ChunkDone& done);

}  // namespace firn::shift
