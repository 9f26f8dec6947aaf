#pragma once

#include <memory>
#include <string>

#include "firn/cli/stores.h"
#include "firn/iceberg/catalog/rest/rest_catalog.h"
#include "firn/iceberg/catalog/rest/vended_credentials.h"

namespace firn::cli {

/// A REST catalog that says how the files of its tables are reached: whoever loads or
/// makes a table here finds its files in `stores`, with what the server vends for it.
/// Thread-safe.
class VendingCatalog : public iceberg::Catalog {
 public:
  /// `runtime` must outlive it, and it the use of files in `stores`.
  VendingCatalog(std::unique_ptr<iceberg::RestCatalog> catalog, Stores& stores,
                 Runtime& runtime)
      : catalog_(std::move(catalog)), stores_(stores), runtime_(runtime) {}

  Result<iceberg::LoadedTable> LoadTable(
      const iceberg::TableIdentifier& identifier) override;
  Result<iceberg::LoadedTable> CreateTable(const iceberg::TableIdentifier& identifier,
                                           iceberg::TableCreation creation) override;
  Result<iceberg::LoadedTable> CommitTable(
      const iceberg::TableIdentifier& identifier,
      const std::vector<iceberg::TableRequirement>& requirements,
      const std::vector<iceberg::TableUpdate>& updates) override;
  Status DropTable(const iceberg::TableIdentifier& identifier) override;
  Result<std::vector<iceberg::TableIdentifier>> ListTables(
      std::string_view namespace_name) override;
  Result<std::vector<std::string>> ListNamespaces() override;
  Status CreateNamespace(std::string_view namespace_name) override;

 private:
  /// Mounts the folders in which the table's files lie.
  Status MountFolders(const iceberg::TableIdentifier& identifier,
                      const iceberg::TableMetadata& metadata);
  Status MountFolder(const iceberg::TableFolder& folder);

  const std::unique_ptr<iceberg::RestCatalog> catalog_;
  Stores& stores_;
  Runtime& runtime_;
};

/// `catalog`, or a VendingCatalog around it if it is one of REST.
std::unique_ptr<iceberg::Catalog> WithTableAccess(
    std::unique_ptr<iceberg::Catalog> catalog, Stores& stores, Runtime& runtime);

}  // namespace firn::cli
