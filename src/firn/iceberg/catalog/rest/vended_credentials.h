#pragma once

#include <string>

#include "firn/iceberg/catalog/rest/rest_catalog.h"
#include "firn/storage/s3/cached_credentials.h"

namespace firn::iceberg {

/// Credentials that a REST catalog vends for one table's files at `location`: the first
/// source of a CachedCredentials, which asks again before they end.
///
/// Fails with NotFound if the catalog knows none. `catalog` must outlive it.
storage::s3::CredentialsSource VendedCredentials(RestCatalog& catalog,
                                                 TableIdentifier table,
                                                 std::string location);

}  // namespace firn::iceberg
