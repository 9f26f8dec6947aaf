#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/iceberg/catalog/catalog.h"

namespace firn::iceberg {

/// A catalog that lives as long as the process: for tests and simulations.
///
/// Table metadata stays in memory, and metadata locations are names only. The hooks let a
/// test delay a commit, or fail it before or after it is applied; they are called without
/// a lock held, so a hook may use the catalog. Thread-safe.
class MemoryCatalog : public Catalog {
 public:
  struct Hooks {
    /// An error is what CommitTable returns; nothing was applied.
    std::function<Status(const TableIdentifier&)> before_commit;
    /// An error is what CommitTable returns although the commit was applied.
    std::function<Status(const TableIdentifier&)> after_commit;
  };

  /// `warehouse`: tables lie in "<warehouse>/<namespace>/<table>". `runtime` must outlive
  /// the catalog.
  MemoryCatalog(Runtime& runtime, std::string warehouse, Hooks hooks = {});

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
  Result<LoadedTable> ApplyCommit(const TableIdentifier& identifier,
                                  const std::vector<TableRequirement>& requirements,
                                  const std::vector<TableUpdate>& updates);

  Runtime& runtime_;
  const std::string warehouse_;
  const Hooks hooks_;

  Mutex mutex_;
  std::set<std::string, std::less<>> namespaces_;  // guarded by mutex_
  std::map<TableIdentifier, LoadedTable> tables_;  // guarded by mutex_
};

}  // namespace firn::iceberg
