#include "firn/iceberg/catalog/rest/rest_catalog.h"

#include <atomic>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/iceberg/catalog/memory_catalog.h"
#include "firn/iceberg/catalog/rest/vended_credentials.h"
#include "firn/iceberg/testing/rest_test_server.h"
#include "firn/iceberg/testing/sample_table.h"

namespace firn::iceberg {
namespace {

using http::ReceivedRequest;
using http::Reply;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const TableIdentifier kFlights{"demo", "flights"};
const TableFolder kFlightsFolder{.table = kFlights, .location = "s3://lake/demo/flights"};

class RestCatalogTest : public testing::Test {
 protected:
  RestTestServer& Serve(RestTestServer::Options options,
                        RestTestServer::Faults faults = {}) {
    return server_.emplace(backend_, std::move(options), std::move(faults));
  }

  Result<std::unique_ptr<RestCatalog>> TryOpen(rest::Properties properties = {}) {
    properties.emplace("uri", server_->uri());
    return RestCatalog::Open(
        properties, http::MakeHttpClient(SystemRuntime(), {}).ValueOrDie(), runtime_);
  }

  RestCatalog& Open(rest::Properties properties = {}) {
    catalog_ = TryOpen(std::move(properties)).ValueOrDie();
    return *catalog_;
  }

  LoadedTable MakeFlights() {
    EXPECT_TRUE(backend_.CreateNamespace("demo").ok());
    return backend_.CreateTable(kFlights, FlightsCreation()).ValueOrDie();
  }

  /// What gives the keys of kFlightsFolder when `key` was vended with the table.
  std::unique_ptr<storage::s3::CredentialsProvider> VendedAtFirst(std::string key,
                                                                  Duration life) {
    const StorageAccess access = {.properties = {{"s3.access-key-id", std::move(key)},
                                                 {"s3.secret-access-key", "secret"}},
                                  .expiry = runtime_.Now() + life};
    return VendedCredentials(Open(), kFlightsFolder, access, runtime_);
  }

  std::vector<std::string> Targets() {
    std::vector<std::string> targets;
    for (const ReceivedRequest& request : server_->Requests()) {
      targets.push_back(request.method + " " + request.target);
    }
    return targets;
  }

  FakeRuntime runtime_;
  MemoryCatalog backend_{SystemRuntime(), "memory:///warehouse"};
  std::optional<RestTestServer> server_;
  std::unique_ptr<RestCatalog> catalog_;
};

TEST_F(RestCatalogTest, ThePrefixIsTheServers) {
  Serve({.prefix = "ws/1"});
  MakeFlights();
  RestCatalog& catalog = Open({{"warehouse", "lake"}, {"prefix", "mine"}});
  EXPECT_TRUE(catalog.LoadTable(kFlights).ok());
  EXPECT_TRUE(catalog.DropTable(kFlights).ok());
  EXPECT_THAT(Targets(), ElementsAre("GET /v1/config?warehouse=lake",
                                     "GET /v1/ws/1/namespaces/demo/tables/flights",
                                     "DELETE /v1/ws/1/namespaces/demo/tables/"
                                     "flights?purgeRequested=false"));
}

TEST_F(RestCatalogTest, ListsArePutTogetherFromPages) {
  Serve({.page_size = 2});
  RestCatalog& catalog = Open();
  std::vector<std::string> names;
  for (const char* name : {"a", "b", "c", "c.d", "c.e", "c.f", "g"}) {
    names.emplace_back(name);
    ASSERT_TRUE(catalog.CreateNamespace(name).ok());
  }
  EXPECT_EQ(catalog.ListNamespaces().ValueOrDie(), names);
  for (const char* name : {"t1", "t2", "t3"}) {
    ASSERT_TRUE(catalog.CreateTable({"a", name}, FlightsCreation()).ok());
  }
  EXPECT_EQ(catalog.ListTables("a").ValueOrDie().size(), 3U);
}

TEST_F(RestCatalogTest, PagesThatGoRoundInCirclesEnd) {
  Serve({}, {.before = [](const ReceivedRequest& request) -> std::optional<Reply> {
          if (request.target.find("/tables") == std::string::npos) return std::nullopt;
          return Reply{.body = R"({"identifiers": [], "next-page-token": "x"})"};
        }});
  const Status status = Open().ListTables("a").status();
  EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
  EXPECT_THAT(status.message(),
              HasSubstr("GET /v1/namespaces/a/tables: the server's answer cannot be "
                        "used: next-page-token"));
}

TEST_F(RestCatalogTest, ATokenThatExpiresInTheMiddleIsRenewed) {
  Serve({.credential = "id:s3cret"});
  MakeFlights();
  RestCatalog& catalog = Open({{"credential", "id:s3cret"}});
  server_->ForgetTokens();
  EXPECT_TRUE(catalog.CommitTable(kFlights, {}, {SetProperties{{{"a", "1"}}}}).ok());
  EXPECT_EQ(backend_.LoadTable(kFlights).ValueOrDie().metadata.metadata_log.size(), 1U);
}

TEST_F(RestCatalogTest, OneTokenServesTheConfigurationAndAllCalls) {
  Serve({.credential = "id:s3cret"});
  MakeFlights();
  EXPECT_TRUE(Open({{"credential", "id:s3cret"}}).LoadTable(kFlights).ok());
  EXPECT_EQ(server_->tokens_given(), 1);
}

TEST_F(RestCatalogTest, AWrongCredentialIsSaidWithoutIt) {
  Serve({.credential = "id:right"});
  const Status status = TryOpen({{"credential", "id:wr+ng"}}).status();
  EXPECT_THAT(status.message(), HasSubstr("invalid_client"));
  EXPECT_THAT(status.message(), Not(HasSubstr("wr+ng")));
  EXPECT_THAT(status.message(), Not(HasSubstr("wr%2Bng")));
}

TEST_F(RestCatalogTest, AnAddressOfSomethingElseIsNotAnEmptyCatalog) {
  Serve({.prefix = "ws"}, {.before = [](const ReceivedRequest& request) {
          return request.target == "/v1/config"
                     ? std::optional(Reply{.body = R"({"status": "up"})"})
                     : std::nullopt;
        }});
  const Status status = Open().LoadTable(kFlights).status();
  EXPECT_FALSE(IsError(status, ErrorKind::kNotFound)) << status;
  EXPECT_THAT(status.message(), HasSubstr("look at its uri"));
}

TEST_F(RestCatalogTest, WhatTheServerVendsForATableIsHandedOn) {
  Serve({.table_fields = R"("storage-credentials": [{"prefix": "memory:///warehouse",
                            "config": {"s3.access-key-id": "vended"}}])"});
  MakeFlights();
  const StorageAccess access = Open({{"s3.access-key-id", "mine"}})
                                   .LoadAccess(kFlights, "memory:///warehouse/demo")
                                   .ValueOrDie();
  EXPECT_EQ(access.properties.at("s3.access-key-id"), "vended");
  EXPECT_EQ(access.expiry, std::nullopt);
}

TEST_F(RestCatalogTest, CredentialsAreRenewedWithoutTheTableWhereTheServerCan) {
  const std::string vended =
      R"("storage-credentials": [{"prefix": "s3://lake", "config": {"a": "vended"}}])";
  Serve({.table_fields = vended});
  MakeFlights();
  ASSERT_TRUE(Open().RenewAccess(kFlights, "s3://lake/t").ok());
  EXPECT_EQ(Targets().back(), "GET /v1/namespaces/demo/tables/flights");
  Serve({.credentials = "{" + vended + "}"});
  const StorageAccess renewed = Open().RenewAccess(kFlights, "s3://lake/t").ValueOrDie();
  EXPECT_EQ(renewed.properties.at("a"), "vended");
  EXPECT_EQ(Targets().back(), "GET /v1/namespaces/demo/tables/flights/credentials");
}

std::string Vended(int number, WallTime expiry) {
  return fmt::format(
      R"({{"storage-credentials": [{{"prefix": "s3://lake", "config": {{
         "s3.access-key-id": "key-{0}", "s3.secret-access-key": "secret",
         "s3.session-token": "token", "s3.session-token-expires-at-ms": "{1}"}}}}]}})",
      number,
      std::chrono::floor<std::chrono::milliseconds>(expiry).time_since_epoch().count());
}

TEST_F(RestCatalogTest, VendedCredentialsAreAskedForAgainBeforeTheyEnd) {
  int given = 0;
  Serve({.credentials = "{}"},
        {.after = [&](const ReceivedRequest& request, Reply reply) {
          if (!request.target.ends_with("/credentials")) return reply;
          reply.body = Vended(++given, runtime_.Now() + std::chrono::hours(1));
          return reply;
        }});
  MakeFlights();
  const auto provider = VendedAtFirst("key-0", std::chrono::minutes(30));
  EXPECT_EQ(provider->Get().ValueOrDie().access_key_id, "key-0");
  runtime_.Advance(std::chrono::minutes(29));
  EXPECT_EQ(provider->Get().ValueOrDie().access_key_id, "key-1");
  EXPECT_EQ(provider->Get().ValueOrDie().access_key_id, "key-1");
  runtime_.Advance(std::chrono::minutes(59));
  EXPECT_EQ(provider->Get().ValueOrDie().access_key_id, "key-2");
  EXPECT_EQ(provider->Get().ValueOrDie().session_token, "token");
}

TEST_F(RestCatalogTest, ACatalogThatVendsNothingMoreSaysSo) {
  Serve({});
  MakeFlights();
  const auto provider = VendedAtFirst("key-0", std::chrono::minutes(30));
  runtime_.Advance(std::chrono::minutes(31));
  EXPECT_THAT(provider->Get().status().message(), HasSubstr("the REST catalog"));
}

TEST_F(RestCatalogTest, KeysOfThePropertiesAreNotVended) {
  Serve({});
  MakeFlights();
  RestCatalog& catalog =
      Open({{"s3.access-key-id", "mine"}, {"s3.secret-access-key", "secret"}});
  const StorageAccess access =
      catalog.LoadAccess(kFlights, kFlightsFolder.location).ValueOrDie();
  EXPECT_EQ(VendedCredentials(catalog, kFlightsFolder, access, runtime_), nullptr);
}

/// Loses the answer to the first POST; `apply` says whether it was carried out.
RestTestServer::Faults LoseTheAnswer(bool apply) {
  const auto lose = [lost = std::make_shared<std::atomic<bool>>(false)](
                        const ReceivedRequest& request) {
    return request.method == "POST" && !lost->exchange(true);
  };
  RestTestServer::Faults faults;
  if (apply) {
    faults.after = [lose](const ReceivedRequest& request, const Reply& reply) {
      return lose(request) ? http::Drop() : reply;
    };
  } else {
    faults.before = [lose](const ReceivedRequest& request) {
      return lose(request) ? std::optional(http::Drop()) : std::nullopt;
    };
  }
  return faults;
}

TEST_F(RestCatalogTest, ATableWhoseMakingGotNoAnswerIsLookedUp) {
  Serve({}, LoseTheAnswer(/*apply=*/true));
  ASSERT_TRUE(backend_.CreateNamespace("demo").ok());
  const auto created = Open().CreateTable(kFlights, FlightsCreation());
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(*created, backend_.LoadTable(kFlights).ValueOrDie());
}

TEST_F(RestCatalogTest, ATableThatIsNotThereAfterItsMakingGotNoAnswerIsUnknown) {
  Serve({}, LoseTheAnswer(/*apply=*/false));
  ASSERT_TRUE(backend_.CreateNamespace("demo").ok());
  const Status status = Open().CreateTable(kFlights, FlightsCreation()).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kOutcomeUnknown)) << status;
  EXPECT_THAT(status.message(), HasSubstr("looked up"));
}

TEST_F(RestCatalogTest, ATableOfAnotherLayoutIsNotTheOneThatWasMade) {
  Serve({}, LoseTheAnswer(/*apply=*/false));
  MakeFlights();
  TableCreation other = FlightsCreation();
  other.schema.fields.pop_back();
  other.sort_order = {};
  other.partition_spec = {};
  const Status status = Open().CreateTable(kFlights, other).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kAlreadyExists)) << status;
}

TEST_F(RestCatalogTest, ABrokenAnswerToACommitLeavesItUnknown) {
  Serve({}, {.after = [](const ReceivedRequest& request, Reply reply) {
          if (request.method == "POST") reply.body = "{}";
          return reply;
        }});
  MakeFlights();
  const Status status =
      Open().CommitTable(kFlights, {}, {SetProperties{{{"a", "1"}}}}).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kOutcomeUnknown)) << status;
  EXPECT_THAT(status.message(), HasSubstr("POST /v1/namespaces/demo/tables/flights"));
  EXPECT_THAT(status.message(), HasSubstr("metadata-location: missing"));
}

TEST_F(RestCatalogTest, ACommitWithAKeyIsAppliedOnce) {
  int lost = 2;
  Serve({.idempotency_key_lifetime = "PT30M"},
        {.after = [&](const ReceivedRequest& request, const Reply& reply) {
          return request.method == "POST" && lost-- > 0 ? http::Drop() : reply;
        }});
  const LoadedTable created = MakeFlights();
  const auto committed =
      Open().CommitTable(kFlights, {AssertTableUuid{created.metadata.table_uuid}},
                         {SetProperties{{{"a", "1"}}}});
  EXPECT_TRUE(committed.ok()) << committed.status();
  EXPECT_EQ(backend_.LoadTable(kFlights).ValueOrDie().metadata.metadata_log.size(), 1U);
}

TEST_F(RestCatalogTest, FieldsOfAnAddedSpecGetIdsThatAreFree) {
  Serve({});
  MakeFlights();
  types::PartitionSpec spec;
  spec.fields = {
      {.source_id = 2, .name = "carrier"},
      {.source_id = 1, .name = "day", .transform = {.kind = types::TransformKind::kDay}}};
  const auto committed =
      Open().CommitTable(kFlights, {}, {AddSpec{spec}, SetDefaultSpec{}}).ValueOrDie();
  EXPECT_EQ(DefaultSpec(committed.metadata).fields[0].field_id, 1001);
  EXPECT_EQ(DefaultSpec(committed.metadata).fields[1].field_id, 1002);
  const std::string sent = server_->Requests().back().body;
  EXPECT_THAT(sent, HasSubstr(R"("last-assigned-partition-id":1001)"));
  EXPECT_THAT(sent, HasSubstr(R"("source-id":1,"field-id":1002)"));
}

TEST_F(RestCatalogTest, WhatIsNoTableIsNotSent) {
  Serve({});
  TableCreation creation = FlightsCreation();
  creation.schema.fields[1].name = "time_hour";
  EXPECT_THAT(Open().CreateTable(kFlights, creation).status().message(),
              HasSubstr("two columns are named 'time_hour'"));
  EXPECT_EQ(server_->Requests().size(), 1U);
}

TEST_F(RestCatalogTest, ParentsAreMadeWhereTheServerWantsThem) {
  const auto refuse_orphans =
      [this](const ReceivedRequest& request) -> std::optional<Reply> {
    const bool has_parent = request.body.find("[\"a\",\"b\"]") == std::string::npos ||
                            !backend_.ListNamespaces().ValueOrDie().empty();
    if (request.method != "POST" || has_parent) return std::nullopt;
    return Reply{.status = 404, .body = R"({"error": {"type": "NoSuchNamespaceException",
                             "message": "no a", "code": 404}})"};
  };
  Serve({}, {.before = refuse_orphans});
  RestCatalog& catalog = Open();
  EXPECT_TRUE(catalog.CreateNamespace("a.b").ok());
  EXPECT_THAT(backend_.ListNamespaces().ValueOrDie(), ElementsAre("a", "a.b"));
}

}  // namespace
}  // namespace firn::iceberg
