#include "node_catalog.h"

#include "rules.h"

namespace firn::sim {

using iceberg::LoadedTable;
using iceberg::TableIdentifier;

Result<LoadedTable> NodeCatalog::LoadTable(const TableIdentifier& table) {
  return network_.Call<Result<LoadedTable>>(node_, CallKind::kRead,
                                            [&] { return inner_.LoadTable(table); });
}

Result<LoadedTable> NodeCatalog::CommitTable(
    const TableIdentifier& table,
    const std::vector<iceberg::TableRequirement>& requirements,
    const std::vector<iceberg::TableUpdate>& updates) {
  Result<LoadedTable> committed = network_.Call<Result<LoadedTable>>(
      node_, CallKind::kCommit,
      [=, &inner = inner_] { return inner.CommitTable(table, requirements, updates); });
  const bool is_unknown = IsError(committed.status(), ErrorKind::kOutcomeUnknown);
  if (is_unknown && IsBroken(Rule::kUnknownOutcome)) clean_up_(updates);
  return committed;
}

Result<std::vector<TableIdentifier>> NodeCatalog::ListTables(std::string_view name) {
  return network_.Call<Result<std::vector<TableIdentifier>>>(
      node_, CallKind::kRead, [&] { return inner_.ListTables(name); });
}

Result<std::vector<std::string>> NodeCatalog::ListNamespaces() {
  return network_.Call<Result<std::vector<std::string>>>(
      node_, CallKind::kRead, [&] { return inner_.ListNamespaces(); });
}

// The table is there from the start; no node asks for anything else.

Result<LoadedTable> NodeCatalog::CreateTable(const TableIdentifier& table,
                                             iceberg::TableCreation) {
  return InvalidError("{} is not made in the simulation", table);
}

Status NodeCatalog::DropTable(const TableIdentifier& table) {
  return InvalidError("{} is not dropped in the simulation", table);
}

Status NodeCatalog::CreateNamespace(std::string_view namespace_name) {
  return InvalidError("{} is not made in the simulation", namespace_name);
}

}  // namespace firn::sim
