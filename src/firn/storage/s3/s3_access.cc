#include "firn/storage/s3/s3_access.h"

#include <utility>

namespace firn::storage::s3 {

Result<std::unique_ptr<S3Access>> S3Access::Open(const S3Properties& properties,
                                                 const Environment& environment,
                                                 Runtime& runtime, Options options) {
  FIRN_ASSIGN_OR_RETURN(S3Settings settings, ReadS3Settings(properties, environment));
  settings.client.stop = std::move(options.stop);
  std::unique_ptr<S3Access> access(new S3Access(runtime, std::move(settings)));
  FIRN_ASSIGN_OR_RETURN(access->http_,
                        http::MakeHttpClient(runtime, access->settings_.http));
  access->credentials_ = std::move(options.credentials);
  if (access->credentials_ == nullptr) {
    access->credentials_ = MakeCredentials(properties, access->settings_, environment,
                                           runtime, *access->http_);
  }
  return access;
}

Result<std::unique_ptr<S3Store>> S3Access::MakeStore(std::string root) {
  return S3Store::Make(runtime_, *http_, *credentials_,
                       {.root = std::move(root), .client = settings_.client});
}

}  // namespace firn::storage::s3
