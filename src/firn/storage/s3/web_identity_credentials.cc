#include "firn/storage/s3/credentials_sources.h"
#include "firn/storage/s3/s3_answer.h"
#include "firn/storage/s3/s3_messages.h"
#include "firn/storage/s3/token_file.h"
#include "firn/storage/s3/uri.h"

namespace firn::storage::s3 {
namespace {

constexpr Duration kTimeout = std::chrono::seconds(10);

}  // namespace

Result<WebIdentity> EnvironmentWebIdentity(const Environment& environment) {
  const auto token_file = environment("AWS_WEB_IDENTITY_TOKEN_FILE");
  const auto role_arn = environment("AWS_ROLE_ARN");
  if (!token_file) {
    return Error(ErrorKind::kNotFound, "AWS_WEB_IDENTITY_TOKEN_FILE is not set");
  }
  if (!role_arn) {
    return InvalidError("AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
  }
  return WebIdentity{.role_arn = *role_arn,
                     .token_file = *token_file,
                     .session_name = environment("AWS_ROLE_SESSION_NAME").value_or("")};
}

Result<Credentials> WebIdentityCredentials(const WebIdentity& identity,
                                           const Environment& environment,
                                           const std::string& region,
                                           http::HttpClient& http) {
  FIRN_ASSIGN_OR_RETURN(const std::string token, ReadTokenFile(identity.token_file));
  const std::string url =
      environment("AWS_ENDPOINT_URL_STS")
          .value_or(fmt::format("https://sts.{}.amazonaws.com", region));
  // In the body, not in the URL: proxies log URLs.
  const std::string body =
      EncodeQuery({{"Action", "AssumeRoleWithWebIdentity"},
                   {"Version", "2011-06-15"},
                   {"RoleArn", identity.role_arn},
                   {"RoleSessionName",
                    identity.session_name.empty() ? "firn" : identity.session_name},
                   {"WebIdentityToken", token}});
  const http::Request request{
      .method = "POST",
      .url = url + "/",
      .headers = {{.name = "Content-Type", .value = "application/x-www-form-urlencoded"}},
      .timeout = kTimeout};
  auto response = http.Send(request, body);
  if (!response.ok()) {
    // Asking twice does no harm.
    return MakeError(ErrorKind::kUnavailable, ErrorText(response.status()));
  }
  if (response->status != 200) {
    return Status::IOError(fmt::format("role {:?} at {}: {}", identity.role_arn,
                                       http::UrlForMessage(url), WordsOf(*response)));
  }
  return ParseAssumedRole(response->body);
}

}  // namespace firn::storage::s3
