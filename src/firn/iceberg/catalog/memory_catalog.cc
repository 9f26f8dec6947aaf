#include "firn/iceberg/catalog/memory_catalog.h"

#include <utility>

#include "firn/core/ulid.h"
#include "firn/iceberg/io/metadata_io.h"

namespace firn::iceberg {
namespace {

Status NoTable(const TableIdentifier& identifier) {
  return Error(ErrorKind::kNotFound, "there is no table {}", identifier);
}

Status NoNamespace(std::string_view namespace_name) {
  return Error(ErrorKind::kNotFound, "there is no namespace {}", namespace_name);
}

}  // namespace

MemoryCatalog::MemoryCatalog(Runtime& runtime, std::string warehouse, Hooks hooks)
    : runtime_(runtime),
      warehouse_(std::move(warehouse)),
      hooks_(std::move(hooks)),
      mutex_(runtime) {}

Result<LoadedTable> MemoryCatalog::LoadTable(const TableIdentifier& identifier) {
  MutexLock lock(mutex_);
  const auto found = tables_.find(identifier);
  if (found == tables_.end()) return NoTable(identifier);
  return found->second;
}

Result<LoadedTable> MemoryCatalog::CreateTable(const TableIdentifier& identifier,
                                               TableCreation creation) {
  FIRN_RETURN_NOT_OK(ParseTableIdentifier(ToString(identifier)));
  if (creation.location.empty()) {
    creation.location = DefaultTableLocation(warehouse_, identifier);
  }
  FIRN_ASSIGN_OR_RETURN(TableMetadata metadata,
                        NewTableMetadata(std::move(creation),
                                         TableUuid(NewUuid(runtime_)), runtime_.Now()));
  MutexLock lock(mutex_);
  if (!namespaces_.contains(identifier.namespace_name)) {
    return NoNamespace(identifier.namespace_name);
  }
  std::string location = NextMetadataLocation(metadata, "", NewUuid(runtime_));
  const auto [table, is_new] = tables_.try_emplace(
      identifier, LoadedTable{std::move(metadata), std::move(location)});
  if (!is_new) {
    return Error(ErrorKind::kAlreadyExists, "table {} is there already", identifier);
  }
  return table->second;
}

Result<LoadedTable> MemoryCatalog::CommitTable(
    const TableIdentifier& identifier, const std::vector<TableRequirement>& requirements,
    const std::vector<TableUpdate>& updates) {
  if (hooks_.before_commit) FIRN_RETURN_NOT_OK(hooks_.before_commit(identifier));
  FIRN_ASSIGN_OR_RETURN(LoadedTable table,
                        ApplyCommit(identifier, requirements, updates));
  if (hooks_.after_commit) FIRN_RETURN_NOT_OK(hooks_.after_commit(identifier));
  return table;
}

Result<LoadedTable> MemoryCatalog::ApplyCommit(
    const TableIdentifier& identifier, const std::vector<TableRequirement>& requirements,
    const std::vector<TableUpdate>& updates) {
  MutexLock lock(mutex_);
  const auto found = tables_.find(identifier);
  if (found == tables_.end()) return NoTable(identifier);
  LoadedTable& table = found->second;
  FIRN_RETURN_NOT_OK(CheckWritable(table.metadata));
  FIRN_RETURN_NOT_OK(Check(requirements, table.metadata));
  FIRN_ASSIGN_OR_RETURN(
      TableMetadata metadata,
      Apply(table.metadata, table.metadata_location, updates, runtime_.Now()));
  std::string location =
      NextMetadataLocation(metadata, table.metadata_location, NewUuid(runtime_));
  table = {.metadata = std::move(metadata), .metadata_location = std::move(location)};
  return table;
}

Status MemoryCatalog::DropTable(const TableIdentifier& identifier) {
  MutexLock lock(mutex_);
  return tables_.erase(identifier) == 1 ? Status::OK() : NoTable(identifier);
}

Result<std::vector<TableIdentifier>> MemoryCatalog::ListTables(
    std::string_view namespace_name) {
  MutexLock lock(mutex_);
  if (!namespaces_.contains(namespace_name)) return NoNamespace(namespace_name);
  std::vector<TableIdentifier> identifiers;
  for (const auto& [identifier, table] : tables_) {
    if (identifier.namespace_name == namespace_name) identifiers.push_back(identifier);
  }
  return identifiers;
}

Result<std::vector<std::string>> MemoryCatalog::ListNamespaces() {
  MutexLock lock(mutex_);
  return std::vector<std::string>(namespaces_.begin(), namespaces_.end());
}

Status MemoryCatalog::CreateNamespace(std::string_view namespace_name) {
  FIRN_RETURN_NOT_OK(CheckNamespace(namespace_name));
  MutexLock lock(mutex_);
  if (namespaces_.contains(namespace_name)) {
    return Error(ErrorKind::kAlreadyExists, "namespace {} is there already",
                 namespace_name);
  }
  for (std::string& name : NamespaceAndParents(namespace_name)) {
    namespaces_.insert(std::move(name));
  }
  return Status::OK();
}

}  // namespace firn::iceberg
