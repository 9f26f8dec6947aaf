#include "firn/iceberg/serde/metadata_json.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/serde/schema_json.h"
#include "firn/iceberg/testing/sample_table.h"

namespace firn::iceberg {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Has a field "x" that no version of the specification has at every place that has
/// fields.
json Valid() {
  std::ifstream file(FIRN_SOURCE_DIR
                     "/src/firn/iceberg/testdata/unknown_fields.metadata.json");
  return json::parse(file);
}

TableMetadata Parse(const json& document) {
  return ParseTableMetadata(document.dump()).ValueOrDie();
}

TEST(MetadataJsonTest, KeepsUnknownFieldsAtEveryLevel) {
  const std::string written = MetadataToJson(Parse(Valid())).ValueOrDie();
  json expected = Valid();
  // Null and absent mean the same, but what is unknown stays as it was.
  EXPECT_EQ(json::parse(written), expected) << written;
}

TEST(MetadataJsonTest, ReadsWhatItNames) {
  const TableMetadata metadata = Parse(Valid());
  EXPECT_EQ(metadata.last_sequence_number, SnapshotSequence(34));
  EXPECT_EQ(CurrentSchema(metadata).fields[1].type.fields()[0].type,
            types::Type::Decimal(9, 2));
  EXPECT_EQ(DefaultSpec(metadata).fields[1].transform.parameter, 16);
  EXPECT_EQ(DefaultSortOrder(metadata).fields[0].direction,
            order::Direction::kDescending);
  EXPECT_EQ(CurrentSnapshot(metadata)->summary.at("new-entry"), "kept");
  EXPECT_EQ(metadata.refs.at("v1").type, RefType::kTag);
  EXPECT_EQ(metadata.refs.at("main").min_snapshots_to_keep, 2);
}

TEST(MetadataJsonTest, NewTableComesBackEqual) {
  const TableMetadata metadata = FlightsMetadata();
  const std::string text = MetadataToJson(metadata).ValueOrDie();
  EXPECT_EQ(ParseTableMetadata(text).ValueOrDie(), metadata) << text;
}

TEST(MetadataJsonTest, ReadsVersion1WithOldFieldsOnly) {
  const TableMetadata metadata = ParseTableMetadata(R"({
        "format-version": 1, "location": "s3://b/t/", "last-updated-ms": 5,
        "last-column-id": 1, "current-snapshot-id": -1,
        "schema": {"type": "struct", "fields": [
          {"id": 1, "name": "d", "required": false, "type": "date"}]},
        "partition-spec": [{"name": "d", "transform": "identity", "source-id": 1}]})")
                                     .ValueOrDie();
  EXPECT_EQ(metadata.location, "s3://b/t");
  EXPECT_EQ(CurrentSchema(metadata).fields.size(), 1U);
  EXPECT_EQ(DefaultSpec(metadata).fields[0].field_id, 1000);
  EXPECT_EQ(metadata.last_partition_id, 1000);
  EXPECT_TRUE(DefaultSortOrder(metadata).fields.empty());
  EXPECT_EQ(CurrentSnapshot(metadata), nullptr);
}

TEST(MetadataJsonTest, DefaultIdsBesideOldFieldsAreNoUnknownFields) {
  const TableMetadata metadata = ParseTableMetadata(R"({
        "format-version": 1, "location": "s3://b/t", "last-updated-ms": 5,
        "last-column-id": 1, "current-schema-id": 0, "default-spec-id": 0,
        "default-sort-order-id": 0,
        "schema": {"type": "struct", "fields": [
          {"id": 1, "name": "d", "required": false, "type": "date"}]},
        "partition-spec": [{"name": "d", "transform": "identity", "source-id": 1}]})")
                                     .ValueOrDie();
  const std::string text = MetadataToJson(metadata).ValueOrDie();
  EXPECT_EQ(MetadataToJson(ParseTableMetadata(text).ValueOrDie()).ValueOrDie(), text);
}

TEST(MetadataJsonTest, MainIsAddedWhereRefsAreMissing) {
  json document = Valid();
  document.erase("refs");
  EXPECT_EQ(Parse(document).refs.at("main").snapshot_id, SnapshotId(3055729675574597004));
}

TEST(MetadataJsonTest, Version3KnowsItsNextRowId) {
  json document = Valid();
  document["format-version"] = 3;
  document["next-row-id"] = 42;
  document["snapshots"][1]["first-row-id"] = 40;
  document["snapshots"][1]["added-rows"] = 2;
  const TableMetadata metadata = Parse(document);
  EXPECT_EQ(metadata.next_row_id, 42);
  EXPECT_EQ(metadata.snapshots[1].first_row_id, 40);
  EXPECT_EQ(metadata.snapshots[1].added_rows, 2);
  EXPECT_EQ(metadata.snapshots[0].first_row_id, std::nullopt);
  EXPECT_EQ(Parse(json::parse(MetadataToJson(metadata).ValueOrDie())), metadata);
  for (const json& wrong : {json(nullptr), json(-1), json("42")}) {
    document["next-row-id"] = wrong;
    const Status status = ParseTableMetadata(document.dump()).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption));
    EXPECT_THAT(status.message(), HasSubstr("next-row-id"));
  }
}

/// A snapshot of Valid(), which is written anew: format version 1 had no numbers.
constexpr std::size_t kWithoutSequence = 1;

/// Valid() with so many snapshots more, each the next one's parent, and a log of them.
json Aged(std::int64_t snapshots) {
  json document = Valid();
  for (std::int64_t id = 1; id <= snapshots; ++id) {
    json snapshot = document["snapshots"][1];
    snapshot["snapshot-id"] = id;
    document["snapshots"].push_back(snapshot);
    document["snapshot-log"].push_back({{"timestamp-ms", id}, {"snapshot-id", id}});
  }
  return document;
}

/// How many of the snapshots and log entries of `metadata` are those of `known`.
std::size_t CountShared(const TableMetadata& metadata, const TableMetadata& known) {
  std::size_t shared = 0;
  const auto count = [&](const auto& list, const auto& known_list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t k = 0; k < known_list.size(); ++k) {
        if (&list[i] == &known_list[k]) ++shared;
      }
    }
  };
  count(metadata.snapshots, known.snapshots);
  count(metadata.snapshot_log, known.snapshot_log);
  return shared;
}

TEST(MetadataJsonTest, TakesWhatItKnowsFromAnOlderVersion) {
  const TableMetadata known = Parse(Aged(100));
  const std::string next = Aged(102).dump();
  const TableMetadata metadata = ParseTableMetadata(next, &known).ValueOrDie();
  EXPECT_EQ(metadata, ParseTableMetadata(next).ValueOrDie());
  EXPECT_EQ(CountShared(metadata, known),
            known.snapshots.size() + known.snapshot_log.size() - kWithoutSequence);
}

TEST(MetadataJsonTest, TakesWhatItKnowsWhereSnapshotsWereExpired) {
  const TableMetadata known = Parse(Aged(100));
  json document = Aged(101);
  const auto first = document["snapshots"].begin();
  document["snapshots"].erase(first + 10, first + 60);
  const TableMetadata metadata = ParseTableMetadata(document.dump(), &known).ValueOrDie();
  EXPECT_EQ(metadata, Parse(document));
  EXPECT_EQ(CountShared(metadata, known),
            known.snapshots.size() - 50 + known.snapshot_log.size() - kWithoutSequence);
}

TEST(MetadataJsonTest, ReadsAnewWhatWasWrittenAnew) {
  const TableMetadata known = Parse(Aged(100));
  json document = Aged(100);
  for (json& snapshot : document["snapshots"]) snapshot["summary"]["operation"] = "x";
  const TableMetadata metadata = ParseTableMetadata(document.dump(), &known).ValueOrDie();
  EXPECT_EQ(metadata, Parse(document));
  EXPECT_EQ(CountShared(metadata, known), known.snapshot_log.size());
}

TEST(MetadataJsonTest, WritesSnapshotsWordForWordAsTheyWereRead) {
  const std::string snapshot =
      R"({ "timestamp-ms" : 5, "snapshot-id":7, "sequence-number":3, "new":[1.50],
           "manifest-list":"7.avro" })";
  json document = Valid();
  document["snapshots"].push_back("here");
  std::string text = document.dump();
  text.replace(text.find(R"("here")"), 6, snapshot);
  const TableMetadata metadata = ParseTableMetadata(text).ValueOrDie();
  EXPECT_EQ(metadata.snapshots.back().snapshot_id, SnapshotId(7));
  EXPECT_THAT(MetadataToJson(metadata).ValueOrDie(), HasSubstr(snapshot));
}

struct Broken {
  const char* pointer;
  json value;
  const char* message;
};

class BrokenMetadataTest : public testing::TestWithParam<Broken> {};

TEST_P(BrokenMetadataTest, IsCorruptionThatNamesTheField) {
  json document = Valid();
  document[json::json_pointer(GetParam().pointer)] = GetParam().value;
  const Status status = ParseTableMetadata(document.dump()).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
  EXPECT_THAT(status.message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    , BrokenMetadataTest,
    testing::Values(
        Broken{"/format-version", "2", "format-version: expected an integer"},
        Broken{"/location", nullptr, "location: null, where a value must be"},
        Broken{"/last-column-id", 1LL << 40, "last-column-id: expected an integer"},
        Broken{"/last-updated-ms", 18446744073709551615ULL, "last-updated-ms: expected"},
        Broken{"/schemas", 1, "schemas: expected an array"},
        Broken{"/schemas/1/fields/0/id", 1.5, "schemas[1].fields[0].id: expected"},
        Broken{"/schemas/1/fields/1/type/fields/0/name", 1,
               "schemas[1].fields[1].type.fields[0].name: expected a string"},
        Broken{"/schemas/1/fields/2/type/element-required", 1,
               "schemas[1].fields[2].type.element-required: expected true or false"},
        Broken{"/sort-orders/0/fields/0/direction", "up", "'up' is not asc or desc"},
        Broken{"/sort-orders/0/fields/0/null-order", "x", "nulls-first or nulls-last"},
        Broken{"/refs/main/type", "twig", "refs.main.type: 'twig' is not branch or tag"},
        Broken{"/refs", 1, "refs: expected an object"},
        Broken{"/properties/a", 1, "properties: expected an object of strings"},
        Broken{"/snapshots/1", "x", "snapshots[1]: expected an object"},
        Broken{"/snapshots/1/timestamp-ms", nullptr,
               "snapshots[1].timestamp-ms: null, where a value must be"},
        Broken{"/metadata-log/0/metadata-file", 1, "metadata-log[0].metadata-file"}));

TEST(MetadataJsonTest, RefusesWhatItDoesNotKnow) {
  const auto text_of = [](const char* pointer, const json& value) {
    json document = Valid();
    document[json::json_pointer(pointer)] = value;
    return ParseTableMetadata(document.dump()).status();
  };
  const Status version = text_of("/format-version", 4);
  EXPECT_THAT(version.message(), HasSubstr("format-version: 4 is not supported"));
  EXPECT_FALSE(IsError(version, ErrorKind::kCorruption));
  EXPECT_THAT(text_of("/schemas/1/fields/0/type", "variant").message(),
              HasSubstr("schemas[1].fields[0].type"));
  EXPECT_THAT(text_of("/partition-specs/0/fields/0/transform", "zorder").message(),
              HasSubstr("partition-specs[0].fields[0].transform"));
}

TEST(MetadataJsonTest, RefusesWhatIsNotJson) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"),
        std::string("{\"a\": \"\xff\"}"), std::string(100'000, '[')}) {
    EXPECT_TRUE(IsError(ParseTableMetadata(text).status(), ErrorKind::kCorruption));
  }
}

TEST(MetadataJsonTest, RefusesToWriteWhatIsNotUtf8) {
  TableMetadata metadata = FlightsMetadata();
  metadata.properties["a"] = "\xff";
  EXPECT_FALSE(MetadataToJson(metadata).ok());
}

TEST(SchemaJsonTest, ComesBackEqual) {
  const types::Schema schema = Parse(Valid()).schemas.at(1);
  const std::string text = SchemaToJson(schema).ValueOrDie();
  EXPECT_EQ(ParseSchemaJson(text).ValueOrDie(), schema);
}

TEST(SchemaJsonTest, NamesTheFieldThatIsWrong) {
  const Status status =
      ParseSchemaJson(R"({"type": "struct", "fields": [{"id": 1, "name": "a"}]})")
          .status();
  EXPECT_THAT(status.message(), HasSubstr("fields[0].required: missing"));
}

}  // namespace
}  // namespace firn::iceberg
