#include "firn/cli/workspace.h"

#include <filesystem>
#include <string_view>

#include "firn/cli/exit_code.h"
#include "firn/storage/location.h"

namespace firn::cli {
namespace {

constexpr std::string_view kSqlitePrefix = "sqlite:///";

Result<std::string> DatabasePath(const CatalogConfig& catalog,
                                 const std::string& warehouse) {
  if (catalog.uri.empty()) return warehouse + "/catalog.db";
  if (!catalog.uri.starts_with(kSqlitePrefix)) {
    return AsUsageError(InvalidError(
        "catalog.uri \"{}\" is not known; write sqlite:///<path>", catalog.uri));
  }
  return AbsolutePath(catalog.uri.substr(kSqlitePrefix.size()));
}

}  // namespace

Result<std::string> AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return InvalidError("{}: {}", path, error.message());
  std::string text = absolute.lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

Result<iceberg::SqlCatalogOptions> CatalogOptions(const Config& config) {
  FIRN_ASSIGN_OR_RETURN(const std::string warehouse, AbsolutePath(config.warehouse));
  FIRN_ASSIGN_OR_RETURN(std::string database, DatabasePath(config.catalog, warehouse));
  return iceberg::SqlCatalogOptions{.database_path = std::move(database),
                                    .catalog_name = config.catalog.name,
                                    .warehouse = storage::LocationOfLocalPath(warehouse)};
}

Result<std::string> WalRootPath(const Config& config) {
  if (!config.wal.path.empty()) return AbsolutePath(config.wal.path);
  FIRN_ASSIGN_OR_RETURN(const std::string warehouse, AbsolutePath(config.warehouse));
  return warehouse + "/wal";
}

Result<std::unique_ptr<Workspace>> Workspace::Open(const Config& config, Runtime& runtime,
                                                   WorkspaceMode mode) {
  const bool creates = mode == WorkspaceMode::kCreate;
  const auto open_store = creates ? storage::LocalStore::Make : storage::LocalStore::At;
  FIRN_ASSIGN_OR_RETURN(const std::string warehouse, AbsolutePath(config.warehouse));
  FIRN_ASSIGN_OR_RETURN(const std::string wal_root, WalRootPath(config));
  FIRN_ASSIGN_OR_RETURN(iceberg::SqlCatalogOptions options, CatalogOptions(config));
  std::unique_ptr<Workspace> workspace(new Workspace(config, runtime));

  // Made first, so that an unusable warehouse is named before anything else fails.
  FIRN_RETURN_NOT_OK(open_store(runtime, warehouse).status());
  FIRN_ASSIGN_OR_RETURN(workspace->local_wal_store_, open_store(runtime, wal_root));
  workspace->wal_store_ =
      std::make_unique<storage::CountingStore>(*workspace->local_wal_store_);
  FIRN_ASSIGN_OR_RETURN(workspace->root_store_, storage::LocalStore::Make(runtime, "/"));
  FIRN_ASSIGN_OR_RETURN(workspace->file_io_,
                        iceberg::FileIo::Make({{.prefix = "file:///",
                                                .store = workspace->root_store_.get()}}));

  options.mode = creates ? iceberg::SqliteMode::kCreate : iceberg::SqliteMode::kExisting;
  auto catalog =
      iceberg::SqlCatalog::Open(std::move(options), *workspace->file_io_, runtime);
  if (!creates && IsError(catalog.status(), ErrorKind::kNotFound)) {
    return Error(ErrorKind::kNotFound,
                 "{}; say where it is with --warehouse or catalog.uri, or make one with "
                 "'firn load TABLE FILE --create'",
                 ErrorText(catalog.status()));
  }
  FIRN_ASSIGN_OR_RETURN(workspace->catalog_, std::move(catalog));
  return workspace;
}

}  // namespace firn::cli
