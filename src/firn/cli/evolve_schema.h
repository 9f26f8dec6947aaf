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

/// True if a load is to change the schema of a table that is there: --evolve-schema, or
/// schema_evolution of the configuration where the files can be looked at beforehand.
bool EvolvesSchema(const CommandContext& context, const LoadArguments& arguments,
                   bool can_be_read_twice);

/// The schema that `table` needs for the files: theirs, or that of --schema, united with
/// the one it has. Invalid, naming the column, if the table cannot come to it.
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
