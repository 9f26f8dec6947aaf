#include <map>

#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/json_output.h"
#include "firn/cli/schema_file.h"
#include "firn/cli/shard_figures.h"
#include "firn/cli/table_access.h"
#include "firn/cli/table_layout.h"
#include "firn/cli/terminal.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/commit/positions.h"
#include "firn/types/column_list.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

/// The columns that the arguments describe in one of two ways.
Result<types::Schema> SchemaOf(const TableCreateArguments& arguments) {
  if (arguments.schema_file.empty() == arguments.columns.empty()) {
    return AsUsageError(
        InvalidError("say what the columns are: either --columns or --schema"));
  }
  if (!arguments.schema_file.empty()) return ReadSchemaFile(arguments.schema_file);
  auto schema = types::ParseColumnList(arguments.columns);
  FIRN_RETURN_NOT_OK(AsUsageError(AddContext(schema.status(), "--columns")));
  return schema;
}

Result<std::map<std::string, std::string>> PropertiesOf(
    const std::vector<std::string>& texts) {
  std::map<std::string, std::string> properties;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return AsUsageError(InvalidError("--property {}: write NAME=VALUE", text));
    }
    if (!properties.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      return AsUsageError(
          InvalidError("--property {}: given twice", text.substr(0, equals)));
    }
  }
  return properties;
}

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
      "{0}: rows of it in {1} of the WAL are not in the table yet, and would be out of "
      "reach; run 'firn shift {0}' first, or give --force",
      table.identifier, FormatCounted(waiting, "segment"));
}

}  // namespace

Status RunTableCreate(const CommandContext& context,
                      const TableCreateArguments& arguments) {
  FIRN_ASSIGN_OR_RETURN(const types::Schema schema, SchemaOf(arguments));
  FIRN_ASSIGN_OR_RETURN(auto properties, PropertiesOf(arguments.properties));
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kCreate));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table,
                        CreateTable(*workspace, arguments.table,
                                    {.schema = schema,
                                     .partition_by = arguments.partition_by,
                                     .sort_by = arguments.sort_by,
                                     .properties = std::move(properties)}));
  fmt::print("created {} in {}\n", table.identifier, table.metadata().location);
  return Status::OK();
}

Status RunTableList(const CommandContext& context, OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const auto tables, ListAllTables(workspace->catalog()));
  std::vector<std::string> names;
  for (const auto& identifier : tables) names.push_back(ToString(identifier));
  if (format == OutputFormat::kJson) {
    PrintJson(Json(names));
    return Status::OK();
  }
  for (const std::string& name : names) fmt::print("{}\n", Printable(name));
  return Status::OK();
}

Status RunTableDrop(const CommandContext& context, const TableDropArguments& arguments) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        OpenWorkspace(context, WorkspaceMode::kExisting));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, arguments.table));
  if (!arguments.force) FIRN_RETURN_NOT_OK(CheckNothingWaits(*workspace, table));
  FIRN_RETURN_NOT_OK(workspace->catalog().DropTable(table.identifier));
  fmt::print("dropped {}; its files stay in {}\n", table.identifier,
             table.metadata().location);
  return Status::OK();
}

}  // namespace firn::cli
