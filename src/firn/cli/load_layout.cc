#include "firn/cli/load_layout.h"

#include <algorithm>

#include "firn/cli/exit_code.h"
#include "firn/cli/schema_file.h"
#include "firn/cli/table_layout.h"
#include "firn/sources/files/unknown_fields.h"

namespace firn::cli {
namespace {

Status CheckSchema(const OpenTable& table, const LoadArguments& arguments) {
  if (arguments.schema_file.empty() || arguments.evolve_schema) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const types::Schema schema,
                        ReadSchemaFile(arguments.schema_file));
  // It may have been added to what the file says.
  const auto completed = [&](const types::Schema& columns) {
    return sources::WithUnknownFieldsColumn(columns, arguments.unknown_fields_column);
  };
  FIRN_ASSIGN_OR_RETURN(const types::Schema wanted, completed(schema));
  FIRN_ASSIGN_OR_RETURN(const types::Schema there,
                        completed(CurrentSchema(table.metadata())));
  if (HasSameColumns(wanted, there)) return Status::OK();
  return AsUsageError(InvalidError("{} has other columns than {}; leave --schema out",
                                   table.identifier, arguments.schema_file));
}

}  // namespace

Status CheckLayout(const OpenTable& table, const LoadArguments& arguments) {
  FIRN_RETURN_NOT_OK(CheckSchema(table, arguments));
  const types::Schema& schema = CurrentSchema(table.metadata());
  if (!arguments.partition_by.empty()) {
    FIRN_ASSIGN_OR_RETURN(const types::PartitionSpec spec,
                          PartitionBy(arguments.partition_by, schema));
    const auto same = [](const types::PartitionField& a, const types::PartitionField& b) {
      return a.source_id == b.source_id && a.transform == b.transform;
    };
    if (!std::ranges::equal(spec.fields, DefaultSpec(table.metadata()).fields, same)) {
      return AsUsageError(InvalidError(
          "{} is partitioned by '{}', not by '{}'; leave --partition-by out",
          table.identifier, PartitionText(table.metadata()), arguments.partition_by));
    }
  }
  if (arguments.sort_by.empty()) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const order::SortOrder order, SortBy(arguments.sort_by, schema));
  if (order.fields != DefaultSortOrder(table.metadata()).fields) {
    return AsUsageError(
        InvalidError("{} is sorted by '{}', not by '{}'; leave --sort-by out",
                     table.identifier, SortText(table.metadata()), arguments.sort_by));
  }
  return Status::OK();
}

Status CheckNewLayout(const types::Schema& schema, const LoadArguments& arguments) {
  FIRN_RETURN_NOT_OK(PartitionBy(arguments.partition_by, schema).status());
  return SortBy(arguments.sort_by, schema).status();
}

}  // namespace firn::cli
