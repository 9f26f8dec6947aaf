#include "firn/shift/table_shift.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "firn/commit/merge_manifests.h"
#include "firn/commit/position_owner.h"
#include "firn/commit/positions.h"
#include "firn/commit/rollback.h"
#include "firn/shift/abandoned_files.h"
#include "firn/shift/shard_state.h"
#include "firn/shift/table_shift_session.h"
#include "firn/wal/cleaner.h"

namespace firn::shift {
namespace {

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

}  // namespace

TableShift::TableShift(const Environment& environment, iceberg::TableIdentifier table,
                       WalId wal_id, TableShiftOptions options)
    : environment_(environment),
      table_(std::move(table)),
      wal_id_(std::move(wal_id)),
      options_(std::move(options)),
      spool_(std::make_unique<SegmentSpool>(environment_.runtime, environment_.wal_store,
                                            options_.spool_memory_bytes)) {}

TableShift::TableShift(TableShift&&) noexcept = default;
TableShift::~TableShift() = default;

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

Result<std::vector<wal::ShardListing>> TableShift::ListShards(const Head& head) {
  FIRN_ASSIGN_OR_RETURN(
      auto shards, wal::ListShards(environment_.wal_store, head.metadata.table_uuid));
  FIRN_RETURN_NOT_OK(commit::CheckAreNotOfShards(head.metadata, wal_id_, shards));
  return shards;
}

Result<PlannedIteration> TableShift::Plan(const StopToken& stop) {
  FIRN_ASSIGN_OR_RETURN(Head head, LoadHead());
  FIRN_ASSIGN_OR_RETURN(auto shards, ListShards(head));
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
  FIRN_ASSIGN_OR_RETURN(const auto shards, ListShards(head));
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

Result<std::int64_t> TableShift::DeleteAbandoned(const StopToken& stop) {
  const BootTime begin = environment_.runtime.SinceBoot();
  if (looked_for_abandoned_ && begin - *looked_for_abandoned_ < kAbandonedInterval) {
    return 0;
  }
  FIRN_ASSIGN_OR_RETURN(const Head head, LoadHead());
  looked_for_abandoned_ = begin;
  return DeleteAbandonedFiles(
      {.io = environment_.io,
       .wal_store = environment_.wal_store,
       .name = ToString(table_),
       .metadata = head.metadata,
       .main_since = environment_.runtime.Now() - options_.retention,
       .deleted = AbandonedFilesCounter(environment_.metrics, ToString(table_))},
      stop);
}

Result<std::unique_ptr<TableShift::Session>> TableShift::OpenSession(
    const StopToken& stop, ShiftObserver& observer) {
  FIRN_ASSIGN_OR_RETURN(const Head head, LoadHead());
  return std::make_unique<Session>(*this, head.metadata.table_uuid, stop, observer);
}

Result<ShiftReport> TableShift::Run(const StopToken& stop, ShiftObserver& observer) {
  FIRN_ASSIGN_OR_RETURN(const auto session, OpenSession(stop, observer));
  Status status = session->Advance(Session::Horizon::kNow, Session::WhenFull::kWait);
  if (status.ok()) status = session->SettleAll();
  while (status.ok() && !session->is_drained()) {
    status = session->Advance(Session::Horizon::kSame, Session::WhenFull::kWait);
    if (status.ok()) status = session->SettleAll();
  }
  // Also where the stop came during the last commit: whoever asked for it is told.
  if (status.ok()) status = stop.Check();
  // What was submitted is committed, whatever came behind it.
  const Status closed = session->Close();
  for (const Status& failure : {status, closed}) {
    if (!IsError(failure, ErrorKind::kCancelled)) FIRN_RETURN_NOT_OK(failure);
  }
  if (!status.ok() || !closed.ok()) return session->Stopped();
  return session->TakeReport();
}

Status TableShift::Advance(const StopToken& stop, ShiftObserver& observer) {
  if (session_ == nullptr) {
    FIRN_ASSIGN_OR_RETURN(session_, OpenSession(stop, observer));
  }
  return session_->Advance(Session::Horizon::kNow, Session::WhenFull::kReturn);
}

Result<ShiftProgress> TableShift::Settle() {
  if (session_ == nullptr) return ShiftProgress();
  FIRN_RETURN_NOT_OK(session_->Settle());
  ShiftProgress progress = {.report = session_->TakeReport(),
                            .next = session_->next(),
                            .has_place = !session_->IsFull()};
  // The next one begins anew, with the table as it is then.
  if (progress.next == ShiftNext::kDone) session_ = nullptr;
  return progress;
}

Result<ShiftReport> TableShift::Finish() {
  if (session_ == nullptr) return ShiftReport();
  const std::unique_ptr<Session> session = std::move(session_);
  FIRN_RETURN_NOT_OK(session->Close());
  return session->TakeReport();
}

}  // namespace firn::shift
