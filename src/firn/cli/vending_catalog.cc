#include "firn/cli/vending_catalog.h"

#include <utility>

#include "firn/iceberg/metadata/table_properties.h"
#include "firn/shift/data_file_location.h"

namespace firn::cli {
namespace {

/// Where a table may keep files other than below its location (Iceberg's "Write
/// properties").
std::vector<std::string> FoldersOf(const iceberg::TableMetadata& metadata) {
  std::vector<std::string> folders = {metadata.location};
  for (const char* property :
       {shift::DataFolderProperty(metadata), "write.metadata.path"}) {
    if (property == nullptr) continue;
    const std::string* folder = FindTableProperty(metadata, property);
    if (folder != nullptr) folders.push_back(*folder);
  }
  return folders;
}

}  // namespace

std::unique_ptr<iceberg::Catalog> WithTableAccess(
    std::unique_ptr<iceberg::Catalog> catalog, Stores& stores, Runtime& runtime) {
  auto* rest = dynamic_cast<iceberg::RestCatalog*>(catalog.get());
  if (rest == nullptr) return catalog;
  (void)catalog.release();
  return std::make_unique<VendingCatalog>(std::unique_ptr<iceberg::RestCatalog>(rest),
                                          stores, runtime);
}

Result<iceberg::LoadedTable> VendingCatalog::LoadTable(
    const iceberg::TableIdentifier& identifier) {
  FIRN_ASSIGN_OR_RETURN(iceberg::LoadedTable loaded, catalog_->LoadTable(identifier));
  FIRN_RETURN_NOT_OK(MountFolders(identifier, loaded.metadata));
  return loaded;
}

Result<iceberg::LoadedTable> VendingCatalog::CreateTable(
    const iceberg::TableIdentifier& identifier, iceberg::TableCreation creation) {
  FIRN_ASSIGN_OR_RETURN(iceberg::LoadedTable created,
                        catalog_->CreateTable(identifier, std::move(creation)));
  FIRN_RETURN_NOT_OK(MountFolders(identifier, created.metadata));
  return created;
}

Status VendingCatalog::MountFolders(const iceberg::TableIdentifier& identifier,
                                    const iceberg::TableMetadata& metadata) {
  for (std::string& folder : FoldersOf(metadata)) {
    FIRN_RETURN_NOT_OK(MountFolder({.table = identifier, .location = std::move(folder)}));
  }
  return Status::OK();
}

Status VendingCatalog::MountFolder(const iceberg::TableFolder& folder) {
  if (!IsInS3(folder.location) || stores_.IsMounted(folder.location)) {
    return Status::OK();
  }
  FIRN_ASSIGN_OR_RETURN(const iceberg::StorageAccess access,
                        catalog_->LoadAccess(folder.table, folder.location));
  return stores_.MountFolder(
      folder.location, access.properties,
      iceberg::VendedCredentials(*catalog_, folder, access, runtime_));
}

Result<iceberg::LoadedTable> VendingCatalog::CommitTable(
    const iceberg::TableIdentifier& identifier,
    const std::vector<iceberg::TableRequirement>& requirements,
    const std::vector<iceberg::TableUpdate>& updates) {
  return catalog_->CommitTable(identifier, requirements, updates);
}

Status VendingCatalog::DropTable(const iceberg::TableIdentifier& identifier) {
  return catalog_->DropTable(identifier);
}

Result<std::vector<iceberg::TableIdentifier>> VendingCatalog::ListTables(
    std::string_view namespace_name) {
  return catalog_->ListTables(namespace_name);
}

Result<std::vector<std::string>> VendingCatalog::ListNamespaces() {
  return catalog_->ListNamespaces();
}

Status VendingCatalog::CreateNamespace(std::string_view namespace_name) {
  return catalog_->CreateNamespace(namespace_name);
}

}  // namespace firn::cli
