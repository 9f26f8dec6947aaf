#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "firn/http/http_client.h"
#include "firn/storage/s3/cached_credentials.h"
#include "firn/storage/s3/environment.h"
#include "firn/storage/s3/profile.h"
#include "firn/storage/s3/s3_client.h"

namespace firn::storage::s3 {

/// How S3 is reached, in PyIceberg's names; of those with two, the first counts.
///
/// s3.endpoint; s3.region, client.region; s3.access-key-id, s3.secret-access-key,
/// s3.session-token, each with client. too; s3.profile-name, client.profile-name;
/// s3.path-style-access, s3.force-virtual-addressing; s3.request-timeout,
/// s3.connect-timeout in seconds. What they do not say is taken from the environment and
/// the profile, as AWS's tools do: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION,
/// AWS_DEFAULT_REGION, AWS_CA_BUNDLE. An endpoint of one's own is addressed by path, AWS
/// by virtual hosts, unless it is said.
using S3Properties = std::map<std::string, std::string>;

struct S3Settings {
  S3ClientOptions client;
  http::HttpOptions http;
  Profile profile;
};

/// Invalid, with the property's name, for a value that cannot be used.
Result<S3Settings> ReadS3Settings(const S3Properties& properties,
                                  const Environment& environment);

/// The keys among the properties, whether the configuration or a catalog gave them;
/// nothing if one is missing.
std::optional<Credentials> PropertyCredentials(const S3Properties& properties);

/// From the properties if they hold keys; else found as AWS's tools do, in this order:
/// environment, profile, web identity, container, instance. `runtime` and `http` must
/// outlive it.
std::unique_ptr<CredentialsProvider> MakeCredentials(const S3Properties& properties,
                                                     const S3Settings& settings,
                                                     const Environment& environment,
                                                     Runtime& runtime,
                                                     http::HttpClient& http);

}  // namespace firn::storage::s3
