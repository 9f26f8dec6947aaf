#include "firn/iceberg/catalog/rest/vended_credentials.h"

#include <utility>

namespace firn::iceberg {
namespace {

using storage::s3::Credentials;

Result<Credentials> CredentialsOf(const StorageAccess& access,
                                  const TableIdentifier& table) {
  const auto get = [&](const char* name) {
    return FindProperty(access.properties, name).value_or("");
  };
  Credentials credentials = {.access_key_id = get("s3.access-key-id"),
                             .secret_access_key = get("s3.secret-access-key"),
                             .session_token = get("s3.session-token"),
                             .expires = access.expiry};
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return Error(ErrorKind::kNotFound, "the catalog knows no S3 credentials for table {}",
                 table);
  }
  return credentials;
}

}  // namespace

storage::s3::CredentialsSource VendedCredentials(RestCatalog& catalog,
                                                 TableIdentifier table,
                                                 std::string location) {
  return {.name = "the REST catalog",
          .fetch = [&catalog, table = std::move(table),
                    location = std::move(location)]() -> Result<Credentials> {
            FIRN_ASSIGN_OR_RETURN(const StorageAccess access,
                                  catalog.RenewAccess(table, location));
            return CredentialsOf(access, table);
          }};
}

}  // namespace firn::iceberg
