#include "firn/iceberg/catalog/rest/rest_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/catalog/rest/iso_duration.h"
#include "firn/iceberg/serde/metadata_json.h"
#include "firn/iceberg/testing/sample_table.h"

namespace firn::iceberg::rest {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

json SampleTable() {
  return {{"metadata-location", "s3://lake/t/metadata/1.json"},
          {"metadata", json::parse(MetadataToJson(FlightsMetadata()).ValueOrDie())},
          {"config", {{"s3.endpoint", "http://127.0.0.1:9000"}}},
          {"storage-credentials",
           {{{"prefix", "s3://lake"}, {"config", {{"s3.access-key-id", "key"}}}}}},
          {"a-later-version", "adds this"}};
}

TEST(RestMessagesTest, ServerConfig) {
  const ServerConfig config = ParseServerConfig(R"({
    "defaults": {"clients": "4"}, "overrides": {"prefix": "ws/1"},
    "endpoints": ["GET /v1/{prefix}/namespaces"],
    "idempotency-key-lifetime": "PT30M"})")
                                  .ValueOrDie();
  EXPECT_THAT(config.defaults, ElementsAre(Pair("clients", "4")));
  EXPECT_THAT(config.overrides, ElementsAre(Pair("prefix", "ws/1")));
  EXPECT_THAT(config.endpoints.value(), ElementsAre("GET /v1/{prefix}/namespaces"));
  EXPECT_EQ(config.idempotency_key_lifetime, std::chrono::minutes(30));
  EXPECT_EQ(ParseServerConfig("{}").ValueOrDie(), ServerConfig());
}

TEST(RestMessagesTest, Table) {
  const TableAnswer answer = ParseTable(SampleTable().dump()).ValueOrDie();
  EXPECT_EQ(answer.table.metadata, FlightsMetadata());
  EXPECT_EQ(answer.table.metadata_location, "s3://lake/t/metadata/1.json");
  EXPECT_THAT(answer.config, ElementsAre(Pair("s3.endpoint", "http://127.0.0.1:9000")));
  EXPECT_THAT(answer.credentials,
              ElementsAre(StorageCredential{"s3://lake", {{"s3.access-key-id", "key"}}}));
}

TEST(RestMessagesTest, SnapshotsThatAreKnownAreNotReadAgain) {
  json answer = SampleTable();
  answer["metadata"]["last-sequence-number"] = 1;
  answer["metadata"]["snapshots"] = {{{"snapshot-id", 1},
                                      {"sequence-number", 1},
                                      {"timestamp-ms", 5},
                                      {"manifest-list", "s3://lake/t/metadata/s.avro"},
                                      {"summary", {{"operation", "append"}}},
                                      {"a-later-version", "adds this"}}};
  const TableMetadata first = ParseTable(answer.dump()).ValueOrDie().table.metadata;
  answer["metadata"]["properties"]["changed"] = "yes";
  const TableMetadata second =
      ParseTable(answer.dump(), &first).ValueOrDie().table.metadata;
  EXPECT_EQ(second.properties.at("changed"), "yes");
  ASSERT_EQ(second.snapshots.size(), 1U);
  EXPECT_EQ(second.snapshots.At(0), first.snapshots.At(0));
}

TEST(RestMessagesTest, Lists) {
  EXPECT_EQ(ParseTables(R"({"next-page-token": "p2", "identifiers": [
              {"namespace": ["a", "b"], "name": "t"}]})")
                .ValueOrDie(),
            (Page<ListedTable>{{{{"a", "b"}, "t"}}, "p2"}));
  EXPECT_EQ(ParseNamespaces(R"({"next-page-token": null, "namespaces": [["a"], []]})")
                .ValueOrDie(),
            (Page<Levels>{{{"a"}, {}}, ""}));
}

TEST(RestMessagesTest, Tokens) {
  EXPECT_EQ(ParseOAuthToken(R"({"access_token": "t", "token_type": "bearer",
                                "expires_in": 3600})")
                .ValueOrDie(),
            (OAuthToken{"t", 3600}));
  EXPECT_EQ(ParseOAuthToken(R"({"access_token": "t", "token_type": "N_A"})").ValueOrDie(),
            (OAuthToken{"t", std::nullopt}));
}

TEST(RestMessagesTest, ErrorsOfBothKinds) {
  EXPECT_EQ(ParseServerError(R"({"error": {"message": "no such table", "code": 404,
                                 "type": "NoSuchTableException"}})"),
            (ServerError{"NoSuchTableException", "no such table"}));
  EXPECT_EQ(ParseServerError(R"({"error": "invalid_client",
                                 "error_description": "who?"})"),
            (ServerError{"invalid_client", "who?"}));
  for (const char* text : {"", "<html>", "[]", "{}", R"({"error": 1})",
                           R"({"error": {}})", R"({"message": "x"})"}) {
    EXPECT_EQ(ParseServerError(text), std::nullopt) << text;
  }
}

TEST(RestMessagesTest, Requests) {
  EXPECT_EQ(CreateNamespaceJson({"a", "b"}).ValueOrDie(),
            R"({"namespace":["a","b"],"properties":{}})");
  TableMetadata metadata = FlightsMetadata("");
  metadata.properties = {{"owner", "me"}};
  const json request = json::parse(CreateTableJson("t", metadata).ValueOrDie());
  EXPECT_EQ(request["name"], "t");
  EXPECT_FALSE(request.contains("location"));
  EXPECT_EQ(request["properties"], (json{{"owner", "me"}, {"format-version", "2"}}));
  EXPECT_EQ(request["schema"]["fields"][0]["name"], "time_hour");
  EXPECT_EQ(request["partition-spec"]["fields"][0]["field-id"], 1000);
  EXPECT_EQ(request["write-order"]["order-id"], 1);
  metadata.location = "s3://lake/t";
  EXPECT_EQ(json::parse(CreateTableJson("t", metadata).ValueOrDie())["location"],
            "s3://lake/t");
}

struct Broken {
  Status (*parse)(std::string_view);
  const char* text;
  const char* message;
};

constexpr auto kParseTable = [](std::string_view text) { return ParseTable(text); };

template <auto kParse>
Status StatusOf(std::string_view text) {
  return kParse(text).status();
}

class BrokenMessageTest : public testing::TestWithParam<Broken> {};

TEST_P(BrokenMessageTest, IsCorruptionThatNamesTheField) {
  const Status status = GetParam().parse(GetParam().text);
  EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    , BrokenMessageTest,
    testing::Values(
        Broken{StatusOf<ParseServerConfig>, "<html>", "not JSON"},
        Broken{StatusOf<ParseServerConfig>, "[]", "expected an object"},
        Broken{StatusOf<ParseServerConfig>, R"({"defaults": []})", "defaults: expected"},
        Broken{StatusOf<ParseServerConfig>, R"({"overrides": {"a": 1}})",
               "overrides: expected an object of strings"},
        Broken{StatusOf<ParseServerConfig>, R"({"endpoints": [1]})",
               "endpoints: expected an array of strings"},
        Broken{StatusOf<ParseServerConfig>, R"({"idempotency-key-lifetime": "1h"})",
               "idempotency-key-lifetime: '1h' is no ISO 8601 duration"},
        Broken{StatusOf<ParseTables>, "{}", "identifiers: missing"},
        Broken{StatusOf<ParseTables>, R"({"identifiers": [{"name": "t"}]})",
               "identifiers[0].namespace: missing"},
        Broken{StatusOf<ParseTables>, R"({"identifiers": [{"namespace": ["a"]}]})",
               "identifiers[0].name: missing"},
        Broken{StatusOf<ParseNamespaces>, R"({"namespaces": [["a"], ["b", 1]]})",
               "namespaces[1]: expected an array of strings"},
        Broken{StatusOf<ParseNamespaces>, R"({"namespaces": ["a"]})",
               "namespaces[0]: expected an array of strings"},
        Broken{StatusOf<ParseNamespaces>, R"({"namespaces": [], "next-page-token": 1})",
               "next-page-token: expected a string"},
        Broken{StatusOf<ParseCredentials>, "{}", "storage-credentials: missing"},
        Broken{StatusOf<ParseCredentials>, R"({"storage-credentials": [{"config": {}}]})",
               "storage-credentials[0].prefix: missing"},
        Broken{StatusOf<ParseOAuthToken>, R"({"token_type": "bearer"})",
               "access_token: missing"},
        Broken{StatusOf<ParseOAuthToken>,
               R"({"access_token": "t", "expires_in": "soon"})", "expires_in: expected"},
        Broken{StatusOf<kParseTable>, R"({"metadata": {}})",
               "metadata-location: missing"},
        Broken{StatusOf<kParseTable>, R"({"metadata-location": "x"})",
               "metadata: missing"},
        Broken{StatusOf<kParseTable>,
               R"({"metadata-location": "x", "metadata": {"format-version": "2"}})",
               "x: format-version: expected an integer"}));

TEST(RestMessagesTest, BrokenMetadataIsNamedByItsLocationAndPath) {
  json table = SampleTable();
  table["metadata"]["last-column-id"] = 2;
  EXPECT_THAT(ParseTable(table.dump()).status().message(),
              StartsWith("s3://lake/t/metadata/1.json: schemas[0].fields[2].id: 3 is "
                         "above last-column-id, 2; put the file back"));
  table["metadata"]["schemas"][0]["fields"][1].erase("name");
  EXPECT_THAT(
      ParseTable(table.dump()).status().message(),
      StartsWith("s3://lake/t/metadata/1.json: schemas[0].fields[1].name: missing; "
                 "put the file back"));
}

TEST(IsoDurationTest, WholeUnitsInOrder) {
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  EXPECT_EQ(ParseIsoDuration("PT30M"), minutes(30));
  EXPECT_EQ(ParseIsoDuration("P1DT2H3M4S"), hours(26) + minutes(3) + seconds(4));
  EXPECT_EQ(ParseIsoDuration("PT0S"), seconds(0));
  for (const char* text : {"", "P", "PT", "30M", "PT30", "P1M", "P1Y", "PT1S2M", "PT1.5S",
                           "PT-1S", "PT99999999999H", "P40000D", "PT1Mx"}) {
    EXPECT_EQ(ParseIsoDuration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace firn::iceberg::rest
