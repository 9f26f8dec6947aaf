#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/json_output.h"
#include "firn/cli/schema_file.h"
#include "firn/cli/shard_figures.h"
#include "firn/cli/table_access.h"
#include "firn/cli/table_layout.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/commit/positions.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

/// The WAL of a table is found by its uuid: once it is dropped, nobody can shift it.
Status CheckNothingWaits(Workspace& workspace, const OpenTable& table) {
  const auto wal_id = wal::ReadWalId(workspace.wal_store());
  if (IsError(wal_id.status(), ErrorKind::kNotFound)) return Status::OK();
  FIRN_RETURN_NOT_OK(wal_id.status());
  FIRN_ASSIGN_OR_RETURN(const commit::TablePositions positions,
                        commit::ReadPositions(table.metadata(), *wal_id));
  FIRN_ASSIGN_OR_RETURN(const auto shards, wal::ListShards(workspace.wal_store(),
                                                           table.metadata().table_uuid));
  std::int64_t waiting = 0;
  for (const wal::ShardListing& shard : shards) {
    waiting += FiguresOf(shard, positions.reached).waiting;
  }
  if (waiting == 0) return Status::OK();
  return InvalidError(
      "{0}: its rows in {1} segments of the WAL are not in the table yet, and would be "
      "out of reach; run 'firn shift {0}' first, or give --force",
      table.identifier, FormatCount(waiting));
}

}  // namespace

Status RunTableCreate(const CommandContext& context,
                      const TableCreateArguments& arguments) {
  FIRN_ASSIGN_OR_RETURN(const types::Schema schema,
                        ReadSchemaFile(arguments.schema_file));
  FIRN_ASSIGN_OR_RETURN(
      const auto workspace,
      Workspace::Open(context.config, context.runtime, WorkspaceMode::kCreate));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table,
                        CreateTable(*workspace, arguments.table,
                                    {.schema = schema,
                                     .partition_by = arguments.partition_by,
                                     .sort_by = arguments.sort_by}));
  fmt::print("created {} in {}\n", table.identifier, table.metadata().location);
  return Status::OK();
}

Status RunTableList(const CommandContext& context, OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(
      const auto workspace,
      Workspace::Open(context.config, context.runtime, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const auto namespaces, workspace->catalog().ListNamespaces());
  std::vector<std::string> names;
  for (const std::string& name : namespaces) {
    FIRN_ASSIGN_OR_RETURN(const auto tables, workspace->catalog().ListTables(name));
    for (const auto& identifier : tables) names.push_back(ToString(identifier));
  }
  if (format == OutputFormat::kJson) {
    PrintJson(Json(names));
    return Status::OK();
  }
  for (const std::string& name : names) fmt::print("{}\n", name);
  return Status::OK();
}

Status RunTableDrop(const CommandContext& context, const TableDropArguments& arguments) {
  FIRN_ASSIGN_OR_RETURN(
      const auto workspace,
      Workspace::Open(context.config, context.runtime, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, arguments.table));
  if (!arguments.force) FIRN_RETURN_NOT_OK(CheckNothingWaits(*workspace, table));
  FIRN_RETURN_NOT_OK(workspace->catalog().DropTable(table.identifier));
  fmt::print("dropped {}; its files stay in {}\n", table.identifier,
             table.metadata().location);
  return Status::OK();
}

}  // namespace firn::cli
