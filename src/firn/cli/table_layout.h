#pragma once

#include <map>
#include <string>

#include "firn/cli/table_access.h"
#include "firn/cli/workspace.h"
#include "firn/order/sort_order.h"
#include "firn/types/partition_spec.h"
#include "firn/types/schema.h"

namespace firn::cli {

/// What a user says of a table that is to be made.
struct NewTable {
  types::Schema schema;
  /// Texts of --partition-by and --sort-by.
  std::string partition_by;
  std::string sort_by;
  std::map<std::string, std::string> properties;
};

/// What --partition-by and --sort-by say. Usage errors name the option.
Result<types::PartitionSpec> PartitionBy(const std::string& text,
                                         const types::Schema& schema);
Result<order::SortOrder> SortBy(const std::string& text, const types::Schema& schema);

/// A usage error for a new table's name that Firn uses itself: that of a table of dead
/// letters, or one whose folder would lie in the WAL.
Status CheckNewName(const Config& config, const std::string& name);

/// Makes a table, and its namespace if that is missing. A usage error if the layout does
/// not fit the schema, or a shift could not write the table; AlreadyExists if there is
/// such a table.
Result<OpenTable> CreateTable(Workspace& workspace, const std::string& name,
                              const NewTable& table);

/// "month(time_hour), tenant" and "carrier asc nulls first", as --partition-by and
/// --sort-by take them; empty if there is nothing.
std::string PartitionText(const iceberg::TableMetadata& metadata);
std::string SortText(const iceberg::TableMetadata& metadata);

}  // namespace firn::cli
