#include "firn/storage/s3/s3_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"

namespace firn::storage::s3 {
namespace {

using ::testing::HasSubstr;

Environment Variables(std::map<std::string, std::string> variables) {
  return
      [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
      };
}

S3Settings Read(const S3Properties& properties,
                std::map<std::string, std::string> variables = {}) {
  return ReadS3Settings(properties, Variables(std::move(variables))).ValueOrDie();
}

/// "path http://h us-east-1"
std::string EndpointOf(const S3Properties& properties,
                       std::map<std::string, std::string> variables = {}) {
  const S3Endpoint endpoint = Read(properties, std::move(variables)).client.endpoint;
  const bool by_path = endpoint.addressing == S3Endpoint::Addressing::kPath;
  return fmt::format("{} {} {}", by_path ? "path" : "host",
                     endpoint.url.empty() ? "aws" : endpoint.url, endpoint.region);
}

TEST(S3PropertiesTest, SayWhereAndHow) {
  EXPECT_EQ(EndpointOf({}), "host aws us-east-1");
  EXPECT_EQ(EndpointOf({{"s3.endpoint", "http://h"}}), "path http://h us-east-1");
  EXPECT_EQ(EndpointOf({{"s3.endpoint", "http://h"},
                        {"s3.force-virtual-addressing", "True"},
                        {"s3.region", "r"}}),
            "host http://h r");
  EXPECT_EQ(EndpointOf({{"s3.endpoint", "http://h"}, {"s3.path-style-access", "false"}}),
            "host http://h us-east-1");
  EXPECT_EQ(EndpointOf({{"s3.path-style-access", "true"}, {"client.region", "c"}}),
            "path aws c");
}

TEST(S3PropertiesTest, TheEnvironmentSaysTheRest) {
  EXPECT_EQ(EndpointOf({}, {{"AWS_ENDPOINT_URL", "http://e"}, {"AWS_REGION", "r"}}),
            "path http://e r");
  EXPECT_EQ(EndpointOf({{"s3.region", "p"}}, {{"AWS_ENDPOINT_URL", "http://e"},
                                              {"AWS_ENDPOINT_URL_S3", "http://s"},
                                              {"AWS_DEFAULT_REGION", "r"}}),
            "path http://s p");
  EXPECT_EQ(Read({}, {{"AWS_CA_BUNDLE", "/ca.pem"}}).http.ca_file, "/ca.pem");
}

TEST(S3PropertiesTest, TimeoutsAreSeconds) {
  const S3Settings settings =
      Read({{"s3.request-timeout", "2.5"}, {"s3.connect-timeout", "1"}});
  EXPECT_EQ(settings.client.request_timeout, std::chrono::milliseconds(2500));
  EXPECT_EQ(settings.http.connect_timeout, std::chrono::seconds(1));
}

TEST(S3PropertiesTest, AWrongValueNamesItsProperty) {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"s3.request-timeout", "0"},
                                          {"s3.connect-timeout", "nan"},
                                          {"s3.path-style-access", "perhaps"},
                                          {"s3.force-virtual-addressing", "2"}}) {
    const Status status = ReadS3Settings({{name, value}}, Variables({})).status();
    EXPECT_TRUE(status.IsInvalid()) << status;
    EXPECT_THAT(ErrorText(status), HasSubstr(name));
  }
}

TEST(S3PropertiesTest, KeysInPropertiesCountBeforeTheEnvironments) {
  FakeRuntime runtime;
  const auto http = *http::MakeHttpClient(runtime, {});
  const Environment environment =
      Variables({{"AWS_ACCESS_KEY_ID", "e"}, {"AWS_SECRET_ACCESS_KEY", "f"}});
  const auto id = [&](const S3Properties& properties) {
    const S3Settings settings = *ReadS3Settings(properties, environment);
    return MakeCredentials(properties, settings, environment, runtime, *http)
        ->Get()
        ->access_key_id;
  };
  EXPECT_EQ(id({{"s3.access-key-id", "p"}, {"s3.secret-access-key", "q"}}), "p");
  EXPECT_EQ(id({{"client.access-key-id", "c"}, {"client.secret-access-key", "d"}}), "c");
  EXPECT_EQ(id({}), "e");
}

}  // namespace
}  // namespace firn::storage::s3
