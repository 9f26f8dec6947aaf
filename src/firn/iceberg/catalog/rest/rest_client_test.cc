#include "firn/iceberg/catalog/rest/rest_client.h"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/http/testing/test_server.h"
#include "firn/iceberg/catalog/rest/rest_properties.h"

namespace firn::iceberg::rest {
namespace {

using http::FindHeader;
using http::ReceivedRequest;
using http::Reply;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const RestCall kGet = {.route = {"/v1/x"}};
const RestCall kPost = {
    .kind = CallKind::kChange, .method = "POST", .route = {"/v1/x"}, .body = "{}"};

Reply Answer(int status, std::string body = "{}") {
  return {.status = status, .body = std::move(body)};
}

Reply RetryAfter(const std::string& value) {
  return {
      .status = 429, .headers = {{.name = "Retry-After", .value = value}}, .body = "{}"};
}

/// A server that answers as told, then 200, and a client with a clock of its own.
class RestClientTest : public testing::Test {
 protected:
  void Script(std::deque<Reply> replies) { replies_ = std::move(replies); }

  RestClient& Client(Properties properties = {},
                     std::optional<Duration> key_lifetime = std::nullopt) {
    properties.emplace("uri", server_.Url());
    properties.emplace("rest.client.max-retries", "3");
    http_ = http::MakeHttpClient(SystemRuntime(), HttpOptionsOf(properties).ValueOrDie())
                .ValueOrDie();
    tokens_.emplace(TokenOptionsOf(properties), *http_, runtime_);
    RestClientOptions options = ClientOptionsOf(properties).ValueOrDie();
    options.idempotency_key_lifetime = key_lifetime;
    options.stop = stop_.token();
    return client_.emplace(std::move(options), *tokens_, *http_, runtime_);
  }

  std::vector<std::string> Sent(const char* header) {
    std::vector<std::string> values;
    for (const ReceivedRequest& request : server_.Requests()) {
      values.emplace_back(FindHeader(request.headers, header).value_or("-"));
    }
    return values;
  }
  std::size_t sent() { return server_.Requests().size(); }

  FakeRuntime runtime_;
  StopSource stop_;
  std::deque<Reply> replies_;
  http::TestServer server_{SystemRuntime(), [this](const ReceivedRequest&) {
                             if (replies_.empty()) return Answer(200, "done");
                             Reply reply = replies_.front();
                             replies_.pop_front();
                             return reply;
                           }};
  std::unique_ptr<http::HttpClient> http_;
  std::optional<TokenSource> tokens_;
  std::optional<RestClient> client_;
};

TEST_F(RestClientTest, AReadIsRepeatedUntilItIsAnswered) {
  Script({Answer(503), http::Drop()});
  EXPECT_EQ(Client().Send(kGet).ValueOrDie(), "done");
  EXPECT_EQ(sent(), 3U);
  EXPECT_GT(runtime_.SinceBoot().time_since_epoch(), Duration(0)) << "waits in between";
}

TEST_F(RestClientTest, AReadGivesUpAfterSoManyAttempts) {
  Script({Answer(500), Answer(500), Answer(500), Answer(500)});
  const Status status = Client().Send(kGet).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kUnavailable)) << status;
  EXPECT_EQ(sent(), 3U);
}

TEST_F(RestClientTest, NothingIsSentAgainAfterAStop) {
  RestClient& client = Client();
  stop_.RequestStop();
  Script({RetryAfter("7"), RetryAfter("7")});
  EXPECT_TRUE(IsError(client.Send(kGet).status(), ErrorKind::kUnavailable));
  EXPECT_TRUE(IsError(client.Send(kPost).status(), ErrorKind::kUnavailable));
  EXPECT_EQ(sent(), 2U);
  EXPECT_EQ(runtime_.SinceBoot().time_since_epoch(), Duration(0)) << "no waits";
  EXPECT_EQ(client.Send(kPost).ValueOrDie(), "done")
      << "what is begun may still be ended";
}

TEST_F(RestClientTest, AReadIsNotRepeatedWhereThatIsOfNoUse) {
  Script({Answer(403)});
  EXPECT_FALSE(Client().Send(kGet).ok());
  EXPECT_EQ(sent(), 1U);
}

TEST_F(RestClientTest, AChangeThatMayHaveBeenAppliedIsSentOnce) {
  for (const Reply& reply : {Answer(500), Answer(502), Answer(503), http::Drop()}) {
    Script({reply});
    const Status status = Client().Send(kPost).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kOutcomeUnknown)) << status;
  }
  EXPECT_EQ(sent(), 4U);
}

TEST_F(RestClientTest, AChangeIsRepeatedWhereNothingWasApplied) {
  Script({RetryAfter("7")});
  EXPECT_EQ(Client().Send(kPost).ValueOrDie(), "done");
  EXPECT_EQ(sent(), 2U);
  EXPECT_GE(runtime_.SinceBoot().time_since_epoch(), std::chrono::seconds(7));
}

TEST_F(RestClientTest, AServerThatWantsToBeLeftAloneForLongIs) {
  Script({RetryAfter("3600")});
  EXPECT_TRUE(IsError(Client().Send(kPost).status(), ErrorKind::kUnavailable));
  EXPECT_EQ(sent(), 1U);
}

TEST_F(RestClientTest, NobodyThereIsUnavailable) {
  // Nothing listens on the port of a name server.
  RestClient& client = Client({{"uri", "http://127.0.0.1:1"}});
  EXPECT_TRUE(IsError(client.Send(kPost).status(), ErrorKind::kUnavailable));
  EXPECT_TRUE(IsError(client.Send(kGet).status(), ErrorKind::kUnavailable));
}

TEST_F(RestClientTest, AKeyIsTheSameInAllAttemptsAndAnotherForTheNextCall) {
  RestClient& client = Client({}, std::chrono::minutes(30));
  Script({Answer(502), http::Drop()});
  EXPECT_EQ(client.Send(kPost).ValueOrDie(), "done");
  EXPECT_TRUE(client.Send(kPost).ok());
  EXPECT_TRUE(client.Send(kGet).ok());
  const std::vector<std::string> keys = Sent("Idempotency-Key");
  ASSERT_EQ(keys.size(), 5U);
  EXPECT_EQ(keys[0].size(), 36U);
  EXPECT_EQ(keys[1], keys[0]);
  EXPECT_EQ(keys[2], keys[0]);
  EXPECT_NE(keys[3], keys[0]);
  EXPECT_EQ(keys[4], "-") << "a read needs none";
}

TEST_F(RestClientTest, AConflictAfterNoAnswerMayBeWithOurselves) {
  Script({http::Drop(), Answer(409)});
  const Status status = Client({}, std::chrono::minutes(30)).Send(kPost).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kOutcomeUnknown)) << status;
  EXPECT_THAT(status.message(), HasSubstr("the server answers 409"));
}

TEST_F(RestClientTest, AKeyIsNotSentOnceItsTimeIsOver) {
  Script({Answer(502)});
  RestClient& client = Client({}, Duration(0));
  EXPECT_TRUE(IsError(client.Send(kPost).status(), ErrorKind::kOutcomeUnknown));
  EXPECT_EQ(sent(), 1U);
}

TEST_F(RestClientTest, AServerThatDoesNotAnswerIsGivenUp) {
  http::Gate gate(SystemRuntime());
  http::TestServer silent(SystemRuntime(), [&](const ReceivedRequest&) {
    gate.Wait();
    return Answer(200);
  });
  const Status status =
      Client({{"uri", silent.Url()}, {"rest.client.request-timeout-ms", "50"}})
          .Send(kPost)
          .status();
  EXPECT_TRUE(IsError(status, ErrorKind::kOutcomeUnknown)) << status;
  gate.Open();
}

TEST_F(RestClientTest, HeadersAreThoseOfTheProperties) {
  EXPECT_TRUE(Client({{"header.X-Team", "a"}, {"token", "t"}}).Send(kGet).ok());
  EXPECT_THAT(Sent("X-Team"), ElementsAre("a"));
  EXPECT_THAT(Sent("X-Iceberg-Access-Delegation"), ElementsAre("vended-credentials"));
  EXPECT_THAT(Sent("Authorization"), ElementsAre("Bearer t"));
  EXPECT_TRUE(Client({{"header.x-iceberg-access-delegation", "remote-signing"},
                      {"header.authorization", "Basic b"},
                      {"rest.client.user-agent", "mine/1"},
                      {"token", "t"}})
                  .Send(kGet)
                  .ok());
  EXPECT_EQ(Sent("X-Iceberg-Access-Delegation").back(), "remote-signing");
  EXPECT_EQ(Sent("Authorization").back(), "Basic b");
  EXPECT_EQ(Sent("User-Agent").back(), "mine/1");
}

TEST_F(RestClientTest, ATokenThatCannotBeRenewedIsTriedOnce) {
  Script({Answer(401, R"({"error": {"type": "T", "message": "bad token s3cret"}})")});
  const Status status = Client({{"token", "s3cret"}}).Send(kGet).status();
  EXPECT_THAT(status.message(), HasSubstr("bad token ***"));
  EXPECT_THAT(status.message(), Not(HasSubstr("s3cret")));
  EXPECT_EQ(sent(), 1U);
}

/// Gives "token-1", "token-2", ... for the secret "s", each good for 100 seconds.
class TokenTest : public testing::Test {
 protected:
  TokenTest() { tokens_.emplace(Options("id:s"), *http_, runtime_); }

  TokenOptions Options(const std::string& credential) const {
    return TokenOptionsOf(
        {{"credential", credential}, {"uri", server_.Url()}, {"audience", "a b"}});
  }

  Reply Give(const ReceivedRequest& request) {
    if (status_ != 200) {
      return Answer(status_, R"({"error": "invalid_client", "error_description": ")" +
                                 request.body + R"("})");
    }
    return Answer(200, fmt::format(R"({{"access_token": "token-{}", "expires_in": 100,
                                        "token_type": "bearer"}})",
                                   ++given_));
  }

  std::string Token() { return tokens_->Token().ValueOrDie(); }

  FakeRuntime runtime_;
  int given_ = 0;
  int status_ = 200;
  http::TestServer server_{
      SystemRuntime(), [this](const ReceivedRequest& request) { return Give(request); }};
  const std::unique_ptr<http::HttpClient> http_ =
      http::MakeHttpClient(SystemRuntime(), {}).ValueOrDie();
  std::optional<TokenSource> tokens_;
};

TEST_F(TokenTest, IsAskedForOnceAndRenewedBeforeItExpires) {
  EXPECT_EQ(Token(), "token-1");
  runtime_.Advance(std::chrono::seconds(89));
  EXPECT_EQ(Token(), "token-1");
  runtime_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Token(), "token-2");
  EXPECT_EQ(server_.Requests()[0].target, "/v1/oauth/tokens");
  EXPECT_EQ(server_.Requests()[0].body,
            "audience=a%20b&client_id=id&client_secret=s&grant_type=client_credentials"
            "&scope=catalog");
}

TEST_F(TokenTest, ThatIsStillGoodIsUsedWhileTheServerIsAway) {
  EXPECT_EQ(Token(), "token-1");
  status_ = 503;
  runtime_.Advance(std::chrono::seconds(95));
  EXPECT_EQ(Token(), "token-1");
  runtime_.Advance(std::chrono::seconds(5));
  EXPECT_TRUE(IsError(tokens_->Token().status(), ErrorKind::kUnavailable));
}

TEST_F(TokenTest, ThatWasRefusedIsRenewedOnceForAllWhoHeldIt) {
  EXPECT_EQ(Token(), "token-1");
  EXPECT_TRUE(tokens_->Discard("token-1"));
  EXPECT_EQ(Token(), "token-2");
  EXPECT_TRUE(tokens_->Discard("token-1"));
  EXPECT_EQ(Token(), "token-2");
}

TEST_F(TokenTest, RefusalNamesNoSecret) {
  tokens_.emplace(Options("id:s3cret"), *http_, runtime_);
  status_ = 401;
  const Status status = tokens_->Token().status();
  EXPECT_THAT(status.message(), HasSubstr("/v1/oauth/tokens: the server answers 401: "
                                          "invalid_client"));
  EXPECT_THAT(status.message(), Not(HasSubstr("s3cret")));
  EXPECT_FALSE(IsError(status, ErrorKind::kNotFound));
}

TEST_F(TokenTest, NoneIsAskedForWithoutACredential) {
  tokens_.emplace(TokenOptionsOf({{"uri", server_.Url()}}), *http_, runtime_);
  EXPECT_EQ(Token(), "");
  EXPECT_EQ(given_, 0);
}

TEST(RestPropertiesTest, TheServersOverridesWinAndItsDefaultsDoNot) {
  const ServerConfig config = {.defaults = {{"a", "default"}, {"b", "default"}},
                               .overrides = {{"c", "override"}},
                               .endpoints = std::nullopt,
                               .idempotency_key_lifetime = std::nullopt};
  EXPECT_THAT(Merged(config, {{"b", "mine"}, {"c", "mine"}}),
              ElementsAre(std::pair("a", "default"), std::pair("b", "mine"),
                          std::pair("c", "override")));
}

TEST(RestPropertiesTest, AuthorizationIsNamedAsPyIcebergAndJavaNameIt) {
  const TokenOptions tokens = TokenOptionsOf({{"auth.type", "oauth2"},
                                              {"auth.oauth2.client_id", "id"},
                                              {"auth.oauth2.client_secret", "s"},
                                              {"auth.oauth2.token_url", "https://t"},
                                              {"auth.oauth2.scope", "lake"}});
  EXPECT_EQ(tokens.credential, "id:s");
  EXPECT_EQ(tokens.server_uri, "https://t");
  EXPECT_EQ(tokens.parameters.at("scope"), "lake");
  for (const std::string prefix : {"", "rest."}) {
    const auto options = ClientOptionsOf({{"uri", "http://h"},
                                          {prefix + "auth.type", "basic"},
                                          {prefix + "auth.basic.username", "u"},
                                          {prefix + "auth.basic.password", "p"}})
                             .ValueOrDie();
    EXPECT_EQ(FindHeader(options.headers, "Authorization"), "Basic dTpw");
  }
}

TEST(RestPropertiesTest, WhatCannotBeUsedIsNamed) {
  EXPECT_THAT(ClientOptionsOf({}).status().message(), HasSubstr("uri"));
  EXPECT_THAT(ClientOptionsOf({{"uri", "file:///x"}}).status().message(),
              HasSubstr("uri"));
  const std::string name = "rest.client.request-timeout-ms";
  for (const char* value : {"0", "-1", "soon", ""}) {
    EXPECT_THAT(ClientOptionsOf({{"uri", "http://h"}, {name, value}}).status().message(),
                HasSubstr(name));
  }
  for (const auto& [property, value] : Properties{{"auth.type", "google"},
                                                  {"rest.auth.type", "sigv4"},
                                                  {"rest.sigv4-enabled", "true"},
                                                  {"ssl.client.cert", "/a.pem"}}) {
    const Status status =
        ClientOptionsOf({{"uri", "http://h"}, {property, value}}).status();
    EXPECT_THAT(status.message(), HasSubstr("the catalog's property")) << property;
  }
  EXPECT_EQ(ClientOptionsOf({{"uri", "http://h/api//"}}).ValueOrDie().uri,
            "http://h/api");
}

}  // namespace
}  // namespace firn::iceberg::rest
