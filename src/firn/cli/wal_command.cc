#include <algorithm>
#include <set>
#include <string_view>

#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/table_access.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/commit/committer.h"
#include "firn/commit/positions.h"
#include "firn/commit/rollback.h"
#include "firn/core/crash_point.h"
#include "firn/core/ulid.h"
#include "firn/shift/shard_state.h"
#include "firn/wal/quarantine.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

/// The WAL of one table, and how far the table is in it.
struct TableWal {
  WalId id;
  TableUuid table;
  std::optional<BatchId> last_batch;
  wal::Positions reached;
  std::vector<wal::ShardListing> shards;
};

Result<TableWal> OpenTableWal(Workspace& workspace, const std::string& name) {
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(workspace, name));
  FIRN_ASSIGN_OR_RETURN(const WalId wal_id, wal::ReadWalId(workspace.wal_store()));
  FIRN_ASSIGN_OR_RETURN(commit::TablePositions positions,
                        commit::ReadPositions(table.metadata(), wal_id));
  FIRN_RETURN_NOT_OK(commit::CheckNotRolledBack(table.metadata(), positions, name));
  const TableUuid& uuid = table.metadata().table_uuid;
  FIRN_ASSIGN_OR_RETURN(auto shards, wal::ListShards(workspace.wal_store(), uuid));
  return TableWal{.id = wal_id,
                  .table = uuid,
                  .last_batch = std::move(positions.last_batch),
                  .reached = std::move(positions.reached),
                  .shards = std::move(shards)};
}

/// "<table uuid>/<shard>/<sequence>.parquet", as messages name it, also at the end of a
/// path; without the table's uuid, the zeros or the suffix, too.
Result<wal::SegmentName> ParseSegment(const TableWal& wal, const std::string& text) {
  const std::size_t slash = text.rfind('/');
  std::string sequence = slash == std::string_view::npos ? "" : text.substr(slash + 1);
  if (sequence.ends_with(".parquet")) sequence.resize(sequence.size() - 8);
  const bool is_number =
      !sequence.empty() && sequence.size() <= 20 &&
      std::ranges::all_of(sequence, [](char c) { return c >= '0' && c <= '9'; });
  if (is_number) {
    const std::string path = text.substr(0, slash);
    const std::string shard = path.substr(path.rfind('/') + 1);
    const auto name = wal::ParseSegmentKey(
        fmt::format("{}/{}/{:0>20}.parquet", wal.table, shard, sequence));
    if (name) return *name;
  }
  return AsUsageError(InvalidError(
      "\"{}\" names no segment; expected <shard>/<sequence>, as 'firn inspect wal' and "
      "messages name them",
      text));
}

const wal::SegmentObject* FindSegment(const TableWal& wal, const wal::SegmentName& name) {
  for (const wal::ShardListing& shard : wal.shards) {
    const auto found = std::ranges::find(shard.segments, name, &wal::SegmentObject::name);
    if (found != shard.segments.end()) return &*found;
  }
  return nullptr;
}

bool IsPassed(const TableWal& wal, const wal::SegmentName& name) {
  const auto position = wal.reached.shards.find(name.shard);
  return position != wal.reached.shards.end() && name.sequence <= position->second;
}

/// By what a writer is thought dead.
struct Judge {
  WallTime now;
  Duration dead_after;
};

/// A segment that is to be taken out, and what is known of it.
struct TakenOut {
  wal::SegmentName name;
  const wal::SegmentObject* object = nullptr;
  /// Why its footer cannot be read; OK if it can.
  Status problem;
  std::int64_t rows = 0;
  std::vector<wal::SourceRange> ranges;
};

/// Whether a segment that is missing may be left out: one of a writer that lives may
/// still come.
Status CheckWriterIsDone(const wal::ShardListing& shard, const wal::SegmentName& missing,
                         const Judge& judge) {
  if (shift::StateOf(shard, judge.now, judge.dead_after) != shift::ShardState::kLive) {
    return Status::OK();
  }
  return InvalidError(
      "{}: it is missing, and its writer may live: the segment may still come, or "
      "nothing "
      "behind it was ever acknowledged. Once the shard was silent for {} "
      "(wal.dead_after) "
      "it may be left out",
      SegmentKey(missing), FormatDuration(judge.dead_after));
}

Status CheckMayBeTakenOut(const TableWal& wal, const wal::SegmentName& name,
                          const Judge& judge) {
  if (IsPassed(wal, name)) {
    return InvalidError("{}: the table is past it, so that nothing waits for it",
                        SegmentKey(name));
  }
  const auto shard = std::ranges::find(wal.shards, name.shard, &wal::ShardListing::shard);
  if (shard == wal.shards.end() || shard->segments.empty() ||
      shard->segments.back().name.sequence < name.sequence) {
    return Error(ErrorKind::kNotFound,
                 "{}: there is no such segment, and none behind it in its shard",
                 SegmentKey(name));
  }
  if (FindSegment(wal, name) != nullptr) return Status::OK();
  return CheckWriterIsDone(*shard, name, judge);
}

/// Reads what can be read of the segments above the positions.
class SegmentSurvey {
 public:
  SegmentSurvey(wal::WalReader& reader, const TableWal& wal)
      : reader_(reader), wal_(wal) {}

  /// Fills in what is known of `taken`. Corruption if another segment cannot be read:
  /// what it consumed would be thought to be theirs.
  Status Look(std::vector<TakenOut>& taken) {
    for (TakenOut& segment : taken) FIRN_RETURN_NOT_OK(LookInto(segment));
    std::vector<wal::ListedSegment> readable;
    FIRN_RETURN_NOT_OK(ReadOthers(taken, readable));
    std::vector<wal::SegmentName> unreadable;
    for (const TakenOut& segment : taken) {
      if (segment.problem.ok()) {
        readable.push_back({.name = segment.name, .ranges = segment.ranges});
      } else {
        unreadable.push_back(segment.name);
      }
    }
    auto missing = FindMissingRanges(wal_.reached, readable, unreadable);
    std::size_t next = 0;
    for (TakenOut& segment : taken) {
      if (!segment.problem.ok()) segment.ranges = std::move(missing[next++]);
    }
    return Status::OK();
  }

 private:
  Status LookInto(TakenOut& segment) {
    segment.object = FindSegment(wal_, segment.name);
    if (segment.object == nullptr || segment.object->size_bytes == 0) {
      segment.problem = Error(ErrorKind::kNotFound, "the segment is missing");
      return Status::OK();
    }
    const auto read =
        reader_.ReadSegmentFooter(segment.object->key, segment.object->size_bytes);
    segment.problem = read.status();
    // What a later attempt may read is not damaged.
    if (!read.ok() && !IsError(read.status(), ErrorKind::kCorruption)) {
      return read.status();
    }
    if (!read.ok()) return Status::OK();
    segment.ranges = read->footer->ranges;
    for (const auto& runs : read->footer->row_groups) {
      for (const wal::SegmentRun& run : runs) segment.rows += run.rows;
    }
    return Status::OK();
  }

  Status ReadOthers(const std::vector<TakenOut>& taken,
                    std::vector<wal::ListedSegment>& readable) {
    std::vector<wal::ShardListing> others = wal_.shards;
    for (wal::ShardListing& shard : others) {
      std::erase_if(shard.segments, [&](const wal::SegmentObject& object) {
        return std::ranges::any_of(
            taken, [&](const TakenOut& out) { return out.name == object.name; });
      });
    }
    auto listing = reader_.ReadRanges(wal_.table, SegmentsAbove(wal_.reached, others));
    if (IsError(listing.status(), ErrorKind::kCorruption)) {
      return AddContext(listing.status(),
                        "another segment cannot be read either; name it, too");
    }
    FIRN_RETURN_NOT_OK(listing.status());
    readable = *std::move(listing);
    return Status::OK();
  }

  wal::WalReader& reader_;
  const TableWal& wal_;
};

void Print(const TakenOut& segment) {
  fmt::print("{}\n", SegmentKey(segment.name));
  if (segment.problem.ok()) {
    fmt::print("  its footer can be read: {}, {}\n", FormatCounted(segment.rows, "row"),
               FormatBytes(segment.object->size_bytes));
  } else {
    fmt::print("  {}\n  how many rows it holds is not known\n",
               ErrorText(segment.problem));
  }
  for (const wal::SourceRange& range : segment.ranges) {
    fmt::print("  left out of {}: records {} to {}\n", range.source,
               FormatCount(range.first), FormatCount(range.next - 1));
  }
  if (segment.ranges.empty() && !segment.problem.ok()) {
    fmt::print(
        "  no segment behind it waits for what it holds: a source that can deliver its "
        "records again ('firn load' with the same --id) will\n");
  }
}

bool IsInQuarantine(const TableWal& wal, const wal::SegmentName& name) {
  const wal::SegmentObject* object = FindSegment(wal, name);
  return object != nullptr && object->quarantined;
}

/// Two at once are no fault: both want the same.
Status ReportReleasedByAnother(const wal::SegmentName& name) {
  fmt::print("{} is out of quarantine: another release was faster\n", SegmentKey(name));
  return Status::OK();
}

Status CheckMayBeReleased(const TableWal& wal, const wal::SegmentName& name) {
  if (!IsPassed(wal, name)) return Status::OK();
  return InvalidError(
      "{}: a shift has gone on without it, so its rows cannot take their place any "
      "more; the file is kept, to be looked into and loaded again",
      SegmentKey(name));
}

/// Commits a batch without rows, so that no shift which was planned before can commit any
/// more: it plans again.
Status SupersedePlans(Workspace& workspace, const std::string& table) {
  FIRN_ASSIGN_OR_RETURN(const auto identifier, iceberg::ParseTableIdentifier(table));
  for (int attempt = 0; attempt < shift::kPlanAttemptsMax; ++attempt) {
    FIRN_ASSIGN_OR_RETURN(const TableWal wal, OpenTableWal(workspace, table));
    commit::Committer committer(
        workspace.catalog(), workspace.file_io(), workspace.runtime(),
        {.table = identifier, .table_uuid = wal.table, .wal = wal.id});
    FIRN_ASSIGN_OR_RETURN(const auto outcomes,
                          committer.Commit({{.id = BatchId(NewUlid(workspace.runtime())),
                                             .parent = wal.last_batch}}));
    // Superseded: a shift has committed meanwhile, and another may be planned already.
    if (outcomes.front().state == commit::BatchState::kCommitted) return Status::OK();
  }
  return Error(ErrorKind::kConflict,
               "{}: others kept committing; release the segment again once they rest",
               table);
}

}  // namespace

Status RunWalQuarantine(const CommandContext& context,
                        const WalQuarantineArguments& arguments) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const TableWal wal, OpenTableWal(*workspace, arguments.table));
  const Judge judge = {.now = context.runtime.Now(),
                       .dead_after = context.config.wal.dead_after};
  std::vector<TakenOut> taken;
  std::set<wal::SegmentName> names;
  for (const std::string& text : arguments.segments) {
    FIRN_ASSIGN_OR_RETURN(const wal::SegmentName name, ParseSegment(wal, text));
    FIRN_RETURN_NOT_OK(CheckMayBeTakenOut(wal, name, judge));
    if (names.insert(name).second) taken.push_back({.name = name});
  }
  wal::WalReader reader(context.runtime, workspace->wal_store());
  FIRN_RETURN_NOT_OK(SegmentSurvey(reader, wal).Look(taken));
  for (const TakenOut& segment : taken) Print(segment);
  if (!arguments.yes) {
    fmt::print("nothing was changed; --yes leaves this out of the table\n");
    return Status::OK();
  }
  for (const TakenOut& segment : taken) {
    FIRN_RETURN_NOT_OK(
        WriteQuarantine(workspace->wal_store(), segment.name, segment.ranges));
  }
  fmt::print(
      "in quarantine: the next shift goes on behind it; 'firn wal release' before that "
      "brings it back. The file stays in the WAL\n");
  return Status::OK();
}

Status RunWalRelease(const CommandContext& context,
                     const WalReleaseArguments& arguments) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const TableWal wal, OpenTableWal(*workspace, arguments.table));
  FIRN_ASSIGN_OR_RETURN(const wal::SegmentName name,
                        ParseSegment(wal, arguments.segment));
  if (!IsInQuarantine(wal, name)) {
    return Error(ErrorKind::kNotFound, "{}: it is not in quarantine", SegmentKey(name));
  }
  FIRN_RETURN_NOT_OK(CheckMayBeReleased(wal, name));
  storage::ObjectStore& store = workspace->wal_store();
  const Status begun = wal::BeginRelease(store, name);
  if (IsError(begun, ErrorKind::kNotFound)) return ReportReleasedByAnother(name);
  FIRN_RETURN_NOT_OK(begun);
  CrashPoint("release.begun");
  // From here on nobody plans with the marker; whoever did before commits now or never.
  FIRN_RETURN_NOT_OK(SupersedePlans(*workspace, arguments.table));
  CrashPoint("release.superseded");
  FIRN_ASSIGN_OR_RETURN(const TableWal after, OpenTableWal(*workspace, arguments.table));
  if (!IsInQuarantine(after, name)) return ReportReleasedByAnother(name);
  FIRN_RETURN_NOT_OK(CheckMayBeReleased(after, name));
  FIRN_RETURN_NOT_OK(store.Delete(QuarantineKey(name)));
  fmt::print("{} is out of quarantine: the next shift takes it\n", SegmentKey(name));
  return Status::OK();
}

}  // namespace firn::cli
