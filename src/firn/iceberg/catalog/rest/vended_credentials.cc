#include "firn/iceberg/catalog/rest/vended_credentials.h"

#include <utility>

#include "firn/storage/s3/cached_credentials.h"
#include "firn/storage/s3/s3_properties.h"

namespace firn::iceberg {
namespace {

namespace s3 = storage::s3;

std::optional<s3::Credentials> CredentialsOf(const StorageAccess& access) {
  auto credentials = s3::PropertyCredentials(access.properties);
  if (credentials) credentials->expires = access.expiry;
  return credentials;
}

Result<s3::Credentials> Renew(RestCatalog& catalog, const TableFolder& folder) {
  FIRN_ASSIGN_OR_RETURN(const StorageAccess access,
                        catalog.RenewAccess(folder.table, folder.location));
  if (auto credentials = CredentialsOf(access)) return *std::move(credentials);
  return Error(ErrorKind::kNotFound, "the catalog knows no S3 credentials for table {}",
               folder.table);
}

}  // namespace

std::unique_ptr<s3::CredentialsProvider> VendedCredentials(RestCatalog& catalog,
                                                           TableFolder folder,
                                                           const StorageAccess& access,
                                                           Runtime& runtime) {
  std::optional<s3::Credentials> first = CredentialsOf(access);
  const auto own = CredentialsOf({.properties = catalog.properties(), .expiry = {}});
  if (!first || first == own) return nullptr;
  const s3::CredentialsSource source = {
      .name = "the REST catalog",
      .fetch = [&catalog, folder = std::move(folder)] { return Renew(catalog, folder); }};
  return std::make_unique<s3::CachedCredentials>(runtime, std::vector{source},
                                                 std::move(first));
}

}  // namespace firn::iceberg
