#include "firn/shift/table_shift_session.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "firn/core/crash_point.h"
#include "firn/core/ulid.h"
#include "firn/shift/abandoned_files.h"
#include "firn/shift/shard_state.h"
#include "firn/wal/batch_note.h"

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

constexpr Duration kReplanWaitMax = std::chrono::milliseconds(200);

void WaitWithJitter(Runtime& runtime) {
  runtime.Sleep(
      Duration(static_cast<std::int64_t>(runtime.Random64() % kReplanWaitMax.count())));
}

SegmentHorizon HorizonOf(const std::vector<wal::ShardListing>& shards) {
  SegmentHorizon horizon;
  for (const wal::ShardListing& shard : shards) {
    if (!shard.segments.empty()) {
      horizon[shard.shard] = shard.segments.back().name.sequence;
    }
  }
  return horizon;
}

/// Takes out what came later.
void CutAt(const SegmentHorizon& horizon, std::vector<wal::ShardListing>& shards) {
  for (wal::ShardListing& shard : shards) {
    const auto last = horizon.find(shard.shard);
    std::erase_if(shard.segments, [&](const wal::SegmentObject& segment) {
      return last == horizon.end() || segment.name.sequence > last->second;
    });
  }
}

bool IsPassed(const wal::ShardHole& hole, const wal::Positions& positions) {
  return hole.missing <= PositionOf(positions, hole.shard);
}

}  // namespace

Status WithWayOut(const Status& status, const iceberg::TableIdentifier& table) {
  if (!IsError(status, ErrorKind::kCorruption)) return status;
  return Error(ErrorKind::kCorruption,
               "{}; put the segment back from a backup of the WAL, or leave it out: "
               "'firn wal quarantine {} {}'",
               ErrorText(status), table, SegmentNamedIn(ErrorText(status)));
}

TableShift::Session::Session(TableShift& shift, const TableUuid& table_uuid,
                             StopToken stop, ShiftObserver& observer)
    : shift_(shift),
      environment_(shift.environment_),
      stop_(std::move(stop)),
      observer_(observer),
      commit_metrics_(environment_.metrics, ToString(shift.table_)),
      committer_(environment_.catalog, environment_.io, environment_.runtime,
                 {.table = shift.table_,
                  .table_uuid = table_uuid,
                  .wal = shift.wal_id_,
                  .metrics = &commit_metrics_,
                  .stop = stop_}),
      queue_(environment_.runtime, committer_, shift.options_.commit_queue_size,
             [this] { observer_.OnOutcome(); }),
      metrics_(environment_.metrics, ToString(shift.table_)) {}

Status TableShift::Session::Advance(Horizon horizon, WhenFull when_full) {
  if (horizon == Horizon::kNow) horizon_.reset();
  is_drained_ = false;
  awaits_commits_ = false;
  while (attempts_ < kPlanAttemptsMax) {
    FIRN_RETURN_NOT_OK(stop_.Check());
    FIRN_RETURN_NOT_OK(Settle());
    if (IsFull() && when_full == WhenFull::kReturn) return Status::OK();
    while (IsFull()) FIRN_RETURN_NOT_OK(SettleFirst());
    if (std::exchange(was_superseded_, false)) WaitWithJitter(environment_.runtime);
    FIRN_ASSIGN_OR_RETURN(const Step step, Iterate());
    if (step == Step::kSubmitted) continue;
    is_drained_ = step == Step::kDrained;
    awaits_commits_ = step == Step::kAwaitCommits;
    if (step != Step::kPlanAgain) return Status::OK();
    ++attempts_;
    WaitWithJitter(environment_.runtime);
  }
  return GaveUp();
}

Status TableShift::Session::Settle() {
  while (!in_flight_.empty() && in_flight_.front().ticket->is_resolved()) {
    FIRN_RETURN_NOT_OK(SettleFirst());
  }
  return Status::OK();
}

Status TableShift::Session::SettleAll() {
  while (!in_flight_.empty()) FIRN_RETURN_NOT_OK(SettleFirst());
  return Status::OK();
}

Status TableShift::Session::SettleFirst() {
  const InFlight batch = std::move(in_flight_.front());
  in_flight_.pop_front();
  FIRN_ASSIGN_OR_RETURN(const commit::BatchOutcome outcome, batch.ticket->Wait());
  CrashPoint("shift.committed");
  if (outcome.state == commit::BatchState::kSuperseded) {
    OnSuperseded(batch);
  } else {
    OnCommitted(batch, outcome.snapshot);
  }
  return Status::OK();
}

void TableShift::Session::OnCommitted(const InFlight& batch,
                                      std::optional<SnapshotId> snapshot) {
  attempts_ = 0;
  // Else whoever looks for abandoned files finds that these are none.
  (void)wal::ForgetBatch(environment_.wal_store, committer_.options().table_uuid,
                         batch.id);
  ShiftFigures figures = batch.figures;
  const bool is_shared = snapshot.has_value() && snapshot == last_snapshot_;
  figures.commits = is_shared ? 0 : 1;
  last_snapshot_ = snapshot;
  metrics_.Count(figures);
  Add(figures, report_.figures);
}

void TableShift::Session::OnSuperseded(const InFlight& batch) {
  is_drained_ = false;
  was_superseded_ = true;
  ++report_.superseded;
  metrics_.CountSuperseded();
  last_failure_ = Error(ErrorKind::kConflict,
                        "another process planned and committed the same rows first; "
                        "run one shift of a table at a time");
  // Those planned upon it were not in vain for a reason of their own.
  const bool is_dragged_along =
      batch.parent.has_value() && batch.parent == last_superseded_;
  if (!is_dragged_along) ++attempts_;
  last_superseded_ = batch.id;
}

Status TableShift::Session::Close() {
  const Status closed = queue_.Close();
  FIRN_RETURN_NOT_OK(SettleAll());
  return closed;
}

ShiftNext TableShift::Session::next() const {
  if (is_drained_)
    return in_flight_.empty() ? ShiftNext::kDone : ShiftNext::kAwaitCommits;
  const bool must_wait = awaits_commits_ ? !in_flight_.empty() : IsFull();
  return must_wait ? ShiftNext::kAwaitCommits : ShiftNext::kAdvance;
}

ShiftReport TableShift::Session::TakeReport() {
  return std::exchange(report_, ShiftReport());
}

Status TableShift::Session::Stopped() const {
  if (report_.figures.commits == 0) {
    return Error(ErrorKind::kCancelled, "stopped on request; nothing was committed");
  }
  return Error(ErrorKind::kCancelled,
               "stopped on request; rows were committed before, and the next shift "
               "goes on behind them (rows: {}, commits: {})",
               report_.figures.rows, report_.figures.commits);
}

Result<TableShift::Session::Step> TableShift::Session::Iterate() {
  FIRN_ASSIGN_OR_RETURN(Head head, LoadPlannedHead());
  const std::optional<BatchId> parent = head.positions.last_batch;
  const Result<PlannedIteration> planned = Plan(std::move(head));
  if (IsStale(planned.status())) return Step::kPlanAgain;
  FIRN_RETURN_NOT_OK(planned.status());
  if (planned->segments.empty()) return Conclude(*planned);
  observer_.OnPlanned(*planned);
  CrashPoint("shift.planned");
  const Result<WrittenIteration> written = Write(*planned, parent);
  if (IsStale(written.status())) return Step::kPlanAgain;
  FIRN_RETURN_NOT_OK(WithWayOut(written.status(), shift_.table_));
  FIRN_RETURN_NOT_OK(Submit(*planned, *written));
  return Step::kSubmitted;
}

Result<TableShift::Head> TableShift::Session::LoadPlannedHead() {
  // Before the table is loaded: what has landed by now, that load shows.
  std::optional<commit::PlannedHead> planned = queue_.planned_head();
  FIRN_ASSIGN_OR_RETURN(Head head, shift_.LoadHead());
  if (planned.has_value()) {
    head.positions.last_batch = std::move(planned->id);
    head.positions.reached = std::move(planned->positions);
  }
  return head;
}

Result<PlannedIteration> TableShift::Session::Plan(Head head) {
  FIRN_ASSIGN_OR_RETURN(auto shards, shift_.ListShards(head));
  listed_ = shards;
  if (!horizon_) horizon_ = HorizonOf(shards);
  CutAt(*horizon_, shards);
  auto planned = PlanIteration(environment_.wal_reader, *shift_.spool_,
                               {.metadata = std::move(head.metadata),
                                .from = std::move(head.positions.reached),
                                .shards = std::move(shards)},
                               shift_.options_.iteration, stop_);
  if (!planned.ok()) return WithWayOut(planned.status(), shift_.table_);
  return planned;
}

/// A segment of the listing is gone: another process has committed and deleted it. Or
/// one is being released, and soon is to be read itself.
bool TableShift::Session::IsStale(const Status& status) {
  const bool is_stale =
      IsError(status, ErrorKind::kNotFound) || IsError(status, ErrorKind::kConflict);
  if (!is_stale) return false;
  last_failure_ = status;
  return true;
}

Result<WrittenIteration> TableShift::Session::Write(
    const PlannedIteration& planned, const std::optional<BatchId>& parent) {
  const BatchId id(NewUlid(environment_.runtime));
  storage::ObjectStore& wal = environment_.wal_store;
  const TableUuid& table = planned.start.metadata.table_uuid;
  return WriteIteration(
      environment_.runtime, environment_.memory, planned,
      {.io = environment_.io, .id = id, .parent = parent},
      {.options = shift_.options_.iteration,
       .stop = stop_,
       .done = [&](const planner::Chunk& chunk,
                   const ChunkFiles& files) { observer_.OnChunk(chunk, files); },
       .begin =
           [&](const auto& prefixes) {
             return NoteBeforeFiles(
                 wal, table, id,
                 {.owner = ToString(shift_.table_), .prefixes = prefixes});
           },
       .gone = [&] { (void)wal::ForgetBatch(wal, table, id); }});
}

/// What the table need not remember any more once the iteration is in it.
Result<wal::Retired> TableShift::Session::FindRetired(const PlannedIteration& planned,
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

Status TableShift::Session::Submit(const PlannedIteration& planned,
                                   const WrittenIteration& written) {
  commit::Batch batch = written.batch;
  FIRN_ASSIGN_OR_RETURN(batch.retired, FindRetired(planned, batch));
  wal::Positions after = PositionsAfter(planned.admission.next, batch);
  InFlight submitted = {
      .id = batch.id, .parent = batch.parent, .figures = FiguresOf(planned, written)};
  submitted.ticket = queue_.Submit(std::move(batch), std::move(after));
  in_flight_.push_back(std::move(submitted));
  return Status::OK();
}

/// Nothing can be admitted: tells why, unless the listing was out of date.
Result<TableShift::Session::Step> TableShift::Session::Conclude(
    const PlannedIteration& planned) {
  const wal::Admission& admission = planned.admission;
  const bool is_all = admission.holes.empty() && admission.waiting.empty();
  // Others may have gone on where this one still waits for its own commit.
  if (!is_all && !in_flight_.empty()) return Step::kAwaitCommits;
  report_.waiting = admission.waiting;
  report_.holes.clear();
  if (admission.holes.empty()) return Step::kDrained;
  FIRN_ASSIGN_OR_RETURN(const bool is_out_of_date, IsOutOfDate(planned));
  if (is_out_of_date) return Step::kPlanAgain;
  for (const wal::ShardHole& hole : admission.holes) {
    report_.holes.push_back({.hole = hole, .shard_state = StateOf(planned, hole.shard)});
  }
  return Step::kDrained;
}

Result<bool> TableShift::Session::IsOutOfDate(const PlannedIteration& planned) {
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
      return true;
    }
  }
  return false;
}

Result<bool> TableShift::Session::IsThere(const PlannedIteration& planned,
                                          const wal::ShardHole& hole) {
  const wal::SegmentName name = {.table_uuid = planned.start.metadata.table_uuid,
                                 .shard = hole.shard,
                                 .sequence = hole.missing};
  const Status found = environment_.wal_store.GetRange(SegmentKey(name), 0, 1).status();
  if (IsError(found, ErrorKind::kNotFound)) return false;
  FIRN_RETURN_NOT_OK(found);
  return true;
}

ShardState TableShift::Session::StateOf(const PlannedIteration& planned,
                                        const ShardId& shard) {
  const auto& shards = planned.start.shards;
  const auto listing = std::ranges::find(shards, shard, &wal::ShardListing::shard);
  FIRN_CHECK(listing != shards.end(), "{}", shard);
  return shift::StateOf(*listing, environment_.runtime.Now(), shift_.options_.dead_after);
}

Status TableShift::Session::GaveUp() const {
  return AddContext(last_failure_, fmt::format("{}: gave up after {} plans in a row",
                                               shift_.table_, kPlanAttemptsMax));
}

}  // namespace firn::shift
