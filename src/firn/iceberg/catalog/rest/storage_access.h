#pragma once

#include <optional>
#include <string_view>

#include "firn/core/runtime.h"
#include "firn/iceberg/catalog/catalog_properties.h"
#include "firn/iceberg/catalog/rest/rest_messages.h"

namespace firn::iceberg {

/// How the files of one table are reached: the catalog's properties, and what the server
/// vends for the table.
struct StorageAccess {
  /// s3.endpoint, s3.access-key-id, s3.session-token, ... Secrets are among them.
  CatalogProperties properties;
  /// When the vended credentials end; nothing if nothing is vended or that has no end.
  std::optional<WallTime> expiry;

  bool operator==(const StorageAccess&) const = default;
};

namespace rest {

/// What `answer` says of files at `location`: the credential with the longest prefix that
/// the location begins with, above the table's configuration, above `catalog`
/// (rest-catalog-open-api.yaml, "LoadTableResult", "StorageCredential"). Pure.
StorageAccess AccessTo(std::string_view location, const TableAnswer& answer,
                       const CatalogProperties& catalog);

}  // namespace rest
}  // namespace firn::iceberg
