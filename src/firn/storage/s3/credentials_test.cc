#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/http/testing/test_server.h"
#include "firn/storage/s3/cached_credentials.h"
#include "firn/storage/s3/credentials_sources.h"
#include "firn/storage/s3/profile.h"
#include "firn/storage/s3/utc_time.h"
#include "firn/storage/temporary_directory.h"

namespace firn::storage::s3 {
namespace {

using http::ReceivedRequest;
using http::Reply;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kJson = R"({"Code": "Success", "AccessKeyId": "id",
  "SecretAccessKey": "secret", "Token": "token", "Expiration": "2030-01-01T00:00:00Z"})";

const Credentials kTemporary = {
    .access_key_id = "id",
    .secret_access_key = "secret",
    .session_token = "token",
    .expires = WallTime(std::chrono::sys_days(std::chrono::year(2030) / 1 / 1))};

class CredentialsTest : public ::testing::Test {
 protected:
  Environment environment() {
    return [this](const char* name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    };
  }

  std::string Write(const std::string& name, const std::string& text) {
    std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  Result<Credentials> OfProfile(const std::string& name = "") {
    FIRN_ASSIGN_OR_RETURN(const Profile profile, ReadProfile(name, environment()));
    return ProfileCredentials(profile, environment(), "us-east-1", *http_);
  }

  void ExpectNotFound(const Status& status) {
    EXPECT_TRUE(IsError(status, ErrorKind::kNotFound)) << status;
  }

  void ExpectOtherError(const Status& status, const std::string& text) {
    EXPECT_FALSE(IsError(status, ErrorKind::kNotFound)) << status;
    EXPECT_THAT(ErrorText(status), AllOf(HasSubstr(text), Not(HasSubstr("secret"))));
  }

  const TemporaryDirectory directory_ = TemporaryDirectory::Make().ValueOrDie();
  std::map<std::string, std::string> variables_ = {{"HOME", "/nonexistent"}};
  FakeRuntime runtime_;
  std::function<Reply(const ReceivedRequest&)> answer_;
  http::TestServer server_{
      runtime_, [this](const ReceivedRequest& request) { return answer_(request); }};
  const std::unique_ptr<http::HttpClient> http_ =
      *http::MakeHttpClient(SystemRuntime(), {.use_environment_proxy = false});
};

TEST_F(CredentialsTest, FromTheEnvironment) {
  ExpectNotFound(EnvironmentCredentials(environment()).status());
  variables_["AWS_ACCESS_KEY_ID"] = "id";
  ExpectOtherError(EnvironmentCredentials(environment()).status(), "only one is set");
  variables_["AWS_SECRET_ACCESS_KEY"] = "secret";
  EXPECT_EQ(*EnvironmentCredentials(environment()),
            (Credentials{.access_key_id = "id", .secret_access_key = "secret"}));
  variables_["AWS_SESSION_TOKEN"] = "token";
  EXPECT_EQ(EnvironmentCredentials(environment())->session_token, "token");
}

TEST_F(CredentialsTest, FromAProfile) {
  variables_["AWS_SHARED_CREDENTIALS_FILE"] = Write("credentials", R"(
# a comment
[default]
aws_access_key_id = d
aws_secret_access_key=secret
[work]
aws_access_key_id=w
aws_secret_access_key=secret=with=equals
aws_session_token = t
)");
  EXPECT_EQ(OfProfile()->access_key_id, "d");
  EXPECT_EQ(*OfProfile("work"), (Credentials{.access_key_id = "w",
                                             .secret_access_key = "secret=with=equals",
                                             .session_token = "t"}));
  variables_["AWS_PROFILE"] = "work";
  EXPECT_EQ(OfProfile()->access_key_id, "w");
  EXPECT_EQ(OfProfile("default")->access_key_id, "d");
}

TEST_F(CredentialsTest, AProfileMayStandInTheConfigFile) {
  variables_["AWS_CONFIG_FILE"] = Write("config", R"(
[default]
region = eu-west-1
s3 =
  max_concurrent_requests = 20
[profile work]
aws_access_key_id = w
aws_secret_access_key = secret
region = eu-west-2
[profile single]
sso_session = x
)");
  ExpectNotFound(OfProfile().status());
  EXPECT_EQ(ReadProfile("", environment())->settings,
            (std::map<std::string, std::string>{{"region", "eu-west-1"}, {"s3", ""}}));
  EXPECT_EQ(OfProfile("work")->access_key_id, "w");
  ExpectOtherError(OfProfile("single").status(), "sso_session");
}

TEST_F(CredentialsTest, AProfileThatWasNamedMustBeThere) {
  ExpectNotFound(OfProfile().status());
  variables_["AWS_PROFILE"] = "work";
  ExpectOtherError(OfProfile().status(), "there is no AWS profile \"work\"");
}

TEST_F(CredentialsTest, FromATokenOfSomebodyElse) {
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = Write("token", "signed token\n");
  ExpectOtherError(EnvironmentWebIdentity(environment()).status(), "AWS_ROLE_ARN");
  variables_["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/r";
  variables_["AWS_ENDPOINT_URL_STS"] = server_.Url();
  answer_ = [](const ReceivedRequest&) {
    return Reply{.body = R"(<AssumeRoleWithWebIdentityResponse>
      <AssumeRoleWithWebIdentityResult><Credentials>
      <AccessKeyId>id</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
      <SessionToken>token</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration>
      </Credentials></AssumeRoleWithWebIdentityResult>
      </AssumeRoleWithWebIdentityResponse>)"};
  };
  const auto identity = EnvironmentWebIdentity(environment());
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(*WebIdentityCredentials(*identity, environment(), "us-east-1", *http_),
            kTemporary);
  const ReceivedRequest request = server_.Requests().at(0);
  EXPECT_EQ(request.target, "/") << "proxies log what is in a URL";
  EXPECT_THAT(request.body,
              AllOf(HasSubstr("WebIdentityToken=signed%20token"),
                    HasSubstr("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr")));
}

TEST_F(CredentialsTest, ATokenThatIsRefusedIsAnError) {
  variables_["AWS_ENDPOINT_URL_STS"] = server_.Url();
  answer_ = [](const ReceivedRequest&) {
    return Reply{.status = 400,
                 .body =
                     "<ErrorResponse><Error><Code>ExpiredTokenException</Code>"
                     "<Message>Token expired</Message></Error></ErrorResponse>"};
  };
  const WebIdentity identity{.role_arn = "r", .token_file = Write("token", "secret")};
  ExpectOtherError(
      WebIdentityCredentials(identity, environment(), "us-east-1", *http_).status(),
      "ExpiredTokenException: Token expired");
  ExpectOtherError(WebIdentityCredentials({.role_arn = "r", .token_file = "/nonexistent"},
                                          environment(), "us-east-1", *http_)
                       .status(),
                   "/nonexistent");
}

TEST_F(CredentialsTest, FromTheContainer) {
  ExpectNotFound(ContainerCredentials(environment(), *http_).status());
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = server_.Url("/creds");
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = Write("token", "secret-token\n");
  answer_ = [](const ReceivedRequest& request) {
    const bool may = http::FindHeader(request.headers, "Authorization") == "secret-token";
    return Reply{.status = may ? 200 : 403, .body = kJson};
  };
  EXPECT_EQ(*ContainerCredentials(environment(), *http_), kTemporary);
  variables_.erase("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  ExpectOtherError(ContainerCredentials(environment(), *http_).status(), "status 403");
}

TEST_F(CredentialsTest, AContainersTokenIsSentToNoStranger) {
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "secret-token";
  for (const char* url :
       {"http://example.com/creds", "http://127.0.0.1.example.com/", "http://127.evil/",
        "http://127.0.0.1@example.com/", "http://localhost.example.com/"}) {
    variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url;
    ExpectOtherError(ContainerCredentials(environment(), *http_).status(),
                     "neither https nor of this machine");
  }
}

TEST_F(CredentialsTest, FromTheInstance) {
  variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = server_.Url();
  answer_ = [](const ReceivedRequest& request) {
    if (request.method == "PUT") return Reply{.body = "session"};
    if (http::FindHeader(request.headers, "X-aws-ec2-metadata-token") != "session") {
      return Reply{.status = 401};
    }
    const bool is_list = request.target.ends_with("/security-credentials/");
    return Reply{.body = is_list ? "my-role\n" : kJson};
  };
  EXPECT_EQ(*InstanceCredentials(environment(), *http_), kTemporary);
  EXPECT_THAT(server_.Requests().back().target,
              HasSubstr("/security-credentials/my-role"));
}

TEST_F(CredentialsTest, NoInstanceHasNone) {
  variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = server_.Url();
  answer_ = [](const ReceivedRequest& request) {
    return request.method == "PUT" ? Reply{.body = "session"} : Reply{.status = 404};
  };
  ExpectNotFound(InstanceCredentials(environment(), *http_).status());
  answer_ = [](const ReceivedRequest&) { return http::Drop(); };
  ExpectNotFound(InstanceCredentials(environment(), *http_).status());
  variables_["AWS_EC2_METADATA_DISABLED"] = "true";
  ExpectNotFound(InstanceCredentials(environment(), *http_).status());
}

TEST_F(CredentialsTest, BrokenJsonIsCorruption) {
  for (const char* json : {"", "[]", "{}", R"({"AccessKeyId": 1})",
                           R"({"AccessKeyId": "a", "SecretAccessKey": ""})"}) {
    EXPECT_TRUE(IsError(ParseCredentialsJson(json).status(), ErrorKind::kCorruption));
  }
}

/// A source that is asked again and again.
class CachedCredentialsTest : public ::testing::Test {
 protected:
  static Result<Credentials> None() { return Error(ErrorKind::kNotFound, "none"); }

  Result<Credentials> Fetch() {
    ++fetched_;
    FIRN_RETURN_NOT_OK(failure_);
    return Credentials{.access_key_id = std::to_string(fetched_),
                       .expires = runtime_.Now() + std::chrono::hours(1)};
  }
  std::string Id() {
    const auto credentials = cached_.Get();
    return credentials.ok() ? credentials->access_key_id
                            : ErrorText(credentials.status());
  }

  FakeRuntime runtime_;
  int asked_first_ = 0;
  int fetched_ = 0;
  Status failure_;
  CachedCredentials cached_{runtime_,
                            {{"one", [this] { return ++asked_first_, None(); }},
                             {"two", [this] { return Fetch(); }}}};
};

TEST_F(CachedCredentialsTest, TheSourceThatHasThemIsAskedBeforeTheyEnd) {
  EXPECT_EQ(Id(), "1");
  runtime_.Advance(std::chrono::minutes(54));
  EXPECT_EQ(Id(), "1");
  runtime_.Advance(std::chrono::minutes(2));
  EXPECT_EQ(Id(), "2");
  EXPECT_EQ(asked_first_, 1);
}

TEST_F(CachedCredentialsTest, OldOnesServeWhileNewOnesCannotBeHad) {
  EXPECT_EQ(Id(), "1");
  failure_ = Error(ErrorKind::kUnavailable, "not now");
  runtime_.Advance(std::chrono::minutes(56));
  EXPECT_EQ(Id(), "1");
  EXPECT_EQ(Id(), "1");
  EXPECT_EQ(fetched_, 2) << "not at every request";
  runtime_.Advance(std::chrono::minutes(5));
  EXPECT_EQ(Id(), "S3 credentials from two: not now");
}

TEST_F(CachedCredentialsTest, WhatTheServerRefusesIsFetchedAnew) {
  const Credentials first = *cached_.Get();
  cached_.Forget(first);
  EXPECT_EQ(Id(), "2");
  cached_.Forget(first);
  EXPECT_EQ(Id(), "2") << "another thread was first";
}

TEST_F(CachedCredentialsTest, WhoHasNoneLearnsWhereWasLooked) {
  CachedCredentials none(runtime_, {{"one", None}, {"two", None}});
  EXPECT_THAT(ErrorText(none.Get().status()),
              HasSubstr("no S3 credentials; looked at: one, two"));
}

}  // namespace
}  // namespace firn::storage::s3
