#include "firn/shift/table_shift.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "firn/commit/commit_queue.h"
#include "firn/commit/committer.h"
#include "firn/commit/merge_manifests.h"
#include "firn/commit/positions.h"
#include "firn/commit/rollback.h"
#include "firn/core/crash_point.h"
#include "firn/core/ulid.h"
#include "firn/shift/shard_state.h"
#include "firn/wal/cleaner.h"

namespace firn::shift {
namespace {

/// "<shard>/<number>" of the first object of a segment that a message names; "SEGMENT" if
/// it names none.
std::string SegmentNamedIn(std::string_view message) {
  constexpr std::size_t kDigits = 20;
  const std::size_t end = message.find(".parquet");
  if (end == std::string_view::npos || end < kDigits + 1) return "SEGMENT";
  const std::string_view digits = message.substr(end - kDigits, kDigits);
  const std::string_view before = message.substr(0, end - kDigits);
  std::uint64_t number = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + kDigits, number);
  const bool is_number = error == std::errc() && stop == digits.data() + kDigits;
  if (!is_number || !before.ends_with('/')) return "SEGMENT";
  const std::string_view path = before.substr(0, before.size() - 1);
  return fmt::format("{}/{}", path.substr(path.find_last_of("/ ") + 1), number);
}

/// What is damaged while a shift plans and reads is a segment, which its message names.
Status WithWayOut(const Status& status, const iceberg::TableIdentifier& table) {
  if (!IsError(status, ErrorKind::kCorruption)) return status;
  return Error(ErrorKind::kCorruption,
               "{}; put the segment back from a backup of the WAL, or leave it out: "
               "'firn wal quarantine {} {}'",
               ErrorText(status), table, SegmentNamedIn(ErrorText(status)));
}

constexpr Duration kReplanWaitMax = std::chrono::milliseconds(200);

void WaitWithJitter(Runtime& runtime) {
  runtime.Sleep(
      Duration(static_cast<std::int64_t>(runtime.Random64() % kReplanWaitMax.count())));
}

/// The last segment of each shard.
using Horizon = std::map<ShardId, SegmentSequence>;

Horizon HorizonOf(const std::vector<wal::ShardListing>& shards) {
  Horizon horizon;
  for (const wal::ShardListing& shard : shards) {
    if (!shard.segments.empty()) {
      horizon[shard.shard] = shard.segments.back().name.sequence;
    }
  }
  return horizon;
}

/// Takes out what came later.
void CutAt(const Horizon& horizon, std::vector<wal::ShardListing>& shards) {
  for (wal::ShardListing& shard : shards) {
    const auto last = horizon.find(shard.shard);
    std::erase_if(shard.segments, [&](const wal::SegmentObject& segment) {
      return last == horizon.end() || segment.name.sequence > last->second;
    });
  }
}

WalBacklog BacklogOf(const std::vector<wal::ShardListing>& shards,
                     const wal::Positions& reached) {
  WalBacklog backlog;
  for (const wal::ShardListing& shard : shards) {
    for (const wal::SegmentObject& segment : shard.segments) {
      if (segment.name.sequence <= PositionOf(reached, shard.shard)) continue;
      ++backlog.segments;
      backlog.bytes += segment.size_bytes;
      const WallTime written{Duration(segment.modified_us)};
      backlog.since = std::min(backlog.since.value_or(written), written);
    }
  }
  return backlog;
}

bool IsPassed(const wal::ShardHole& hole, const wal::Positions& positions) {
  return hole.missing <= PositionOf(positions, hole.shard);
}

}  // namespace

/// The table as it is now, and from where to plan.
struct TableShift::Head {
  iceberg::TableMetadata metadata;
  commit::TablePositions positions;
};

TableShift::TableShift(const Environment& environment, iceberg::TableIdentifier table,
                       WalId wal_id, TableShiftOptions options)
    : environment_(environment),
      table_(std::move(table)),
      wal_id_(std::move(wal_id)),
      options_(std::move(options)),
      spool_(std::make_unique<SegmentSpool>(environment_.runtime, environment_.wal_store,
                                            options_.spool_memory_bytes)) {}

Result<TableShift::Head> TableShift::LoadHead() {
  FIRN_ASSIGN_OR_RETURN(iceberg::LoadedTable loaded,
                        environment_.catalog.LoadTable(table_));
  return HeadOf(std::move(loaded.metadata));
}

Result<TableShift::Head> TableShift::HeadOf(iceberg::TableMetadata metadata) {
  Head head{.metadata = std::move(metadata)};
  FIRN_ASSIGN_OR_RETURN(head.positions, commit::ReadPositions(head.metadata, wal_id_));
  FIRN_RETURN_NOT_OK(CheckNotRolledBack(head.metadata, head.positions, ToString(table_)));
  return head;
}

Result<PlannedIteration> TableShift::Plan(const StopToken& stop) {
  FIRN_ASSIGN_OR_RETURN(Head head, LoadHead());
  FIRN_ASSIGN_OR_RETURN(
      auto shards, wal::ListShards(environment_.wal_store, head.metadata.table_uuid));
  auto planned = PlanIteration(environment_.wal_reader, *spool_,
                               {.metadata = std::move(head.metadata),
                                .from = std::move(head.positions.reached),
                                .shards = std::move(shards)},
                               options_.iteration, stop);
  if (!planned.ok()) return WithWayOut(planned.status(), table_);
  return planned;
}

Result<WalBacklog> TableShift::FindBacklog(iceberg::TableMetadata metadata) {
  FIRN_ASSIGN_OR_RETURN(const Head head, HeadOf(std::move(metadata)));
  FIRN_ASSIGN_OR_RETURN(const auto shards, wal::ListShards(environment_.wal_store,
                                                           head.metadata.table_uuid));
  return BacklogOf(shards, head.positions.reached);
}

Result<std::int64_t> TableShift::MergeManifests() {
  FIRN_ASSIGN_OR_RETURN(const Head head, LoadHead());
  return commit::MergeManifests(environment_.catalog, environment_.io,
                                environment_.runtime, table_, head.metadata.table_uuid);
}

Result<std::int64_t> TableShift::Clean(const StopToken& stop) {
  FIRN_ASSIGN_OR_RETURN(const Head head, LoadHead());
  FIRN_ASSIGN_OR_RETURN(const auto committed,
                        commit::CommittedRanges(head.metadata, wal_id_));
  storage::ObjectStore& wal = environment_.wal_store;
  const TableUuid& uuid = head.metadata.table_uuid;
  const WallTime now = environment_.runtime.Now();
  FIRN_ASSIGN_OR_RETURN(const auto shards, wal::ListShards(wal, uuid));
  FIRN_ASSIGN_OR_RETURN(const auto loads, wal::ListEndedLoads(wal, uuid));
  FIRN_RETURN_NOT_OK(DeleteRetired(wal, uuid, head.positions.reached, shards, loads,
                                   now - remembered_for()));
  return wal::DeleteSegments(
      wal,
      DrainedSegments(shards, head.positions.reached, committed, now,
                      {.retention = options_.retention, .over_after = remembered_for()}),
      stop);
}

/// One call of Run.
class TableShift::Session {
 public:
  Session(TableShift& shift, const TableUuid& table_uuid, const StopToken& stop,
          ShiftObserver& observer)
      : shift_(shift),
        environment_(shift.environment_),
        stop_(stop),
        observer_(observer),
        commit_metrics_(environment_.metrics, ToString(shift.table_)),
        committer_(environment_.catalog, environment_.io, environment_.runtime,
                   {.table = shift.table_,
                    .table_uuid = table_uuid,
                    .wal = shift.wal_id_,
                    .metrics = &commit_metrics_,
                    .stop = stop}),
        queue_(environment_.runtime, committer_, shift.options_.commit_queue_size),
        metrics_(environment_.metrics, ToString(shift.table_)) {}

  Result<ShiftReport> Run() {
    const Status status = Drain();
    if (IsError(status, ErrorKind::kCancelled)) return Stopped();
    FIRN_RETURN_NOT_OK(status);
    return std::move(report_);
  }

 private:
  enum class Step { kCommitted, kDrained, kPlanAgain };

  /// Until nothing is left that could be admitted.
  Status Drain() {
    for (int attempt = 0; attempt < kPlanAttemptsMax;) {
      FIRN_RETURN_NOT_OK(stop_.Check());
      FIRN_ASSIGN_OR_RETURN(const Step step, Iterate());
      if (step == Step::kDrained) return queue_.Close();
      if (step == Step::kCommitted) {
        attempt = 0;
        continue;
      }
      ++attempt;
      WaitWithJitter(environment_.runtime);
    }
    return GaveUp();
  }

  Status Stopped() const {
    if (report_.figures.commits == 0) {
      return Error(ErrorKind::kCancelled, "stopped on request; nothing was committed");
    }
    return Error(ErrorKind::kCancelled,
                 "stopped on request; rows were committed before, and the next shift "
                 "goes on behind them (rows: {}, commits: {})",
                 report_.figures.rows, report_.figures.commits);
  }

  Result<Step> Iterate() {
    FIRN_ASSIGN_OR_RETURN(Head head, shift_.LoadHead());
    const std::optional<BatchId> parent = head.positions.last_batch;
    const Result<PlannedIteration> planned = Plan(std::move(head));
    if (IsStale(planned.status())) return Step::kPlanAgain;
    FIRN_RETURN_NOT_OK(WithWayOut(planned.status(), shift_.table_));
    if (planned->segments.empty()) return Conclude(*planned);
    observer_.OnPlanned(*planned);
    CrashPoint("shift.planned");
    const Result<WrittenIteration> written = Write(*planned, parent);
    if (IsStale(written.status())) return Step::kPlanAgain;
    FIRN_RETURN_NOT_OK(WithWayOut(written.status(), shift_.table_));
    return Commit(*planned, *written);
  }

  Result<PlannedIteration> Plan(Head head) {
    FIRN_ASSIGN_OR_RETURN(
        auto shards, wal::ListShards(environment_.wal_store, head.metadata.table_uuid));
    listed_ = shards;
    if (!horizon_) horizon_ = HorizonOf(shards);
    CutAt(*horizon_, shards);
    return PlanIteration(environment_.wal_reader, *shift_.spool_,
                         {.metadata = std::move(head.metadata),
                          .from = std::move(head.positions.reached),
                          .shards = std::move(shards)},
                         shift_.options_.iteration, stop_);
  }

  /// A segment of the listing is gone: another process has committed and deleted it. Or
  /// one is being released, and soon is to be read itself.
  bool IsStale(const Status& status) {
    const bool is_stale =
        IsError(status, ErrorKind::kNotFound) || IsError(status, ErrorKind::kConflict);
    if (!is_stale) return false;
    last_failure_ = status;
    return true;
  }

  Result<WrittenIteration> Write(const PlannedIteration& planned,
                                 const std::optional<BatchId>& parent) {
    return WriteIteration(
        environment_.runtime, environment_.memory, planned,
        {.io = environment_.io,
         .id = BatchId(NewUlid(environment_.runtime)),
         .parent = parent},
        {.options = shift_.options_.iteration,
         .stop = stop_,
         .done = [&](const planner::Chunk& chunk, const ChunkFiles& files) {
           observer_.OnChunk(chunk, files);
         }});
  }

  /// What the table need not remember any more once the iteration is in it.
  Result<wal::Retired> FindRetired(const PlannedIteration& planned,
                                   const commit::Batch& batch) {
    FIRN_ASSIGN_OR_RETURN(
        const auto loads,
        wal::ListEndedLoads(environment_.wal_store, planned.start.metadata.table_uuid));
    wal::Retired retired =
        wal::FindRetired(planned.admission.next, listed_, loads,
                         environment_.runtime.Now() - shift_.remembered_for());
    for (const auto& [shard, range] : batch.shards) retired.shards.erase(shard);
    for (const auto& [source, range] : batch.sources) retired.sources.erase(source);
    return retired;
  }

  Result<Step> Commit(const PlannedIteration& planned, const WrittenIteration& written) {
    commit::Batch batch = written.batch;
    FIRN_ASSIGN_OR_RETURN(batch.retired, FindRetired(planned, batch));
    wal::Positions after = PositionsAfter(planned.admission.next, batch);
    const auto ticket = queue_.Submit(std::move(batch), std::move(after));
    FIRN_ASSIGN_OR_RETURN(const commit::BatchOutcome outcome, ticket->Wait());
    CrashPoint("shift.committed");
    if (outcome.state == commit::BatchState::kSuperseded) {
      ++report_.superseded;
      metrics_.CountSuperseded();
      last_failure_ = Error(ErrorKind::kConflict,
                            "another process planned and committed the same rows first; "
                            "run one shift of a table at a time");
      return Step::kPlanAgain;
    }
    const ShiftFigures figures = FiguresOf(planned, written);
    metrics_.Count(figures);
    Add(figures, report_.figures);
    return Step::kCommitted;
  }

  /// Nothing can be admitted: tells why, unless the listing was out of date.
  Result<Step> Conclude(const PlannedIteration& planned) {
    report_.waiting = planned.admission.waiting;
    report_.holes.clear();
    if (planned.admission.holes.empty()) return Step::kDrained;
    FIRN_ASSIGN_OR_RETURN(const Head head, shift_.LoadHead());
    // A segment may become visible a little later than one that was written after it.
    for (int look = 0; look < 2; ++look) {
      if (look > 0) WaitWithJitter(environment_.runtime);
      for (const wal::ShardHole& hole : planned.admission.holes) {
        FIRN_ASSIGN_OR_RETURN(const bool is_there, IsThere(planned, hole));
        if (!is_there && !IsPassed(hole, head.positions.reached)) continue;
        last_failure_ = Error(ErrorKind::kUnavailable,
                              "segment {} of shard {} is there, but listings do not show "
                              "it; try again later",
                              hole.missing, hole.shard);
        return Step::kPlanAgain;
      }
    }
    for (const wal::ShardHole& hole : planned.admission.holes) {
      report_.holes.push_back(
          {.hole = hole, .shard_state = StateOf(planned, hole.shard)});
    }
    return Step::kDrained;
  }

  Result<bool> IsThere(const PlannedIteration& planned, const wal::ShardHole& hole) {
    const wal::SegmentName name = {.table_uuid = planned.start.metadata.table_uuid,
                                   .shard = hole.shard,
                                   .sequence = hole.missing};
    const Status found = environment_.wal_store.GetRange(SegmentKey(name), 0, 1).status();
    if (IsError(found, ErrorKind::kNotFound)) return false;
    FIRN_RETURN_NOT_OK(found);
    return true;
  }

  ShardState StateOf(const PlannedIteration& planned, const ShardId& shard) {
    const auto& shards = planned.start.shards;
    const auto listing = std::ranges::find(shards, shard, &wal::ShardListing::shard);
    FIRN_CHECK(listing != shards.end(), "{}", shard);
    return shift::StateOf(*listing, environment_.runtime.Now(),
                          shift_.options_.dead_after);
  }

  Status GaveUp() const {
    return AddContext(last_failure_, fmt::format("{}: gave up after {} plans in a row",
                                                 shift_.table_, kPlanAttemptsMax));
  }

  TableShift& shift_;
  const Environment& environment_;
  const StopToken& stop_;
  ShiftObserver& observer_;
  commit::CommitMetrics commit_metrics_;
  commit::Committer committer_;
  commit::CommitQueue queue_;
  ShiftMetrics metrics_;
  /// The last listing, with what lies beyond the horizon.
  std::vector<wal::ShardListing> listed_;
  std::optional<Horizon> horizon_;
  ShiftReport report_;
  /// Why the last plan was in vain.
  Status last_failure_;
};

Result<ShiftReport> TableShift::Run(const StopToken& stop, ShiftObserver& observer) {
  FIRN_ASSIGN_OR_RETURN(const Head head, LoadHead());
  return Session(*this, head.metadata.table_uuid, stop, observer).Run();
}

}  // namespace firn::shift
