#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "firn/commit/batch.h"
#include "firn/commit/positions.h"
#include "firn/core/memory_budget.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/planner/plan.h"
#include "firn/shift/chunk_writer.h"
#include "firn/shift/segment_spool.h"
#include "firn/wal/admission.h"
#include "firn/wal/wal_reader.h"
#include "firn/wal/wal_root.h"

// One iteration of one table: what the WAL holds becomes one batch of data files.
//   plan_input         segment footers as the planner's runs and buckets
//   iteration          admission, plan, tasks, batch
//   task               which chunks a worker writes together
//   segment_spool      the segments' bytes, fetched once
//   segment_run_input  a run of a segment as an input of the merge
//   chunk_writer       merges the runs of a task, and cuts at the borders of its chunks
//   run_spool          runs that a first pass makes, if too many overlap
//   chunk_output       the files of one chunk
//   new_files          the files of an iteration, until a commit names them
//   batch_files        where an iteration's files are, and how they are named
//   abandoned_files    deletes those of iterations that were never committed
//   table_shift        iterations and commits until the WAL is drained

namespace firn::shift {

/// Segments of one iteration; more are left to the next. Each one's footer is in memory
/// from the plan to the last file, beside the budget of the merge. Segments of which so
/// many are less than `iteration_bytes` have 2 MiB each, and far more than tiny ones need
/// for files of the right size.
inline constexpr std::size_t kIterationSegmentsMax = 2048;

struct IterationOptions {
  planner::Limits limits;
  /// Segment file bytes of one iteration.
  std::int64_t iteration_bytes = 4LL << 30;
  std::size_t iteration_segments = kIterationSegmentsMax;
  ChunkWriterOptions writer;
  /// Tasks that are worked on at the same time.
  int workers = 2;
};

/// What an iteration is planned from.
struct IterationStart {
  /// The table's, just loaded.
  iceberg::TableMetadata metadata;
  wal::Positions from;
  /// What it may take.
  std::vector<wal::ShardListing> shards;
};

/// An iteration that was planned, and not begun. Changes nothing.
struct PlannedIteration {
  IterationStart start;
  wal::Admission admission;
  /// Those that were admitted, in the order of the admission.
  std::vector<std::shared_ptr<const OpenSegment>> segments;
  planner::PlanInput input;
  planner::Limits limits;
  planner::Plan plan;
};

/// Admits segments and plans them. NotFound if a segment was deleted meanwhile: reload
/// the table, list and try again. `spool` must outlive the result.
Result<PlannedIteration> PlanIteration(wal::WalReader& reader, SegmentSpool& spool,
                                       IterationStart start,
                                       const IterationOptions& options,
                                       const StopToken& stop);

/// Called once before the first file is opened, with what the locations of all files
/// begin with (BatchFilePrefixes); an error of it ends the iteration.
using FilesBegin = std::function<Status(const std::vector<std::string>& prefixes)>;

/// Called after each chunk, from one thread at a time.
using ChunkDone = std::function<void(const planner::Chunk&, const ChunkFiles&)>;

/// What an iteration wrote.
struct WrittenIteration {
  commit::Batch batch;
  std::int64_t rows = 0;
  std::int64_t verbatim_bytes = 0;
  std::int64_t failover_rolls = 0;
};

/// Who the batch is, and where it goes.
struct IterationOutput {
  const iceberg::FileIo& io;
  BatchId id;
  std::optional<BatchId> parent;
};

/// How an iteration is written, who may stop it, and who is told.
struct IterationWriting {
  const IterationOptions& options;
  const StopToken& stop;
  ChunkDone done;
  /// May be empty.
  FilesBegin begin = {};
  /// Called after an error, if nothing is left of the files. May be empty.
  std::function<void()> gone = {};
};

/// Writes the files of a planned iteration, largest task first, and describes them as a
/// batch. A task waits until `memory` holds what it will need. Nothing is in the table
/// until the batch is committed. Cancelled if the stop token fires; NotFound as
/// PlanIteration. After an error the files are gone again, as far as they can be deleted.
Result<WrittenIteration> WriteIteration(Runtime& runtime, MemoryBudget& memory,
                                        const PlannedIteration& iteration,
                                        IterationOutput output,
                                        const IterationWriting& writing);

}  // namespace firn::shift
