#include "firn/cli/commands.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table_access.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/commit/positions.h"
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
      positions.snapshot ? Json(positions.snapshot->value()) : Json(nullptr);
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

}  // namespace

Status RunPositionsShow(const CommandContext& context, const std::string& name,
                        OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        Workspace::Open(context.config, context.runtime));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, name));
  FIRN_ASSIGN_OR_RETURN(const WalId wal_id,
                        wal::OpenWalRoot(context.runtime, workspace->wal_store()));
  FIRN_ASSIGN_OR_RETURN(const commit::TablePositions positions,
                        commit::ReadPositions(table.metadata(), wal_id));
  if (format == OutputFormat::kJson) {
    PrintJson(ToJson(table, wal_id, positions));
  } else {
    PrintText(table, wal_id, positions);
  }
  return CheckNotRolledBack(table.metadata(), positions, name);
}

}  // namespace firn::cli
