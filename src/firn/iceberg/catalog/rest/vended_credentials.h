#pragma once

#include <memory>
#include <string>

#include "firn/core/runtime.h"
#include "firn/iceberg/catalog/rest/rest_catalog.h"
#include "firn/storage/s3/credentials.h"

namespace firn::iceberg {

/// Files of one table, for which credentials are vended.
struct TableFolder {
  TableIdentifier table;
  /// Absolute: "s3://lake/db/events".
  std::string location;
};

/// The S3 credentials that the server vends with `access`, which was loaded of `folder`;
/// asked for anew before they end, and when they are refused as expired. Null if there
/// are none but those of the catalog's properties. `catalog` and `runtime` must outlive
/// it.
std::unique_ptr<storage::s3::CredentialsProvider> VendedCredentials(
    RestCatalog& catalog, TableFolder folder, const StorageAccess& access,
    Runtime& runtime);

}  // namespace firn::iceberg
