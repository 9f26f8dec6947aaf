#include "firn/iceberg/catalog/rest/rest_properties.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "firn/core/base64.h"
#include "firn/core/whole_number.h"

namespace firn::iceberg::rest {
namespace {

constexpr std::string_view kHeaderPrefix = "header.";
constexpr const char* kAccessDelegation = "X-Iceberg-Access-Delegation";
constexpr const char* kTokenPath = "/v1/oauth/tokens";
constexpr const char* kAuthorization = "Authorization";

/// PyIceberg's names and Java's. "oauth2" is what happens if there is a credential.
constexpr std::string_view kAuthTypes[] = {"none", "noop", "basic", "oauth2",
                                           "legacyoauth2"};

/// What would be needed to reach the server, and is not there.
constexpr const char* kUnsupported[] = {"ssl.client", "ssl.client.cert",
                                        "ssl.client.key"};

std::string Get(const Properties& properties, const std::string& name,
                std::string otherwise = {}) {
  return FindProperty(properties, name).value_or(std::move(otherwise));
}

std::string BaseUri(const Properties& properties) {
  std::string uri = Get(properties, "uri");
  while (uri.ends_with('/')) uri.pop_back();
  return uri;
}

/// Nothing if there is no such property.
Result<std::optional<std::int32_t>> Number(const Properties& properties,
                                           const std::string& name) {
  const auto found = properties.find(name);
  if (found == properties.end()) return std::nullopt;
  const auto number = ParseWholeNumber<std::int32_t>(found->second);
  if (!number || *number < 1) {
    return InvalidError("the catalog's property {} must be a whole number from 1", name);
  }
  return number;
}

Status TakeMilliseconds(const Properties& properties, const std::string& name,
                        Duration& duration) {
  FIRN_ASSIGN_OR_RETURN(const auto number, Number(properties, name));
  if (number) duration = std::chrono::milliseconds(*number);
  return Status::OK();
}

/// PyIceberg's name of a property, or Java's.
std::string GetEither(const Properties& properties, const std::string& name) {
  return Get(properties, name, Get(properties, "rest." + name));
}

/// A server that is not asked as it wants says no more than 401.
Status CheckSupported(const Properties& properties) {
  const std::string type = GetEither(properties, "auth.type");
  if (!type.empty() && std::ranges::find(kAuthTypes, type) == std::end(kAuthTypes)) {
    return InvalidError(
        "the catalog's property auth.type names what Firn does not have; "
        "it has {}",
        fmt::join(kAuthTypes, ", "));
  }
  if (Get(properties, "rest.sigv4-enabled") == "true") {
    return InvalidError(
        "the catalog's property rest.sigv4-enabled asks for requests that "
        "are signed as AWS does, which Firn does not do");
  }
  for (const char* name : kUnsupported) {
    if (!FindProperty(properties, name)) continue;
    return InvalidError(
        "the catalog's property {} asks for a client certificate, which "
        "Firn does not send",
        name);
  }
  return Status::OK();
}

/// Properties "header.X-Name", and what this client can do with credentials.
std::vector<http::Header> Headers(const Properties& properties) {
  std::vector<http::Header> headers;
  for (auto it = properties.lower_bound(std::string(kHeaderPrefix));
       it != properties.end() && it->first.starts_with(kHeaderPrefix); ++it) {
    headers.push_back(
        {.name = it->first.substr(kHeaderPrefix.size()), .value = it->second});
  }
  if (GetEither(properties, "auth.type") == "basic") {
    headers.push_back(
        {.name = kAuthorization,
         .value = "Basic " + EncodeBase64(fmt::format(
                                 "{}:{}", GetEither(properties, "auth.basic.username"),
                                 GetEither(properties, "auth.basic.password")))});
  }
  if (!http::FindHeader(headers, kAccessDelegation)) {
    headers.push_back({.name = kAccessDelegation, .value = "vended-credentials"});
  }
  return headers;
}

}  // namespace

Properties Merged(const ServerConfig& config, Properties properties) {
  Properties merged = config.overrides;
  merged.merge(properties);
  Properties defaults = config.defaults;
  merged.merge(defaults);
  return merged;
}

Result<RestClientOptions> ClientOptionsOf(const Properties& properties) {
  FIRN_RETURN_NOT_OK(CheckSupported(properties));
  RestClientOptions options = {.uri = BaseUri(properties),
                               .headers = Headers(properties)};
  if (!options.uri.starts_with("http://") && !options.uri.starts_with("https://")) {
    return InvalidError(
        "a REST catalog needs the property uri, the http or https address of its server");
  }
  FIRN_RETURN_NOT_OK(
      TakeMilliseconds(properties, "rest.client.request-timeout-ms", options.timeout));
  FIRN_ASSIGN_OR_RETURN(const auto retries,
                        Number(properties, "rest.client.max-retries"));
  if (retries) options.attempts_max = *retries;
  return options;
}

Result<http::HttpOptions> HttpOptionsOf(const Properties& properties) {
  http::HttpOptions options;
  options.user_agent = Get(properties, "rest.client.user-agent", options.user_agent);
  FIRN_RETURN_NOT_OK(TakeMilliseconds(properties, "rest.client.connection-timeout-ms",
                                      options.connect_timeout));
  FIRN_RETURN_NOT_OK(TakeMilliseconds(properties, "rest.client.socket-timeout-ms",
                                      options.idle_timeout));
  options.ca_file = Get(properties, "ssl.cabundle");
  return options;
}

TokenOptions TokenOptionsOf(const Properties& properties) {
  const std::string client_id = Get(properties, "auth.oauth2.client_id");
  const std::string pair =
      client_id.empty() ? ""
                        : client_id + ":" + Get(properties, "auth.oauth2.client_secret");
  const std::string scope = Get(properties, "auth.oauth2.scope", "catalog");
  const std::string server_uri =
      Get(properties, "auth.oauth2.token_url", BaseUri(properties) + kTokenPath);
  TokenOptions options = {.token = Get(properties, "token"),
                          .credential = Get(properties, "credential", pair),
                          .server_uri = Get(properties, "oauth2-server-uri", server_uri),
                          .parameters = {{"scope", Get(properties, "scope", scope)}}};
  for (const char* name : {"audience", "resource"}) {
    if (const auto value = FindProperty(properties, name)) {
      options.parameters[name] = *value;
    }
  }
  return options;
}

Routes::Options RouteOptionsOf(const Properties& properties) {
  Routes::Options options = {.prefix = Get(properties, "prefix")};
  const std::string separator = Get(properties, "namespace-separator");
  if (!separator.empty()) options.namespace_separator = separator;
  return options;
}

}  // namespace firn::iceberg::rest
