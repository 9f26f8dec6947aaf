#include "firn/cli/workspace.h"

#include <filesystem>
#include <string_view>

#include "firn/cli/exit_code.h"
#include "firn/cli/vending_catalog.h"
#include "firn/storage/location.h"

namespace firn::cli {
namespace {

namespace catalog_property = iceberg::catalog_property;

/// The warehouse as an absolute path, if it is a folder of this machine.
Result<std::optional<std::string>> WarehousePath(const Config& config) {
  const auto folder = config.catalog.warehouse_folder();
  if (!folder) return std::nullopt;
  FIRN_ASSIGN_OR_RETURN(std::string path, AbsolutePath(*folder));
  return path;
}

/// The file of a catalog in SQLite; nothing for any other.
std::optional<std::string> CatalogFile(const CatalogConfig& catalog,
                                       const iceberg::CatalogSettings& settings) {
  if (catalog.is_embedded) return *catalog.warehouse_folder() + "/catalog.db";
  const auto uri = iceberg::FindProperty(settings.properties, catalog_property::kUri);
  const auto address = iceberg::ParseSqlUri(uri.value_or(""));
  if (!address || address->dialect != iceberg::SqlDialect::kSqlite) return std::nullopt;
  return address->target;
}

}  // namespace

Result<std::string> AbsolutePath(const std::string& path) {
  const std::size_t scheme_end = path.find("://");
  if (path.starts_with("file://")) return storage::LocalPathOf(path);
  if (scheme_end != std::string::npos && path.find('/') > scheme_end) {
    return AsUsageError(InvalidError(
        "\"{}\": there is no storage for {}://; name a folder, or s3://bucket/folder",
        path, path.substr(0, scheme_end)));
  }
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return InvalidError("{}: {}", path, error.message());
  std::string text = absolute.lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

Result<iceberg::CatalogSettings> SettingsOf(const Config& config) {
  iceberg::CatalogSettings settings{.name = config.catalog.name,
                                    .properties = config.catalog.properties};
  FIRN_ASSIGN_OR_RETURN(const auto warehouse, WarehousePath(config));
  if (warehouse) {
    settings.properties[catalog_property::kWarehouse] =
        storage::LocationOfLocalPath(*warehouse);
  }
  if (const auto file = CatalogFile(config.catalog, settings)) {
    FIRN_ASSIGN_OR_RETURN(settings.sqlite_file, AbsolutePath(*file));
  }
  return settings;
}

Result<std::string> WalRootPath(const Config& config) {
  if (IsInS3(config.wal.path)) return config.wal.path;
  if (!config.wal.path.empty()) return AbsolutePath(config.wal.path);
  FIRN_ASSIGN_OR_RETURN(const auto warehouse, WarehousePath(config));
  if (warehouse) return *warehouse + "/wal";
  const bool names_warehouse =
      iceberg::FindProperty(config.catalog.properties, catalog_property::kWarehouse)
          .has_value();
  return AsUsageError(InvalidError(
      "say in firn.yaml where the WAL lies, with wal.path: a folder, or "
      "s3://bucket/folder; it cannot lie in the warehouse, since {}",
      names_warehouse
          ? fmt::format("{} is no folder of this machine", config.catalog.warehouse())
          : fmt::format("catalog {} names none", config.catalog.name)));
}

Result<std::unique_ptr<iceberg::Catalog>> OpenExistingCatalog(
    iceberg::CatalogSettings settings, Stores& stores, Runtime& runtime) {
  settings.mode = iceberg::CatalogMode::kExisting;
  auto catalog = iceberg::OpenCatalog(settings, stores.file_io(), runtime);
  if (!IsError(catalog.status(), ErrorKind::kNotFound)) return catalog;
  return Error(ErrorKind::kNotFound,
               "{}; say where it is with --warehouse or catalog.uri, or make one with "
               "'firn load TABLE FILE --create'",
               ErrorText(catalog.status()));
}

Result<std::unique_ptr<Workspace>> Workspace::Open(const Config& config, Runtime& runtime,
                                                   WorkspaceMode mode,
                                                   StoresOptions options) {
  const bool creates = mode == WorkspaceMode::kCreate;
  const auto missing = creates ? Stores::Missing::kMake : Stores::Missing::kFail;
  FIRN_ASSIGN_OR_RETURN(const auto warehouse, WarehousePath(config));
  FIRN_ASSIGN_OR_RETURN(const std::string wal_root, WalRootPath(config));
  FIRN_ASSIGN_OR_RETURN(iceberg::CatalogSettings settings, SettingsOf(config));
  std::unique_ptr<Workspace> workspace(new Workspace(config, runtime));

  settings.stop = options.stop;

  // Made first, so that an unusable warehouse is named before anything else fails.
  FIRN_ASSIGN_OR_RETURN(workspace->stores_,
                        Stores::Open(settings.properties, runtime, std::move(options)));
  Stores& stores = *workspace->stores_;
  if (warehouse) FIRN_RETURN_NOT_OK(stores.OpenFolder(*warehouse, missing).status());
  FIRN_ASSIGN_OR_RETURN(workspace->bare_wal_store_, stores.OpenFolder(wal_root, missing));
  workspace->wal_store_ =
      std::make_unique<storage::CountingStore>(*workspace->bare_wal_store_);

  std::unique_ptr<iceberg::Catalog> catalog;
  if (creates) {
    settings.mode = iceberg::CatalogMode::kCreate;
    FIRN_ASSIGN_OR_RETURN(catalog,
                          iceberg::OpenCatalog(settings, workspace->file_io(), runtime));
  } else {
    FIRN_ASSIGN_OR_RETURN(catalog,
                          OpenExistingCatalog(std::move(settings), stores, runtime));
  }
  workspace->catalog_ = WithTableAccess(std::move(catalog), stores, runtime);
  return workspace;
}

}  // namespace firn::cli
