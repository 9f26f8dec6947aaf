#include <map>

#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/json_output.h"
#include "firn/cli/landing.h"
#include "firn/cli/log.h"
#include "firn/cli/schema_file.h"
#include "firn/cli/table_access.h"
#include "firn/cli/table_layout.h"
#include "firn/cli/terminal.h"
#include "firn/cli/units.h"
#include "firn/cli/waiting_segments.h"
#include "firn/cli/workspace.h"
#include "firn/sources/files/column_names.h"
#include "firn/types/column_list.h"

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
  const Status checked =
      schema.ok() ? sources::CheckFieldNames(schema->fields) : schema.status();
  FIRN_RETURN_NOT_OK(AsUsageError(AddContext(checked, "--columns")));
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
  FIRN_ASSIGN_OR_RETURN(const std::int64_t waiting,
                        CountWaitingSegments(workspace, table));
  if (waiting == 0) return Status::OK();
  return InvalidError(
      "{0}: {1} of the WAL {2} not in the table yet, and would be out of reach; run "
      "'firn shift {0}' first, or give --force",
      table.identifier, FormatCounted(waiting, "segment"), waiting == 1 ? "is" : "are");
}

Status DropTable(Workspace& workspace, const OpenTable& table) {
  FIRN_RETURN_NOT_OK(workspace.catalog().DropTable(table.identifier));
  fmt::print("dropped {}; its files stay in {}\n", table.identifier,
             table.metadata().location);
  return Status::OK();
}

}  // namespace

Status RunTableCreate(const CommandContext& context,
                      const TableCreateArguments& arguments) {
  FIRN_RETURN_NOT_OK(CheckNewName(context.config, arguments.table));
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
  // The log has nothing to say about it, and need not be there.
  FIRN_ASSIGN_OR_RETURN(iceberg::CatalogSettings settings, SettingsOf(context.config));
  FIRN_ASSIGN_OR_RETURN(const auto stores, OpenStores(context));
  FIRN_ASSIGN_OR_RETURN(
      const auto catalog,
      OpenExistingCatalog(std::move(settings), *stores, context.runtime));
  FIRN_ASSIGN_OR_RETURN(const auto tables, ListAllTables(*catalog));
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
  FIRN_ASSIGN_OR_RETURN(const auto letters,
                        FindDeadLetterTable(*workspace, arguments.table));
  if (!arguments.force) {
    FIRN_RETURN_NOT_OK(CheckNothingWaits(*workspace, table));
    if (letters && arguments.dead_letters) {
      FIRN_RETURN_NOT_OK(CheckNothingWaits(*workspace, *letters));
    }
  }
  FIRN_RETURN_NOT_OK(DropTable(*workspace, table));
  if (!letters) return Status::OK();
  if (arguments.dead_letters) return DropTable(*workspace, *letters);
  LogWarning(fmt::format(
      "its dead letters stay in the table {0}, and a new table {1} would have them; "
      "'firn table drop {0}' forgets them, too (as --dead-letters does)",
      letters->identifier, table.identifier));
  return Status::OK();
}

}  // namespace firn::cli
