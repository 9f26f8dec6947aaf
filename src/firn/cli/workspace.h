#pragma once

#include <memory>
#include <optional>
#include <string>

#include "firn/cli/config.h"
#include "firn/cli/stores.h"
#include "firn/core/memory_budget.h"
#include "firn/core/runtime.h"
#include "firn/iceberg/catalog/open_catalog.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/metrics/metrics.h"
#include "firn/storage/counting_store.h"

namespace firn::cli {

/// `path` from the working directory on, without ".." and slashes at its end; also of a
/// "file://" location. A usage error for a location of another scheme.
Result<std::string> AbsolutePath(const std::string& path);

/// The catalog that a configuration names, paths made absolute.
Result<iceberg::CatalogSettings> SettingsOf(const Config& config);

/// The WAL root that a configuration names: an absolute path, or a location in S3. A
/// usage error if it names none, and the warehouse is no folder of this machine.
Result<std::string> WalRootPath(const Config& config);

/// The catalog alone. NotFound, saying how one is named or made, if there is none.
Result<std::unique_ptr<iceberg::Catalog>> OpenExistingCatalog(
    iceberg::CatalogSettings settings, Stores& stores, Runtime& runtime);

enum class WorkspaceMode {
  /// Makes warehouse, catalog and WAL root if they are missing.
  kCreate,
  /// For commands that only look: makes nothing. NotFound if there is no catalog.
  kExisting,
};

/// Catalog, stores and memory budget that a configuration names, opened. Not copyable;
/// outlives what is made from it.
class Workspace {
 public:
  /// Fails, naming the path, if one cannot be used.
  static Result<std::unique_ptr<Workspace>> Open(const Config& config, Runtime& runtime,
                                                 WorkspaceMode mode,
                                                 StoresOptions options = {});

  iceberg::Catalog& catalog() { return *catalog_; }
  /// Data and metadata files, by absolute location.
  const iceberg::FileIo& file_io() const { return stores_->file_io(); }
  /// The WAL root; counts requests.
  storage::CountingStore& wal_store() { return *wal_store_; }
  MemoryBudget& memory() { return memory_; }
  metrics::Registry& metrics() { return metrics_; }
  Runtime& runtime() { return runtime_; }
  const Config& config() const { return config_; }

 private:
  Workspace(const Config& config, Runtime& runtime)
      : config_(config),
        runtime_(runtime),
        memory_(runtime, config.memory_limit),
        metrics_(runtime) {}

  const Config config_;
  Runtime& runtime_;
  MemoryBudget memory_;
  metrics::Registry metrics_;
  std::unique_ptr<Stores> stores_;
  std::unique_ptr<storage::ObjectStore> bare_wal_store_;
  std::unique_ptr<storage::CountingStore> wal_store_;
  std::unique_ptr<iceberg::Catalog> catalog_;
};

}  // namespace firn::cli
