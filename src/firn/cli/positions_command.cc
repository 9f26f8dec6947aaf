#include <fmt/ranges.h>

#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table_access.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/commit/positions.h"
#include "firn/commit/reset.h"
#include "firn/commit/rollback.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

Json ToJson(const OpenTable& table, const WalId& wal_id,
            const commit::TablePositions& positions) {
  Json json = {{"table", ToString(table.identifier)},
               {"table_uuid", table.metadata().table_uuid.value()},
               {"wal_id", wal_id.value()}};
  json["last_batch"] =
      positions.last_batch ? Json(positions.last_batch->value()) : Json(nullptr);
  json["snapshot"] =
      positions.snapshot ? Json(fmt::to_string(*positions.snapshot)) : Json(nullptr);
  json["shards"] = Json::object();
  for (const auto& [shard, sequence] : positions.reached.shards) {
    json["shards"][shard.value()] = sequence.value();
  }
  json["sources"] = Json::object();
  for (const auto& [source, next] : positions.reached.sources) {
    json["sources"][source] = next;
  }
  return json;
}

void PrintText(const OpenTable& table, const WalId& wal_id,
               const commit::TablePositions& positions) {
  fmt::print("table       {} ({})\nWAL         {}\n", table.identifier,
             table.metadata().table_uuid, wal_id);
  if (!positions.last_batch) {
    fmt::print("nothing of this WAL was committed yet\n");
    return;
  }
  fmt::print("last batch  {}\nsnapshot    {}\n", *positions.last_batch,
             positions.snapshot ? fmt::format("{}", *positions.snapshot) : "unknown");
  TextTable shards({{"shard"}, {"through segment", Align::kRight}});
  for (const auto& [shard, sequence] : positions.reached.shards) {
    shards.AddRow(
        {shard.value(), FormatCount(static_cast<std::int64_t>(sequence.value()))});
  }
  fmt::print("\n{}", shards.ToString());
  if (positions.reached.sources.empty()) return;
  TextTable sources({{"source"}, {"next offset", Align::kRight}});
  for (const auto& [source, next] : positions.reached.sources) {
    sources.AddRow({source, FormatCount(next)});
  }
  fmt::print("\n{}", sources.ToString());
}

std::string Describe(const commit::AbandonedSnapshot& snapshot) {
  if (!snapshot.added_records) return fmt::format("{}", snapshot.id);
  return fmt::format("{} ({})", snapshot.id,
                     FormatCounted(*snapshot.added_records, "row"));
}

void PrintReset(const OpenTable& table, const WalId& wal_id,
                const PositionsResetArguments& arguments,
                const commit::PlannedReset& reset) {
  fmt::print("{} was rolled back: {}\n", table.identifier, reset.reason);
  for (const commit::AbandonedSnapshot& snapshot : reset.abandoned) {
    fmt::print("lost        snapshot {}\n", Describe(snapshot));
  }
  if (arguments.keep) fmt::print("positions stay as they are; the lost rows stay out\n");
  for (const auto& [wal, shards] : reset.shards) {
    for (const auto& [shard, move] : shards) {
      fmt::print("goes back   shard {} from segment {} to {}{}\n", shard, move.from,
                 move.to,
                 wal == wal_id ? "" : fmt::format(" (of WAL {}, not looked into)", wal));
    }
  }
  for (const auto& [source, move] : reset.sources) {
    fmt::print("goes back   {} from {} to {}\n", source, FormatCount(move.from),
               FormatCount(move.to));
  }
}

/// Each root can only look for its own segments.
Status CheckOtherWals(const WalId& own, const PositionsResetArguments& arguments,
                      const commit::PlannedReset& reset) {
  std::vector<WalId> others;
  for (const auto& [wal, shards] : reset.shards) {
    if (wal != own) others.push_back(wal);
  }
  if (others.empty() || arguments.all_wals) return Status::OK();
  return InvalidError(
      "{}: rows of other WALs were lost, too, and their positions would go back with "
      "this one's: {}. Look from each of their roots whether the segments are there "
      "('firn positions reset {} --to-table --dry-run'), then add --all-wals",
      arguments.table, fmt::join(others, ", "), arguments.table);
}

}  // namespace

Status RunPositionsShow(const CommandContext& context, const std::string& table_name,
                        OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, table_name));
  FIRN_ASSIGN_OR_RETURN(const WalId wal_id, WalIdForReading(*workspace));
  FIRN_ASSIGN_OR_RETURN(const commit::TablePositions positions,
                        commit::ReadPositions(table.metadata(), wal_id));
  if (format == OutputFormat::kJson) {
    PrintJson(ToJson(table, wal_id, positions));
  } else {
    PrintText(table, wal_id, positions);
  }
  return CheckNotRolledBack(table.metadata(), positions, table_name);
}

Status RunPositionsReset(const CommandContext& context,
                         const PositionsResetArguments& arguments) {
  if (arguments.to_table == arguments.keep) {
    return AsUsageError(InvalidError(
        "say what becomes of the rows that the table lost: --to-table takes them again, "
        "--keep leaves them out"));
  }
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, arguments.table));
  FIRN_ASSIGN_OR_RETURN(const WalId wal_id, wal::ReadWalId(workspace->wal_store()));
  const auto kind =
      arguments.keep ? commit::ResetKind::kKeep : commit::ResetKind::kToTable;
  FIRN_ASSIGN_OR_RETURN(const auto planned,
                        commit::PlanReset(table.metadata(), wal_id, kind));
  if (!planned) {
    fmt::print("{} was not rolled back: nothing to reset\n", table.identifier);
    return Status::OK();
  }
  PrintReset(table, wal_id, arguments, *planned);
  const TableUuid& uuid = table.metadata().table_uuid;
  FIRN_ASSIGN_OR_RETURN(const auto shards, wal::ListShards(workspace->wal_store(), uuid));
  FIRN_RETURN_NOT_OK(CheckSegmentsAreThere(*planned, wal_id, shards));
  if (arguments.dry_run) {
    fmt::print("nothing was changed (--dry-run)\n");
    return Status::OK();
  }
  FIRN_RETURN_NOT_OK(CheckOtherWals(wal_id, arguments, *planned));
  FIRN_ASSIGN_OR_RETURN(
      const SnapshotId snapshot,
      commit::ResetPositions(workspace->catalog(), workspace->file_io(), context.runtime,
                             {.table = table.identifier,
                              .table_uuid = uuid,
                              .wal = wal_id,
                              .kind = kind,
                              .planned = *planned,
                              .stop = context.stop}));
  fmt::print("done in snapshot {}; the next load or shift goes on\n", snapshot);
  return Status::OK();
}

}  // namespace firn::cli
