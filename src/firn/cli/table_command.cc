#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/file_text.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table_access.h"
#include "firn/cli/table_layout.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/iceberg/serde/schema_json.h"

namespace firn::cli {
namespace {

Result<types::Schema> ReadSchemaFile(const std::string& path) {
  FIRN_ASSIGN_OR_RETURN(const std::string text, ReadFileText(path));
  auto schema = iceberg::ParseSchemaJson(text);
  FIRN_RETURN_NOT_OK(AddContext(schema.status(), path));
  return schema;
}

}  // namespace

Status RunTableCreate(const CommandContext& context,
                      const TableCreateArguments& arguments) {
  FIRN_ASSIGN_OR_RETURN(const types::Schema schema,
                        ReadSchemaFile(arguments.schema_file));
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        Workspace::Open(context.config, context.runtime));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table,
                        CreateTable(*workspace, arguments.table,
                                    {.schema = schema,
                                     .partition_by = arguments.partition_by,
                                     .sort_by = arguments.sort_by}));
  fmt::print("created {} in {}\n", table.identifier, table.metadata().location);
  return Status::OK();
}

Status RunTableList(const CommandContext& context, OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        Workspace::Open(context.config, context.runtime));
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

Status RunTableDrop(const CommandContext& context, const std::string& name) {
  FIRN_ASSIGN_OR_RETURN(const auto workspace,
                        Workspace::Open(context.config, context.runtime));
  FIRN_ASSIGN_OR_RETURN(const OpenTable table, FindTable(*workspace, name));
  FIRN_RETURN_NOT_OK(workspace->catalog().DropTable(table.identifier));
  fmt::print("dropped {}; its files stay in {}\n", table.identifier,
             table.metadata().location);
  return Status::OK();
}

}  // namespace firn::cli
