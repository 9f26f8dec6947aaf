#include "firn/shift/table_shift.h"

#include <algorithm>
#include <utility>

#include "firn/commit/commit_queue.h"
#include "firn/commit/committer.h"
#include "firn/commit/positions.h"
#include "firn/commit/rollback.h"
#include "firn/core/crash_point.h"
#include "firn/core/ulid.h"

namespace firn::shift {
namespace {

constexpr Duration kReplanWaitMax = std::chrono::milliseconds(200);

void WaitWithJitter(Runtime& runtime) {
  runtime.Sleep(
      Duration(static_cast<std::int64_t>(runtime.Random64() % kReplanWaitMax.count())));
}

void AddPlan(const PlannedIteration& iteration, ShiftReport& report) {
  const planner::Stats& stats = iteration.plan.stats;
  report.clusters += stats.clusters;
  report.oversized_clusters += stats.oversized_clusters;
  report.uncut_parts += stats.uncut_parts;
  report.tail_merges += stats.tail_merges;
  report.overlap_depth_max = std::max(report.overlap_depth_max, stats.overlap_depth_max);
  for (const planner::Run& run : iteration.input.runs) report.input_bytes += run.bytes;
}

void AddWritten(const PlannedIteration& iteration, const WrittenIteration& written,
                ShiftReport& report) {
  ++report.iterations;
  report.segments += static_cast<std::int64_t>(iteration.segments.size());
  report.rows += written.rows;
  report.verbatim_bytes += written.verbatim_bytes;
  report.failover_rolls += written.failover_rolls;
  for (const iceberg::DataFile& file : written.batch.files) {
    ++report.files;
    report.output_bytes += file.file_size_in_bytes;
  }
}

}  // namespace

/// The table as it is now, and from where to plan.
struct TableShift::Head {
  iceberg::TableMetadata metadata;
  commit::TablePositions positions;
};

Result<TableShift::Head> TableShift::LoadHead() {
  FIRN_ASSIGN_OR_RETURN(iceberg::LoadedTable loaded,
                        environment_.catalog.LoadTable(table_));
  Head head{.metadata = std::move(loaded.metadata)};
  FIRN_ASSIGN_OR_RETURN(head.positions, commit::ReadPositions(head.metadata, wal_id_));
  FIRN_RETURN_NOT_OK(CheckNotRolledBack(head.metadata, head.positions, ToString(table_)));
  return head;
}

Result<PlannedIteration> TableShift::PlanFrom(const Head& head, const StopToken& stop) {
  return PlanIteration(environment_.wal_reader, environment_.wal_store, head.metadata,
                       head.positions.reached, options_.iteration, stop);
}

Result<PlannedIteration> TableShift::Plan(const StopToken& stop) {
  FIRN_ASSIGN_OR_RETURN(const Head head, LoadHead());
  return PlanFrom(head, stop);
}

Result<ShiftReport> TableShift::Run(const StopToken& stop, ShiftObserver& observer) {
  FIRN_ASSIGN_OR_RETURN(const Head first_head, LoadHead());
  commit::Committer committer(
      environment_.catalog, environment_.io, environment_.runtime,
      {.table = table_, .table_uuid = first_head.metadata.table_uuid, .wal = wal_id_});
  commit::CommitQueue queue(environment_.runtime, committer, options_.commit_queue_size);
  ShiftReport report;
  for (int attempt = 0; attempt < kPlanAttemptsMax;) {
    FIRN_RETURN_NOT_OK(stop.Check());
    FIRN_ASSIGN_OR_RETURN(const Head head, LoadHead());
    Result<PlannedIteration> planned = PlanFrom(head, stop);
    if (IsError(planned.status(), ErrorKind::kNotFound)) {
      // A segment of the listing is gone: another process has committed and deleted it.
      ++attempt;
      WaitWithJitter(environment_.runtime);
      continue;
    }
    FIRN_RETURN_NOT_OK(planned.status());
    report.holes = planned->admission.holes;
    report.waiting = planned->admission.waiting;
    if (planned->segments.empty()) {
      FIRN_RETURN_NOT_OK(queue.Close());
      return report;
    }
    observer.OnPlanned(*planned);
    CrashPoint("shift.planned");
    FIRN_ASSIGN_OR_RETURN(
        WrittenIteration written,
        WriteIteration(environment_.runtime, environment_.io, *planned,
                       BatchId(NewUlid(environment_.runtime)), head.positions.last_batch,
                       options_.iteration, stop,
                       [&](const planner::Chunk& chunk, const ChunkFiles& files) {
                         observer.OnChunk(chunk, files);
                       }));
    CrashPoint("shift.written");
    FIRN_ASSIGN_OR_RETURN(const commit::BatchOutcome outcome,
                          queue.Submit(written.batch, planned->admission.next)->Wait());
    CrashPoint("shift.committed");
    if (outcome.state == commit::BatchState::kSuperseded) {
      ++attempt;
      ++report.superseded;
      WaitWithJitter(environment_.runtime);
      continue;
    }
    attempt = 0;
    ++report.commits;
    AddPlan(*planned, report);
    AddWritten(*planned, written, report);
  }
  return Error(
      ErrorKind::kConflict,
      "{}: another process planned and committed the same rows first, {} times in "
      "a row; run one shift of a table at a time",
      table_, kPlanAttemptsMax);
}

}  // namespace firn::shift
