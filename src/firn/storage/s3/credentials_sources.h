#pragma once

#include <string>
#include <string_view>

#include "firn/http/http_client.h"
#include "firn/storage/s3/credentials.h"
#include "firn/storage/s3/environment.h"

/// Where AWS tools look for credentials, one function each. All fail with NotFound where
/// nothing says that there are any; what is said and does not work is another error.
/// Secrets are in no message.
namespace firn::storage::s3 {

/// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.
Result<Credentials> EnvironmentCredentials(const Environment& environment);

/// How to get credentials for a token that somebody else signed.
struct WebIdentity {
  std::string role_arn;
  std::string token_file;
  std::string session_name;
};
/// AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN, AWS_ROLE_SESSION_NAME.
Result<WebIdentity> EnvironmentWebIdentity(const Environment& environment);

/// AssumeRoleWithWebIdentity of AWS's token service, at AWS_ENDPOINT_URL_STS or that of
/// `region`.
Result<Credentials> WebIdentityCredentials(const WebIdentity& identity,
                                           const Environment& environment,
                                           const std::string& region,
                                           http::HttpClient& http);

/// The service that ECS and EKS name in AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or
/// AWS_CONTAINER_CREDENTIALS_FULL_URI. A token is sent to nobody but an address of this
/// machine or by TLS.
Result<Credentials> ContainerCredentials(const Environment& environment,
                                         http::HttpClient& http);

/// The role of an EC2 instance, from its metadata service, version 2 (IMDSv2).
Result<Credentials> InstanceCredentials(const Environment& environment,
                                        http::HttpClient& http);

/// The JSON of the last two. Corruption if something is missing.
Result<Credentials> ParseCredentialsJson(std::string_view json);

}  // namespace firn::storage::s3
