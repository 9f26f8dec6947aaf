#include "firn/commit/reset.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "firn/commit/commit_retry.h"
#include "firn/commit/history.h"
#include "firn/commit/positions.h"
#include "firn/commit/rollback.h"
#include "firn/core/ulid.h"
#include "firn/iceberg/update/append.h"

namespace firn::commit {
namespace {

constexpr const char* kResetEntry = "firn.reset";
constexpr const char* kAddedRecords = "added-records";

std::optional<std::int64_t> AddedRecords(const iceberg::Snapshot& snapshot) {
  const auto entry = snapshot.summary.find(kAddedRecords);
  if (entry == snapshot.summary.end()) return std::nullopt;
  std::int64_t count = 0;
  const char* end = entry->second.data() + entry->second.size();
  const auto [parsed, error] = std::from_chars(entry->second.data(), end, count);
  if (error != std::errc() || parsed != end) return std::nullopt;
  return count;
}

/// From Firn's last commit by parent, until main's history or the end of the chain.
struct AbandonedChain {
  std::vector<const iceberg::Snapshot*> snapshots;
  /// Where main branches off; not there if the chain does not lead to main.
  std::optional<SnapshotId> ancestor;
  /// Whether snapshots between the chain and main have expired. Who expires a snapshot
  /// may also cut the parents of those behind it, so a chain that just ends is no whole
  /// one.
  bool is_cut = false;
};

AbandonedChain FindAbandoned(const iceberg::TableMetadata& metadata, SnapshotId last) {
  std::set<SnapshotId> main;
  for (const iceberg::Snapshot* snapshot : HistoryOfMain(metadata)) {
    main.insert(snapshot->snapshot_id);
  }
  AbandonedChain chain;
  std::set<SnapshotId> seen;
  std::optional<SnapshotId> next = last;
  // Also ends where parents go in a circle.
  while (next.has_value() && seen.insert(*next).second) {
    if (main.contains(*next)) {
      chain.ancestor = next;
      return chain;
    }
    const iceberg::Snapshot* snapshot = FindSnapshot(metadata, *next);
    if (snapshot == nullptr) break;
    chain.snapshots.push_back(snapshot);
    next = snapshot->parent_snapshot_id;
  }
  // Only the table's first snapshot has nothing before it.
  const bool is_whole = main.empty() && !next.has_value() &&
                        chain.snapshots.back()->sequence_number == SnapshotSequence(1);
  chain.is_cut = !is_whole;
  return chain;
}

/// Invalid if main took rows of Firn where it branched off: positions of the abandoned
/// branch say nothing of them, and whichever reset would land them twice. That is so
/// after a rollback, a reset, and a move of main back to what the reset had left.
Status CheckMainTookNothing(const iceberg::TableMetadata& metadata,
                            const std::optional<SnapshotId>& ancestor) {
  for (const iceberg::Snapshot* snapshot : HistoryOfMain(metadata)) {
    if (snapshot->snapshot_id == ancestor) break;
    FIRN_ASSIGN_OR_RETURN(const MovedRanges moved, RangesOf(*snapshot));
    if (moved == MovedRanges{}) continue;
    return InvalidError(
        "main holds rows of snapshot {}, which is no ancestor of the last commit and of "
        "which the positions do not know; move main to the last commit, or to {}, and "
        "reset the positions then",
        snapshot->snapshot_id,
        ancestor.has_value() ? fmt::format("snapshot {}", *ancestor)
                             : "a snapshot before it");
  }
  return Status::OK();
}

/// Takes `range` off the end of the way that a position has come; false if it is not the
/// end.
template <typename Number>
bool GoBack(Number first, Number last, PositionMove<Number>& move) {
  if (move.to != last) return false;
  move.to = first;
  return true;
}

/// Moves the positions of all WALs back over the abandoned snapshots.
class WayBack {
 public:
  /// `sources` are where the table's sources stand now.
  WayBack(const iceberg::TableMetadata& metadata,
          std::map<std::string, std::int64_t> sources)
      : metadata_(metadata), sources_(std::move(sources)) {}

  Status GoBackOver(const iceberg::Snapshot& snapshot, PlannedReset& reset) {
    FIRN_ASSIGN_OR_RETURN(const MovedRanges moved, RangesOf(snapshot));
    for (const auto& [wal, shards] : moved.shards) {
      FIRN_ASSIGN_OR_RETURN(const TablePositions positions,
                            ReadPositions(metadata_, wal));
      for (const auto& [shard, range] : shards) {
        const auto at = positions.reached.shards.find(shard);
        const SegmentSequence from =
            at == positions.reached.shards.end() ? SegmentSequence(0) : at->second;
        auto& move =
            reset.shards[wal].try_emplace(shard, PositionMove(from, from)).first->second;
        if (!GoBack(range.after, range.through, move)) {
          return DoesNotFit(snapshot, fmt::format("shard {}", shard));
        }
      }
    }
    for (const auto& [source, range] : moved.sources) {
      const auto at = sources_.find(source);
      const std::int64_t from = at == sources_.end() ? 0 : at->second;
      auto& move =
          reset.sources.try_emplace(source, PositionMove(from, from)).first->second;
      if (!GoBack(range.first, range.next, move)) return DoesNotFit(snapshot, source);
    }
    return Status::OK();
  }

 private:
  static Status DoesNotFit(const iceberg::Snapshot& snapshot, const std::string& what) {
    return InvalidError(
        "the position of {} is not where snapshot {} left it: the table cannot tell "
        "which "
        "rows it lost; --keep goes on from the positions as they are",
        what, snapshot.snapshot_id);
  }

  const iceberg::TableMetadata& metadata_;
  const std::map<std::string, std::int64_t> sources_;
};

/// Ranges of segments that a listing does not have, as text.
std::vector<std::string> MissingSegments(
    const std::map<ShardId, PositionMove<SegmentSequence>>& moves,
    const std::vector<wal::ShardListing>& shards) {
  std::vector<std::string> missing;
  for (const auto& [shard, move] : moves) {
    std::set<SegmentSequence> there;
    const auto listing = std::ranges::find(shards, shard, &wal::ShardListing::shard);
    if (listing != shards.end()) {
      for (const wal::SegmentObject& segment : listing->segments) {
        there.insert(segment.name.sequence);
      }
    }
    for (std::uint64_t n = move.to.value() + 1; n <= move.from.value(); ++n) {
      if (there.contains(SegmentSequence(n))) continue;
      const std::uint64_t first = n;
      while (n < move.from.value() && !there.contains(SegmentSequence(n + 1))) ++n;
      missing.push_back(
          first == n ? fmt::format("segment {} of shard {}", n, shard)
                     : fmt::format("segments {} to {} of shard {}", first, n, shard));
    }
  }
  return missing;
}

std::string DescribeLostRows(const PlannedReset& reset) {
  std::vector<std::string> parts;
  for (const AbandonedSnapshot& snapshot : reset.abandoned) {
    if (snapshot.added_records.value_or(0) == 0) continue;
    parts.push_back(
        fmt::format("{} records of snapshot {}", *snapshot.added_records, snapshot.id));
  }
  for (const auto& [source, move] : reset.sources) {
    parts.push_back(fmt::format("{} from {} to {}", source, move.to, move.from));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

wal::Positions MovedBack(wal::Positions positions, const WalId& wal,
                         const PlannedReset& reset) {
  if (const auto shards = reset.shards.find(wal); shards != reset.shards.end()) {
    for (const auto& [shard, move] : shards->second) {
      positions.shards[shard] = move.to;
      if (move.to == SegmentSequence(0)) positions.shards.erase(shard);
    }
  }
  for (const auto& [source, move] : reset.sources) positions.sources[source] = move.to;
  return positions;
}

/// All attempts of one reset.
class ResetAttempts {
 public:
  ResetAttempts(iceberg::Catalog& catalog, const iceberg::FileIo& io, Runtime& runtime,
                const ResetRequest& request)
      : catalog_(catalog),
        io_(io),
        runtime_(runtime),
        request_(request),
        batch_(NewUlid(runtime)),
        commit_uuid_(NewUuid(runtime)) {}

  Result<SnapshotId> Run() {
    CommitRetry retry(runtime_, request_.stop);
    return TryCommit<SnapshotId>(
        retry, [&] { return Try(retry.attempt()); }, [this] { return LookForIt(); });
  }

 private:
  std::optional<SnapshotId> LookForIt() const {
    const auto table = catalog_.LoadTable(request_.table);
    if (!table.ok()) return std::nullopt;
    return Landed(table->metadata).ValueOr(std::nullopt);
  }

  Result<std::optional<SnapshotId>> Landed(const iceberg::TableMetadata& metadata) const {
    FIRN_ASSIGN_OR_RETURN(const TablePositions now,
                          ReadPositions(metadata, request_.wal));
    if (now.last_batch == batch_) return now.snapshot;
    // Somebody may have built upon it already.
    const iceberg::Snapshot* landed = FindBatchSnapshot(metadata, request_.wal, batch_);
    if (landed == nullptr) return std::nullopt;
    return landed->snapshot_id;
  }

  Result<SnapshotId> Try(int number) {
    FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable table,
                          catalog_.LoadTable(request_.table));
    const iceberg::TableMetadata& metadata = table.metadata;
    FIRN_ASSIGN_OR_RETURN(const auto landed, Landed(metadata));
    if (landed) return *landed;
    FIRN_RETURN_NOT_OK(CheckIsAsPlanned(metadata));
    FIRN_ASSIGN_OR_RETURN(
        const iceberg::PreparedSnapshot prepared,
        iceberg::PrepareAppend(io_, metadata,
                               {.snapshot_id = iceberg::NewSnapshotId(metadata, runtime_),
                                .commit_uuid = commit_uuid_,
                                .manifests = {}},
                               {.number = number, .summary = Summary()}, runtime_.Now()));
    FIRN_ASSIGN_OR_RETURN(const PropertyChanges changes,
                          Changes(metadata, prepared.snapshot));
    std::vector<iceberg::TableUpdate> updates = prepared.updates;
    updates.push_back(iceberg::SetProperties{changes.updates});
    if (!changes.removals.empty()) {
      updates.push_back(iceberg::RemoveProperties{changes.removals});
    }
    FIRN_RETURN_NOT_OK(
        catalog_.CommitTable(request_.table, prepared.requirements, updates).status());
    return prepared.snapshot.snapshot_id;
  }

  Status CheckIsAsPlanned(const iceberg::TableMetadata& metadata) const {
    if (metadata.table_uuid != request_.table_uuid) {
      return Error(ErrorKind::kNotFound, "table {} was dropped and made anew meanwhile",
                   request_.table);
    }
    FIRN_ASSIGN_OR_RETURN(const auto reset,
                          PlanReset(metadata, request_.wal, request_.kind));
    if (reset == request_.planned) return Status::OK();
    return InvalidError(
        "table {} changed since the reset was planned; look at it and try again",
        request_.table);
  }

  std::map<std::string, std::string> Summary() const {
    std::map<std::string, std::string> summary = {
        {kResetEntry, request_.kind == ResetKind::kKeep ? "keep" : "to-table"}};
    for (const WalId& wal : Wals()) {
      summary[fmt::format("firn.commit.{}", wal)] = batch_.value();
    }
    return summary;
  }

  /// The WALs whose positions the reset speaks of.
  std::set<WalId> Wals() const {
    std::set<WalId> wals = {request_.wal};
    for (const auto& [wal, shards] : request_.planned.shards) wals.insert(wal);
    return wals;
  }

  Result<PropertyChanges> Changes(const iceberg::TableMetadata& metadata,
                                  const iceberg::Snapshot& snapshot) const {
    PropertyChanges all;
    for (const WalId& wal : Wals()) {
      FIRN_ASSIGN_OR_RETURN(TablePositions next, ReadPositions(metadata, wal));
      next.last_batch = batch_;
      next.snapshot = snapshot.snapshot_id;
      next.sequence = snapshot.sequence_number;
      next.reached = MovedBack(std::move(next.reached), wal, request_.planned);
      FIRN_ASSIGN_OR_RETURN(PropertyChanges changes,
                            ChangeProperties(metadata, wal, next));
      all.updates.merge(changes.updates);
      std::ranges::move(changes.removals, std::back_inserter(all.removals));
    }
    return all;
  }

  iceberg::Catalog& catalog_;
  const iceberg::FileIo& io_;
  Runtime& runtime_;
  const ResetRequest& request_;
  const BatchId batch_;
  const std::string commit_uuid_;
};

}  // namespace

Result<std::optional<PlannedReset>> PlanReset(const iceberg::TableMetadata& metadata,
                                              const WalId& wal, ResetKind kind) {
  FIRN_ASSIGN_OR_RETURN(const TablePositions positions, ReadPositions(metadata, wal));
  const std::optional<std::string> reason = FindRollback(metadata, positions);
  if (!reason.has_value()) return std::nullopt;
  PlannedReset reset = {.reason = *reason};
  const AbandonedChain chain = FindAbandoned(metadata, *positions.snapshot);
  FIRN_RETURN_NOT_OK(CheckMainTookNothing(metadata, chain.ancestor));
  for (const iceberg::Snapshot* snapshot : chain.snapshots) {
    reset.abandoned.push_back(
        {.id = snapshot->snapshot_id, .added_records = AddedRecords(*snapshot)});
  }
  if (kind == ResetKind::kKeep) return reset;
  if (chain.is_cut) {
    return InvalidError(
        "of the snapshots up to {}, which main lost, some have expired: the table cannot "
        "tell which rows they took; --keep goes on from the positions as they are",
        *positions.snapshot);
  }
  WayBack way_back(metadata, positions.reached.sources);
  for (const iceberg::Snapshot* snapshot : chain.snapshots) {
    FIRN_RETURN_NOT_OK(way_back.GoBackOver(*snapshot, reset));
  }
  return reset;
}

Status CheckSegmentsAreThere(const PlannedReset& reset, const WalId& wal,
                             const std::vector<wal::ShardListing>& shards) {
  const auto moves = reset.shards.find(wal);
  if (moves == reset.shards.end()) return Status::OK();
  const std::vector<std::string> missing = MissingSegments(moves->second, shards);
  if (missing.empty()) return Status::OK();
  return Error(
      ErrorKind::kNotFound,
      "the rows cannot be taken again, {} deleted from the WAL since: {}; main can be "
      "moved to the abandoned snapshot as long as it is listed, and --keep leaves the "
      "rows out; they are {}",
      missing.size() == 1 ? "this was" : "these were", fmt::join(missing, ", "),
      DescribeLostRows(reset));
}

Result<SnapshotId> ResetPositions(iceberg::Catalog& catalog, const iceberg::FileIo& io,
                                  Runtime& runtime, const ResetRequest& request) {
  return ResetAttempts(catalog, io, runtime, request).Run();
}

}  // namespace firn::commit
