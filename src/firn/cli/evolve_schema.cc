#include "firn/cli/evolve_schema.h"

#include <utility>

#include <fmt/ranges.h>

#include "firn/cli/exit_code.h"
#include "firn/cli/progress.h"
#include "firn/cli/schema_file.h"
#include "firn/cli/units.h"
#include "firn/commit/evolve.h"
#include "firn/iceberg/update/schema_change.h"
#include "firn/sources/files/unknown_fields.h"
#include "firn/sources/files/wanted_schema.h"
#include "firn/types/schema_changes.h"
#include "firn/types/schema_union.h"

namespace firn::cli {
namespace {

Result<types::Schema> WantedByFiles(const CommandContext& context,
                                    const iceberg::TableMetadata& table,
                                    const std::vector<std::string>& files,
                                    const sources::FileOptions& options) {
  Progress progress(context.runtime, "comparing columns and types", 0);
  return sources::FindWantedSchema(
      {.schema = CurrentSchema(table),
       .format_version = table.format_version,
       .files = files},
      options, context.stop, [&](std::int64_t records, std::int64_t read) {
        progress.Update(read, FormatCount(records) + " records read");
      });
}

}  // namespace

std::string UnknownFieldsColumn(const CommandContext& context,
                                const LoadArguments& arguments) {
  if (!arguments.unknown_fields_column.empty()) return arguments.unknown_fields_column;
  if (arguments.evolve_schema || arguments.ignore_unknown) return "";
  const auto table = context.config.tables.find(arguments.table);
  return table == context.config.tables.end() ? "" : table->second.unknown_fields_column;
}

Status CheckUnknownFields(const Config& config, const OpenTable& table) {
  const auto found = config.tables.find(ToString(table.identifier));
  if (found == config.tables.end()) return Status::OK();
  const auto schema = sources::WithUnknownFieldsColumn(
      CurrentSchema(table.metadata()), found->second.unknown_fields_column);
  return AddContext(schema.status(), "unknown_fields_column");
}

bool EvolvesSchema(const CommandContext& context, const LoadArguments& arguments,
                   bool can_be_read_twice) {
  if (arguments.evolve_schema) return true;
  const auto table = context.config.tables.find(arguments.table);
  if (table == context.config.tables.end()) return false;
  if (table->second.schema_evolution != SchemaEvolution::kAdd) return false;
  if (arguments.ignore_unknown || arguments.no_header) return false;
  if (!arguments.unknown_fields_column.empty()) return false;
  return can_be_read_twice || !arguments.schema_file.empty();
}

Result<types::Schema> SchemaWanted(const CommandContext& context,
                                   const LoadArguments& arguments,
                                   const iceberg::TableMetadata& table,
                                   const std::vector<std::string>& files,
                                   const sources::FileOptions& options) {
  if (!arguments.evolve_schema) {
    auto completed = sources::WithUnknownFieldsColumn(CurrentSchema(table),
                                                      arguments.unknown_fields_column);
    FIRN_RETURN_NOT_OK(AsUsageError(completed.status()));
    return completed;
  }
  types::Schema wanted;
  if (arguments.schema_file.empty()) {
    FIRN_ASSIGN_OR_RETURN(wanted, WantedByFiles(context, table, files, options));
  } else {
    FIRN_ASSIGN_OR_RETURN(wanted, ReadSchemaFile(arguments.schema_file));
  }
  // Says what the table does not allow before its records are read.
  FIRN_RETURN_NOT_OK(PrepareSchemaChange(table, wanted));
  return UnionByName(
      CurrentSchema(table), wanted,
      {.format_version = table.format_version, .last_column_id = table.last_column_id});
}

Result<OpenTable> EvolveSchema(const CommandContext& context, Workspace& workspace,
                               OpenTable table, const types::Schema& wanted) {
  const types::Schema before = CurrentSchema(table.metadata());
  FIRN_ASSIGN_OR_RETURN(table.loaded,
                        commit::EvolveTable(workspace.catalog(), context.runtime,
                                            {.identifier = table.identifier,
                                             .uuid = table.metadata().table_uuid,
                                             .stop = context.stop},
                                            wanted));
  const auto changes = types::SchemaChanges(before, CurrentSchema(table.metadata()));
  if (!changes.empty()) {
    fmt::print("{}: schema changed: {}\n", table.identifier, fmt::join(changes, ", "));
  }
  return table;
}

}  // namespace firn::cli
