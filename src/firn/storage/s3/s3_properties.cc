#include "firn/storage/s3/s3_properties.h"

#include <charconv>
#include <cmath>

#include "firn/storage/s3/credentials_sources.h"

namespace firn::storage::s3 {
namespace {

constexpr double kSecondsMax = 24 * 60 * 60;

/// The first that is set and not empty.
std::optional<std::string> Find(const S3Properties& properties,
                                std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = properties.find(name);
    if (found != properties.end() && !found->second.empty()) return found->second;
  }
  return std::nullopt;
}

Result<std::optional<bool>> FindBool(const S3Properties& properties, const char* name) {
  const auto text = Find(properties, {name});
  if (!text) return std::optional<bool>();
  if (*text == "true" || *text == "True" || *text == "1") return std::optional(true);
  if (*text == "false" || *text == "False" || *text == "0") return std::optional(false);
  return InvalidError("{}: {:?} is neither true nor false", name, *text);
}

Result<Duration> FindSeconds(const S3Properties& properties, const char* name,
                             Duration otherwise) {
  const auto text = Find(properties, {name});
  if (!text) return otherwise;
  double seconds = 0;
  const char* end = text->data() + text->size();
  const auto [parsed, error] = std::from_chars(text->data(), end, seconds);
  const bool is_number = error == std::errc() && parsed == end;
  if (!is_number || !(seconds > 0 && seconds <= kSecondsMax)) {
    return InvalidError("{}: {:?} is no number of seconds above 0", name, *text);
  }
  return Duration(static_cast<std::int64_t>(std::ceil(seconds * 1e6)));
}

std::optional<std::string> FindRegion(const S3Properties& properties,
                                      const Environment& environment,
                                      const Profile& profile) {
  if (auto region = Find(properties, {"s3.region", "client.region"})) return region;
  if (auto region = environment("AWS_REGION")) return region;
  if (auto region = environment("AWS_DEFAULT_REGION")) return region;
  return Find(profile.settings, {"region"});
}

Result<S3Endpoint> ReadEndpoint(const S3Properties& properties,
                                const Environment& environment, const Profile& profile) {
  using Addressing = S3Endpoint::Addressing;
  S3Endpoint endpoint;
  auto url = Find(properties, {"s3.endpoint"});
  if (!url) url = environment("AWS_ENDPOINT_URL_S3");
  if (!url) url = environment("AWS_ENDPOINT_URL");
  if (url) endpoint.url = *url;
  if (auto region = FindRegion(properties, environment, profile))
    endpoint.region = *region;
  FIRN_ASSIGN_OR_RETURN(const auto by_path, FindBool(properties, "s3.path-style-access"));
  FIRN_ASSIGN_OR_RETURN(const auto by_host,
                        FindBool(properties, "s3.force-virtual-addressing"));
  endpoint.addressing = url ? Addressing::kPath : Addressing::kVirtualHost;
  if (by_path) {
    endpoint.addressing = *by_path ? Addressing::kPath : Addressing::kVirtualHost;
  } else if (by_host && *by_host) {
    endpoint.addressing = Addressing::kVirtualHost;
  }
  return endpoint;
}

std::vector<CredentialsSource> Sources(const S3Settings& settings,
                                       const Environment& environment,
                                       http::HttpClient& http) {
  const std::string region = settings.client.endpoint.region;
  return {
      {"the environment", [environment] { return EnvironmentCredentials(environment); }},
      {fmt::format("profile {:?}", settings.profile.name),
       [environment, name = settings.profile.name, region,
        &http]() -> Result<Credentials> {
         // Read anew: whoever renews the keys writes the file.
         const std::string wanted = name == "default" ? "" : name;
         FIRN_ASSIGN_OR_RETURN(const Profile profile, ReadProfile(wanted, environment));
         return ProfileCredentials(profile, environment, region, http);
       }},
      {"web identity",
       [environment, region, &http]() -> Result<Credentials> {
         FIRN_ASSIGN_OR_RETURN(const WebIdentity identity,
                               EnvironmentWebIdentity(environment));
         return WebIdentityCredentials(identity, environment, region, http);
       }},
      {"the container",
       [environment, &http] { return ContainerCredentials(environment, http); }},
      {"the instance",
       [environment, &http] { return InstanceCredentials(environment, http); }},
  };
}

}  // namespace

Result<S3Settings> ReadS3Settings(const S3Properties& properties,
                                  const Environment& environment) {
  S3Settings settings;
  const auto profile_name =
      Find(properties, {"s3.profile-name", "client.profile-name"}).value_or("");
  FIRN_ASSIGN_OR_RETURN(settings.profile, ReadProfile(profile_name, environment));
  FIRN_ASSIGN_OR_RETURN(settings.client.endpoint,
                        ReadEndpoint(properties, environment, settings.profile));
  FIRN_ASSIGN_OR_RETURN(
      settings.client.request_timeout,
      FindSeconds(properties, "s3.request-timeout", settings.client.request_timeout));
  FIRN_ASSIGN_OR_RETURN(
      settings.http.connect_timeout,
      FindSeconds(properties, "s3.connect-timeout", settings.http.connect_timeout));
  settings.http.idle_timeout = settings.client.request_timeout;
  settings.http.ca_file = environment("AWS_CA_BUNDLE").value_or("");
  return settings;
}

std::optional<Credentials> PropertyCredentials(const S3Properties& properties) {
  const auto id = Find(properties, {"s3.access-key-id", "client.access-key-id"});
  const auto secret =
      Find(properties, {"s3.secret-access-key", "client.secret-access-key"});
  const auto token = Find(properties, {"s3.session-token", "client.session-token"});
  if (!id || !secret) return std::nullopt;
  return Credentials{.access_key_id = *id,
                     .secret_access_key = *secret,
                     .session_token = token.value_or("")};
}

std::unique_ptr<CredentialsProvider> MakeCredentials(const S3Properties& properties,
                                                     const S3Settings& settings,
                                                     const Environment& environment,
                                                     Runtime& runtime,
                                                     http::HttpClient& http) {
  if (auto credentials = PropertyCredentials(properties)) {
    return std::make_unique<StaticCredentials>(*std::move(credentials));
  }
  return std::make_unique<CachedCredentials>(runtime,
                                             Sources(settings, environment, http));
}

}  // namespace firn::storage::s3
