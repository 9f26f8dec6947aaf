#include "firn/cli/load_layout.h"

#include <algorithm>

#include "firn/cli/exit_code.h"
#include "firn/cli/schema_file.h"
#include "firn/cli/table_layout.h"
#include "firn/order/sort_order.h"
#include "firn/types/partition_spec.h"

namespace firn::cli {
namespace {

Status CheckSchema(const OpenTable& table, const LoadArguments& arguments) {
  if (arguments.schema_file.empty() || arguments.evolve_schema) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const types::Schema schema,
                        ReadSchemaFile(arguments.schema_file));
  if (HasSameColumns(schema, CurrentSchema(table.metadata()))) return Status::OK();
  return AsUsageError(InvalidError("{} has other columns than {}; leave --schema out",
                                   table.identifier, arguments.schema_file));
}

}  // namespace

Status CheckLayout(const OpenTable& table, const LoadArguments& arguments) {
  FIRN_RETURN_NOT_OK(CheckSchema(table, arguments));
  const types::Schema& schema = CurrentSchema(table.metadata());
  if (!arguments.partition_by.empty()) {
    const auto spec = types::ParsePartitionSpec(arguments.partition_by, schema);
    FIRN_RETURN_NOT_OK(AsUsageError(AddContext(spec.status(), "--partition-by")));
    const auto same = [](const types::PartitionField& a, const types::PartitionField& b) {
      return a.source_id == b.source_id && a.transform == b.transform;
    };
    if (!std::ranges::equal(spec->fields, DefaultSpec(table.metadata()).fields, same)) {
      return AsUsageError(InvalidError(
          "{} is partitioned by '{}', not by '{}'; leave --partition-by out",
          table.identifier, PartitionText(table.metadata()), arguments.partition_by));
    }
  }
  if (arguments.sort_by.empty()) return Status::OK();
  const auto order = order::ParseSortOrder(arguments.sort_by, schema);
  FIRN_RETURN_NOT_OK(AsUsageError(AddContext(order.status(), "--sort-by")));
  if (order->fields != DefaultSortOrder(table.metadata()).fields) {
    return AsUsageError(
        InvalidError("{} is sorted by '{}', not by '{}'; leave --sort-by out",
                     table.identifier, SortText(table.metadata()), arguments.sort_by));
  }
  return Status::OK();
}

Status CheckNewLayout(const types::Schema& schema, const LoadArguments& arguments) {
  if (!arguments.partition_by.empty()) {
    const auto spec = types::ParsePartitionSpec(arguments.partition_by, schema);
    FIRN_RETURN_NOT_OK(AsUsageError(AddContext(spec.status(), "--partition-by")));
  }
  if (arguments.sort_by.empty()) return Status::OK();
  const auto order = order::ParseSortOrder(arguments.sort_by, schema);
  return AsUsageError(AddContext(order.status(), "--sort-by"));
}

}  // namespace firn::cli
