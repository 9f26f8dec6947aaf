#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/iceberg/catalog/catalog_properties.h"
#include "firn/iceberg/catalog/metadata_cache.h"
#include "firn/iceberg/catalog/sql_database.h"
#include "firn/iceberg/io/file_io.h"

namespace firn::iceberg {

struct SqlCatalogOptions {
  /// Whether the tables are made if they are missing; NotFound otherwise.
  CatalogMode mode = CatalogMode::kCreate;
  /// Rows of other catalogs in the same database are not seen.
  std::string catalog_name = "firn";
  /// Location under which tables are put: "file:///data/warehouse".
  std::string warehouse = {};
};

/// A catalog in a SQL database, in the tables that PyIceberg's SqlCatalog and Java's
/// JdbcCatalog use (iceberg_tables, iceberg_namespace_properties; with or without the
/// column iceberg_type): a table made by one is opened by the others.
///
/// A commit writes the new metadata file durably, then swaps the table's pointer if it is
/// still what it was. Metadata that this catalog read or wrote is not read again as long
/// as the pointer stays. Thread-safe; processes may share the database.
class SqlCatalog : public Catalog {
 public:
  /// `io` and `runtime` must outlive the catalog. NotFound, naming the database, if its
  /// tables are missing and not to be made.
  static Result<std::unique_ptr<SqlCatalog>> Open(std::unique_ptr<SqlDatabase> database,
                                                  SqlCatalogOptions options,
                                                  const FileIo& io, Runtime& runtime);

  Result<LoadedTable> LoadTable(const TableIdentifier& identifier) override;
  Result<LoadedTable> CreateTable(const TableIdentifier& identifier,
                                  TableCreation creation) override;
  Result<LoadedTable> CommitTable(const TableIdentifier& identifier,
                                  const std::vector<TableRequirement>& requirements,
                                  const std::vector<TableUpdate>& updates) override;
  Status DropTable(const TableIdentifier& identifier) override;
  Result<std::vector<TableIdentifier>> ListTables(
      std::string_view namespace_name) override;
  Result<std::vector<std::string>> ListNamespaces() override;
  Status CreateNamespace(std::string_view namespace_name) override;

 private:
  SqlCatalog(SqlCatalogOptions options, std::unique_ptr<SqlDatabase> database,
             bool has_type_column, const FileIo& io, Runtime& runtime);

  /// NotFound if there is no such table.
  Result<std::string> MetadataLocation(const TableIdentifier& identifier);
  /// The values of $1 to $3 in a condition on one table.
  std::vector<std::string> KeyOf(const TableIdentifier& identifier) const;
  Result<bool> NamespaceExists(std::string_view namespace_name);
  Result<std::string> NewTableLocation(const TableIdentifier& identifier);
  Status SwapMetadata(const TableIdentifier& identifier, const std::string& from,
                      const std::string& to);

  const SqlCatalogOptions options_;
  const std::unique_ptr<SqlDatabase> database_;
  /// A condition that leaves out views.
  const std::string only_tables_;
  const bool has_type_column_;
  const FileIo& io_;
  Runtime& runtime_;
  MetadataCache cache_;
};

}  // namespace firn::iceberg
