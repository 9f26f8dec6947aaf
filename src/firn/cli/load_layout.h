#pragma once

#include "firn/cli/commands.h"
#include "firn/cli/table_access.h"
#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::cli {

/// --schema, --partition-by and --sort-by describe a new table: a usage error if against
/// one that is there they do not say the same. With --evolve-schema, --schema says what
/// the table is to become.
Status CheckLayout(const OpenTable& table, const LoadArguments& arguments);

/// A usage error if a new table could not be laid out so.
Status CheckNewLayout(const types::Schema& schema, const LoadArguments& arguments);

}  // namespace firn::cli
