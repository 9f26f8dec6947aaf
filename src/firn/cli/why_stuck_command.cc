#include "firn/cli/why_stuck_command.h"

#include <algorithm>
#include <utility>

#include "firn/cli/exit_code.h"
#include "firn/cli/json_output.h"
#include "firn/cli/shard_figures.h"
#include "firn/cli/stuck_reasons.h"
#include "firn/cli/table_access.h"
#include "firn/cli/terminal.h"
#include "firn/cli/waiting_segments.h"
#include "firn/cli/workspace.h"
#include "firn/commit/positions.h"
#include "firn/commit/rollback.h"
#include "firn/shift/shard_state.h"
#include "firn/shift/table_check.h"
#include "firn/sources/dead_letters.h"
#include "firn/wal/segment.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

shift::WalBacklog BacklogOf(const std::vector<wal::ShardListing>& shards,
                            const wal::Positions& reached) {
  shift::WalBacklog backlog;
  for (const wal::ShardListing& shard : shards) {
    const ShardFigures figures = FiguresOf(shard, reached);
    backlog.segments += figures.waiting;
    backlog.bytes += figures.waiting_bytes;
    for (const wal::SegmentObject& segment : shard.segments) {
      if (segment.name.sequence <= figures.reached) continue;
      const WallTime written{Duration(segment.modified_us)};
      backlog.since = std::min(backlog.since.value_or(written), written);
    }
  }
  return backlog;
}

/// Looks at one table, changing nothing.
class Look {
 public:
  /// All must outlive the look.
  Look(Workspace& workspace, const OpenTable& table, const StopToken& stop)
      : workspace_(workspace), table_(table), stop_(stop) {
    const Config& config = workspace_.config();
    state_ = {.table = ToString(table_.identifier),
              .now = workspace_.runtime().Now(),
              .limits = {.start_bytes = config.shift.start_bytes,
                         .max_age = config.shift.max_age,
                         .uncommitted_bytes_max = config.wal.max_uncommitted_bytes}};
  }

  Result<StuckState> Take() {
    FIRN_ASSIGN_OR_RETURN(wal_id_, WalIdForReading(workspace_));
    FIRN_ASSIGN_OR_RETURN(state_.shards,
                          wal::ListShards(workspace_.wal_store(), metadata().table_uuid));
    TakeObstacle("not_writable", shift::CheckShiftable(metadata()));
    TakeObstacle(
        "wal_in_table",
        wal::CheckOutsideTable(workspace_.wal_store().Location(""), metadata().location));
    const auto positions = commit::ReadPositions(metadata(), wal_id_);
    TakeObstacle("positions", positions.status());
    if (positions.ok()) FIRN_RETURN_NOT_OK(TakePositions(*positions));
    FIRN_RETURN_NOT_OK(CountLetters());
    return std::move(state_);
  }

 private:
  const iceberg::TableMetadata& metadata() const { return table_.metadata(); }

  void TakeObstacle(const char* kind, const Status& status) {
    if (status.ok()) return;
    state_.obstacles.push_back({.kind = kind, .text = ErrorText(status) + "."});
  }

  Status TakePositions(const commit::TablePositions& positions) {
    state_.backlog = BacklogOf(state_.shards, positions.reached);
    if (positions.last_batch) TakeCommits(*positions.last_batch);
    const Status not_rolled_back =
        CheckNotRolledBack(metadata(), positions, state_.table);
    TakeObstacle("rolled_back", not_rolled_back);
    return not_rolled_back.ok() ? TakePlan() : Status::OK();
  }

  void TakeCommits(const BatchId& last) {
    const iceberg::Snapshot* ours = commit::FindBatchSnapshot(metadata(), wal_id_, last);
    if (ours == nullptr) return;
    state_.last_commit = {.snapshot = ours->snapshot_id, .time = TimeOf(*ours)};
    state_.other_commits =
        std::ranges::count_if(metadata().snapshots, [&](const auto& snapshot) {
          return snapshot.sequence_number > ours->sequence_number;
        });
  }

  static WallTime TimeOf(const iceberg::Snapshot& snapshot) {
    return WallTime(std::chrono::milliseconds(snapshot.timestamp_ms));
  }

  /// What a shift would meet.
  Status TakePlan() {
    wal::WalReader reader(workspace_.runtime(), workspace_.wal_store());
    shift::TableShift shift = MakeTableShift(workspace_, reader, table_, wal_id_);
    const auto planned = shift.Plan(stop_);
    if (IsError(planned.status(), ErrorKind::kCancelled)) return planned.status();
    if (!planned.ok()) {
      const bool is_damaged = IsError(planned.status(), ErrorKind::kCorruption);
      TakeObstacle(is_damaged ? "damaged" : "cannot_plan", planned.status());
      return Status::OK();
    }
    state_.waiting = planned->admission.waiting;
    for (const wal::ShardHole& hole : planned->admission.holes) TakeHole(hole);
    if (std::ssize(planned->segments) == state_.backlog.segments) {
      std::int64_t rows = 0;
      for (const planner::Run& run : planned->input.runs) rows += run.rows;
      state_.rows = rows;
    }
    return Status::OK();
  }

  void TakeHole(const wal::ShardHole& hole) {
    const auto shard =
        std::ranges::find(state_.shards, hole.shard, &wal::ShardListing::shard);
    // Of a shard that came while this looked.
    if (shard == state_.shards.end()) return;
    state_.holes.push_back({.hole = hole,
                            .shard_state = shift::StateOf(
                                *shard, state_.now, workspace_.config().wal.dead_after)});
  }

  Status CountLetters() {
    const std::string letters = sources::DeadLetterTable(state_.table);
    const auto table = FindTable(workspace_, letters);
    if (IsError(table.status(), ErrorKind::kNotFound)) return Status::OK();
    FIRN_RETURN_NOT_OK(table.status());
    return CountWaitingSegments(workspace_, *table).Value(&state_.waiting_letters);
  }

  Workspace& workspace_;
  const OpenTable& table_;
  const StopToken& stop_;
  WalId wal_id_;
  StuckState state_;
};

Result<std::vector<StuckReason>> ReasonsWithoutCatalog(const CommandContext& context,
                                                       const Status& failure) {
  FIRN_ASSIGN_OR_RETURN(const auto stores, OpenStores(context));
  FIRN_ASSIGN_OR_RETURN(const std::string root, WalRootPath(context.config));
  FIRN_ASSIGN_OR_RETURN(const auto wal, stores->OpenFolder(root, Stores::Missing::kFail));
  FIRN_ASSIGN_OR_RETURN(const auto logged, ListLoggedTables(*wal));
  return FindReasonsWithoutCatalog(failure, logged, context.runtime.Now());
}

/// A failure that says that the catalog is there, and what it answers.
bool IsAnswer(const Status& status) {
  return status.ok() || IsError(status, ErrorKind::kNotFound) ||
         IsError(status, ErrorKind::kCorruption) ||
         IsError(status, ErrorKind::kCancelled) || ExitCodeOf(status) == kExitUsage;
}

Result<std::vector<StuckReason>> Reasons(const CommandContext& context,
                                         const std::string& name) {
  const auto workspace = OpenWorkspace(context, WorkspaceMode::kExisting);
  const bool is_missing = IsError(workspace.status(), ErrorKind::kNotFound);
  if (is_missing || !IsAnswer(workspace.status())) {
    FIRN_ASSIGN_OR_RETURN(auto reasons,
                          ReasonsWithoutCatalog(context, workspace.status()));
    // Without a log either, nothing was begun here.
    if (is_missing && reasons.back().kind == "nothing_logged") return workspace.status();
    return reasons;
  }
  FIRN_RETURN_NOT_OK(workspace.status());
  const auto table = FindTable(**workspace, name);
  if (!IsAnswer(table.status())) return ReasonsWithoutCatalog(context, table.status());
  FIRN_RETURN_NOT_OK(table.status());
  FIRN_ASSIGN_OR_RETURN(const StuckState state,
                        Look(**workspace, *table, context.stop).Take());
  return FindReasons(state);
}

}  // namespace

Status RunWhyStuck(const CommandContext& context, const std::string& table,
                   OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const auto reasons, Reasons(context, table));
  if (format == OutputFormat::kText) {
    for (const StuckReason& reason : reasons) fmt::print("{}\n", Printable(reason.text));
    return Status::OK();
  }
  Json json = {{"table", table}, {"waits", reasons.front().kind != "nothing"}};
  json["reasons"] = Json::array();
  for (const StuckReason& reason : reasons) {
    json["reasons"].push_back({{"kind", reason.kind}, {"text", reason.text}});
  }
  PrintJson(json);
  return Status::OK();
}

}  // namespace firn::cli
