#include <nlohmann/json.hpp>

#include "firn/storage/s3/credentials_sources.h"
#include "firn/storage/s3/token_file.h"
#include "firn/storage/s3/utc_time.h"

namespace firn::storage::s3 {
namespace {

/// The services are on this machine or beside it.
constexpr Duration kTimeout = std::chrono::seconds(2);
constexpr std::int64_t kAnswerBytesMax = 64 << 10;
constexpr const char* kContainerHost = "http://169.254.170.2";
constexpr const char* kInstanceHost = "http://169.254.169.254";
constexpr const char* kRolePath = "/latest/meta-data/iam/security-credentials/";
constexpr const char* kTokenLifeSeconds = "21600";

Result<http::Response> Ask(http::HttpClient& http, http::Request request) {
  request.timeout = kTimeout;
  request.response_bytes_max = kAnswerBytesMax;
  return http.Send(request);
}

Status StatusFailure(const http::Request& request, const http::Response& response) {
  return Error(ErrorKind::kUnavailable, "{} {}: HTTP status {}", request.method,
               http::UrlForMessage(request.url), response.status);
}

bool MayGetToken(const std::string& url) {
  if (url.starts_with("https://")) return true;
  constexpr std::string_view kLocal[] = {
      "http://127.",          "http://localhost",      "http://[::1]",
      "http://169.254.170.2", "http://169.254.170.23", "http://[fd00:ec2::23]"};
  for (const std::string_view start : kLocal) {
    if (!url.starts_with(start)) continue;
    const std::string_view rest = std::string_view(url).substr(start.size());
    // Not "http://localhost.example" nor "http://127.evil@example".
    const std::string_view host_rest = rest.substr(0, rest.find_first_of(":/?#"));
    const bool ends_there = host_rest.empty();
    const bool is_loopback =
        start.ends_with('.') &&
        host_rest.find_first_not_of("0123456789.") == std::string_view::npos;
    if (url.find('@') == std::string::npos && (ends_there || is_loopback)) return true;
  }
  return false;
}

Result<std::string> ContainerToken(const Environment& environment) {
  if (auto token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN")) return *token;
  const auto path = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  if (!path) return std::string();
  return ReadTokenFile(*path);
}

Result<std::string> JsonText(const nlohmann::json& document, const char* name) {
  const auto found = document.find(name);
  if (found != document.end() && found->is_string() &&
      !found->get_ref<const std::string&>().empty()) {
    return found->get<std::string>();
  }
  return Error(ErrorKind::kCorruption, "the credentials that were sent have no {}", name);
}

}  // namespace

Result<Credentials> ParseCredentialsJson(std::string_view json) {
  const auto document = nlohmann::json::parse(json, nullptr, false);
  if (!document.is_object()) {
    return Error(ErrorKind::kCorruption, "the credentials that were sent are no JSON");
  }
  Credentials credentials;
  FIRN_ASSIGN_OR_RETURN(credentials.access_key_id, JsonText(document, "AccessKeyId"));
  FIRN_ASSIGN_OR_RETURN(credentials.secret_access_key,
                        JsonText(document, "SecretAccessKey"));
  FIRN_ASSIGN_OR_RETURN(credentials.session_token, JsonText(document, "Token"));
  FIRN_ASSIGN_OR_RETURN(const std::string expiration, JsonText(document, "Expiration"));
  FIRN_ASSIGN_OR_RETURN(credentials.expires, ParseUtcTime(expiration));
  return credentials;
}

Result<Credentials> ContainerCredentials(const Environment& environment,
                                         http::HttpClient& http) {
  const auto relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto full = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!relative && !full) {
    return Error(ErrorKind::kNotFound, "no container says where its credentials are");
  }
  http::Request request{.url = relative ? kContainerHost + *relative : *full};
  FIRN_ASSIGN_OR_RETURN(const std::string token, ContainerToken(environment));
  if (!token.empty()) {
    if (!MayGetToken(request.url)) {
      return InvalidError(
          "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor of this machine: {}",
          http::UrlForMessage(request.url));
    }
    request.headers.push_back({.name = "Authorization", .value = token});
  }
  FIRN_ASSIGN_OR_RETURN(const http::Response response, Ask(http, request));
  if (response.status != 200) return StatusFailure(request, response);
  return ParseCredentialsJson(response.body);
}

Result<Credentials> InstanceCredentials(const Environment& environment,
                                        http::HttpClient& http) {
  if (environment("AWS_EC2_METADATA_DISABLED") == "true") {
    return Error(ErrorKind::kNotFound, "AWS_EC2_METADATA_DISABLED is set");
  }
  const std::string host =
      environment("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or(kInstanceHost);
  http::Request request{.method = "PUT",
                        .url = host + "/latest/api/token",
                        .headers = {{.name = "X-aws-ec2-metadata-token-ttl-seconds",
                                     .value = kTokenLifeSeconds}}};
  const auto token = Ask(http, request);
  // Anywhere but on EC2.
  if (!token.ok() || token->status != 200) {
    return Error(ErrorKind::kNotFound, "there is no instance metadata service");
  }
  request = {.url = host + kRolePath,
             .headers = {{.name = "X-aws-ec2-metadata-token", .value = token->body}}};
  FIRN_ASSIGN_OR_RETURN(const http::Response role, Ask(http, request));
  if (role.status == 404) {
    return Error(ErrorKind::kNotFound, "the instance has no role");
  }
  if (role.status != 200) return StatusFailure(request, role);
  request.url += role.body.substr(0, role.body.find('\n'));
  FIRN_ASSIGN_OR_RETURN(const http::Response response, Ask(http, request));
  if (response.status != 200) return StatusFailure(request, response);
  return ParseCredentialsJson(response.body);
}

}  // namespace firn::storage::s3
