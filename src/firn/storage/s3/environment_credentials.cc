#include "firn/storage/s3/credentials_sources.h"

namespace firn::storage::s3 {

Result<Credentials> EnvironmentCredentials(const Environment& environment) {
  const auto id = environment("AWS_ACCESS_KEY_ID");
  const auto secret = environment("AWS_SECRET_ACCESS_KEY");
  if (!id && !secret) {
    return Error(ErrorKind::kNotFound, "AWS_ACCESS_KEY_ID is not set");
  }
  if (!id || !secret) {
    return InvalidError("of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only one is set");
  }
  return Credentials{.access_key_id = *id,
                     .secret_access_key = *secret,
                     .session_token = environment("AWS_SESSION_TOKEN").value_or("")};
}

}  // namespace firn::storage::s3
