#pragma once

#include <string>
#include <vector>

#include "firn/cli/commands.h"
#include "firn/cli/table_access.h"
#include "firn/cli/workspace.h"
#include "firn/core/status.h"
#include "firn/sources/files/record_reader.h"
#include "firn/types/schema.h"

namespace firn::cli {

/// The column that a load is to keep unknown fields in: --unknown-fields-column, or the
/// configuration's unless an option says what else becomes of them; empty if they do not
/// fit.
std::string UnknownFieldsColumn(const CommandContext& context,
                                const LoadArguments& arguments);

/// Invalid, naming the setting, if the table has a column that cannot keep unknown fields
/// as the configuration says.
Status CheckUnknownFields(const Config& config, const OpenTable& table);

/// True if a load is to change the schema of a table that is there: --evolve-schema, or
/// schema_evolution: add of the configuration where the files can be looked at
/// beforehand.
bool EvolvesSchema(const CommandContext& context, const LoadArguments& arguments,
                   bool can_be_read_twice);

/// The schema that `table` needs for the files: with evolve_schema theirs, or that of
/// --schema, united with the one it has; else the one it has, with the column for unknown
/// fields. Invalid, naming the column, if the table cannot come to it.
Result<types::Schema> SchemaWanted(const CommandContext& context,
                                   const LoadArguments& arguments,
                                   const iceberg::TableMetadata& table,
                                   const std::vector<std::string>& files,
                                   const sources::FileOptions& options);

/// Commits what `table` lacks of `wanted`, and prints what was changed. As
/// commit::EvolveTable.
Result<OpenTable> EvolveSchema(const CommandContext& context, Workspace& workspace,
                               OpenTable table, const types::Schema& wanted);

}  // namespace firn::cli
