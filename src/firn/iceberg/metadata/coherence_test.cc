// Metadata that contradicts itself is refused once it is read; what real tables have, and
// only looks like it, is not.

#include "firn/iceberg/metadata/coherence.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/serde/metadata_json.h"
#include "firn/iceberg/testing/sample_table.h"

namespace firn::iceberg {
namespace {

using nlohmann::json;
using testing::StartsWith;

/// A table of format version 3 that was upgraded from 1 over 2: of its snapshots 1 has no
/// sequence number and 1 and 2 have no row ids; 3 is main, 4 is staged.
json Table() {
  std::ifstream file(FIRN_SOURCE_DIR
                     "/src/firn/iceberg/testdata/upgraded_v3.metadata.json");
  return json::parse(file);
}

/// Table() after a patch (RFC 6902).
Status StatusOf(std::string_view patch) {
  const json changed = Table().patch(json::parse(patch));
  return ParseTableMetadata(changed.dump()).status();
}

std::string Replace(std::string_view path, std::string_view value) {
  return fmt::format(R"({{"op": "replace", "path": "{}", "value": {}}})", path, value);
}

struct OneField {
  const char* pointer;
  const char* value;
  const char* message;
};

class IncoherentTest : public testing::TestWithParam<OneField> {};

TEST_P(IncoherentTest, IsCorruptionThatNamesTheFieldAndItsValue) {
  const auto& [pointer, value, message] = GetParam();
  const Status status = StatusOf("[" + Replace(pointer, value) + "]");
  EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
  EXPECT_THAT(ErrorText(status), StartsWith(message));
}

INSTANTIATE_TEST_SUITE_P(
    TableUuid, IncoherentTest,
    testing::Values(OneField{"/table-uuid", R"("")", "table-uuid: '' is no UUID"},
                    OneField{"/table-uuid", R"("../../other")", "table-uuid: '../../"},
                    OneField{"/table-uuid", R"("9c12d441003fe-4693-9a96-a0705ddf69c1")",
                             "table-uuid: '9c12d441003fe"},
                    OneField{"/table-uuid", R"("9c12d441-03fe-4693-9a96-a0705ddf69c10")",
                             "table-uuid: "}));

INSTANTIATE_TEST_SUITE_P(
    Snapshots, IncoherentTest,
    testing::Values(
        OneField{"/last-sequence-number", "2",
                 "snapshots[3].sequence-number: 3 is above last-sequence-number, 2"},
        OneField{"/last-sequence-number", "-2", "last-sequence-number: -2 leaves"},
        OneField{"/last-sequence-number", "9223372036854775807", "last-sequence-number"},
        OneField{"/snapshots/1/sequence-number", "null",
                 "snapshots[1].sequence-number: null, where a value must be"},
        OneField{"/snapshots/1/snapshot-id", "3",
                 "snapshots[2].snapshot-id: snapshots[1] has the id 3, too"},
        OneField{"/snapshots/1/manifest-list", "null",
                 "snapshots[1].manifest-list: null, where"},
        OneField{"/snapshots/1/manifest-list", R"("")",
                 "snapshots[1].manifest-list: '' names no file"},
        OneField{"/snapshots", "null", "snapshots: null, where a value must be"},
        OneField{"/snapshots/0/parent-snapshot-id", "1",
                 "snapshots[0].parent-snapshot-id: 1 descends from this snapshot"},
        OneField{"/snapshots/0/parent-snapshot-id", "4",
                 "snapshots[1].parent-snapshot-id: 1 descends from this snapshot"}));

INSTANTIATE_TEST_SUITE_P(
    RowIds, IncoherentTest,
    testing::Values(
        OneField{"/next-row-id", "69",
                 "snapshots[3].first-row-id: 50, with added-rows 20, is beyond "
                 "next-row-id, 69"},
        OneField{"/next-row-id", "49", "snapshots[2].first-row-id: 0, with"},
        OneField{"/next-row-id", "null", "next-row-id: null, where a value must be"},
        OneField{"/next-row-id", "-1", "next-row-id: -1 is negative"},
        OneField{"/snapshots/3/first-row-id", "-50", "snapshots[3].first-row-id: -50 is"},
        OneField{"/snapshots/3/first-row-id", "9223372036854775807",
                 "snapshots[3].first-row-id: 9223372036854775807, with"},
        OneField{"/snapshots/3/added-rows", "9223372036854775807",
                 "snapshots[3].first-row-id: 50, with added-rows 9223372036854775807"},
        OneField{"/snapshots/3/added-rows", "-20", "snapshots[3].added-rows: -20 is"},
        OneField{"/snapshots/3/added-rows", "null", "snapshots[3].added-rows: missing"}));

INSTANTIATE_TEST_SUITE_P(
    Refs, IncoherentTest,
    testing::Values(
        OneField{"/refs/old/snapshot-id", "-1",
                 "refs.old.snapshot-id: nothing here has the id -1"},
        OneField{"/refs/side/snapshot-id", "7", "refs.side.snapshot-id: nothing here"},
        OneField{"/refs/main/type", R"("tag")",
                 "refs.main.type: must be branch, not tag"},
        OneField{"/refs/main/snapshot-id", "2",
                 "current-snapshot-id: 3 differs from refs.main, which is at 2"},
        OneField{"/current-snapshot-id", "7", "current-snapshot-id: nothing here has"},
        OneField{"/current-snapshot-id", "-1",
                 "current-snapshot-id: missing, but refs.main is at 3"}));

constexpr const char* kNestedId = "/schemas/1/fields/1/type/value/element/fields/0/id";

INSTANTIATE_TEST_SUITE_P(
    Schemas, IncoherentTest,
    testing::Values(
        OneField{"/current-schema-id", "7", "current-schema-id: nothing here has the id"},
        OneField{"/schemas/0/schema-id", "1",
                 "schemas[1].schema-id: schemas[0] has the id 1, too"},
        OneField{"/schemas/1/fields/1/id", "1",
                 "schemas[1].fields[1].id: another field has the id 1"},
        OneField{kNestedId, "1",
                 "schemas[1].fields[1].type.value.element.fields[0].id: another field"},
        OneField{"/schemas/1/fields/1/type/key-id", "1",
                 "schemas[1].fields[1].type.key-id: another field has the id 1"},
        OneField{
            "/schemas/1/fields/1/type/value/element-id", "3",
            "schemas[1].fields[1].type.value.element-id: another field has the id 3"},
        OneField{"/schemas/1/fields/1/name", R"("id")",
                 "schemas[1].fields[1].name: another field here has the name 'id'"},
        OneField{"/schemas/1/fields/1/id", "-1",
                 "schemas[1].fields[1].id: -1 is negative"},
        OneField{"/last-column-id", "5",
                 "schemas[1].fields[1].type.value.element.fields[0].id: 6 is above "
                 "last-column-id, 5"}));

INSTANTIATE_TEST_SUITE_P(
    Specs, IncoherentTest,
    testing::Values(
        OneField{"/default-spec-id", "7", "default-spec-id: nothing here has the id 7"},
        OneField{"/partition-specs/1/spec-id", "0",
                 "partition-specs[1].spec-id: partition-specs[0] has the id 0, too"},
        OneField{"/partition-specs/0/fields/1/field-id", "1000",
                 "partition-specs[0].fields[1].field-id: another field has the id 1000"},
        OneField{"/partition-specs/0/fields/1/field-id", "null",
                 "partition-specs[0].fields[1].field-id: null, where a value must be"},
        OneField{"/partition-specs/0/fields/1/name", R"("id")",
                 "partition-specs[0].fields[1].name: another field here has the name"},
        OneField{"/partition-specs/0/fields/1/field-id", "-1",
                 "partition-specs[0].fields[1].field-id: -1 is negative"},
        OneField{"/partition-specs/0/fields/1/source-id", "7",
                 "partition-specs[0].fields[1].source-id: 7 is no column"},
        OneField{"/last-partition-id", "1000",
                 "partition-specs[0].fields[1].field-id: 1001 is above "
                 "last-partition-id, 1000"}));

INSTANTIATE_TEST_SUITE_P(
    SortOrders, IncoherentTest,
    testing::Values(
        OneField{"/default-sort-order-id", "7", "default-sort-order-id: nothing here"},
        OneField{"/sort-orders", R"([{"order-id": 0, "fields": []},
                                     {"order-id": 0, "fields": []}])",
                 "sort-orders[1].order-id: sort-orders[0] has the id 0, too"},
        OneField{"/sort-orders/0/fields", R"([{"transform": "identity", "source-id": 7,
                     "direction": "asc", "null-order": "nulls-first"}])",
                 "sort-orders[0].fields[0].source-id: 7 is no column"},
        OneField{"/sort-orders/0/fields", "null",
                 "sort-orders[0].fields: null, where a value must be"}));

struct Legal {
  const char* name;
  /// The patch's steps.
  std::string steps;
};

std::string NameOf(const testing::TestParamInfo<Legal>& info) { return info.param.name; }

class CoherentTest : public testing::TestWithParam<Legal> {};

TEST_P(CoherentTest, Reads) {
  const Status status = StatusOf("[" + GetParam().steps + "]");
  EXPECT_TRUE(status.ok()) << status;
}

INSTANTIATE_TEST_SUITE_P(
    , CoherentTest,
    testing::Values(
        Legal{"AsItIs", ""},
        Legal{"ParentMinusOne", Replace("/snapshots/0/parent-snapshot-id", "-1")},
        Legal{"CapitalsInTheUuid",
              Replace("/table-uuid", R"("9C12D441-03FE-4693-9A96-A0705DDF69C1")")},
        Legal{"NamesThatDifferInCase", Replace("/schemas/1/fields/1/name", R"("ID")")},
        Legal{"NoRefs", R"({"op": "remove", "path": "/refs"})"},
        Legal{"RefsThatAreNull", Replace("/refs", "null")},
        Legal{"BranchesWithoutMain", Replace("/current-snapshot-id", "-1") +
                                         R"(, {"op": "remove", "path": "/refs/main"})"},
        Legal{"NoTableYet", Replace("/current-snapshot-id", "-1") + "," +
                                Replace("/refs", "{}") + "," +
                                Replace("/snapshots", "[]")},
        Legal{"IdsThatAreMissingFromASpec",
              R"({"op": "remove", "path": "/partition-specs/0/fields/0/field-id"},
                 {"op": "remove", "path": "/partition-specs/0/fields/1/field-id"})"},
        Legal{"ADroppedColumnInAVoidField",
              Replace("/partition-specs/0/fields/1/transform", R"("void")") + "," +
                  Replace("/partition-specs/0/fields/1/source-id", "7")},
        Legal{"ADroppedColumnInAnOldSpecAndOrder",
              Replace("/partition-specs/1/fields",
                      R"([{"name": "tag", "transform": "identity", "source-id": 7,
                           "field-id": 1000}])") +
                  R"(, {"op": "add", "path": "/sort-orders/1", "value": {"order-id": 1,
                        "fields": [{"transform": "identity", "source-id": 7,
                          "direction": "asc", "null-order": "nulls-first"}]}})"},
        Legal{"AnIdThatMeansSomethingElseInAnotherSpec",
              Replace("/partition-specs/1/fields",
                      R"([{"name": "tag", "transform": "void", "source-id": 2,
                           "field-id": 1000}])")},
        Legal{"OldVersionWithLastIdsThatNobodyCounts",
              Replace("/format-version", "1") + "," + Replace("/last-column-id", "1") +
                  "," + Replace("/last-partition-id", "999") +
                  R"(, {"op": "remove", "path": "/table-uuid"},
                     {"op": "remove", "path": "/last-sequence-number"})"},
        Legal{"ManifestsInPlaceOfAList",
              R"({"op": "remove", "path": "/snapshots/0/manifest-list"},
                 {"op": "add", "path": "/snapshots/0/manifests", "value": []})"},
        Legal{"RowIdsBeforeVersion3",
              Replace("/format-version", "2") + "," + Replace("/next-row-id", "0")}),
    NameOf);

TEST(CoherenceTest, SomeIdsMissingFromASpecAreRefused) {
  const Status status =
      StatusOf(R"([{"op": "remove", "path": "/partition-specs/0/fields/0/field-id"}])");
  EXPECT_THAT(ErrorText(status),
              StartsWith("partition-specs[0].fields[0].field-id: missing"));
}

TEST(CoherenceTest, LongHistoriesAreFollowedToTheirEndOnce) {
  TableMetadata metadata = FlightsMetadata();
  constexpr std::int64_t kSnapshots = 200'000;
  for (std::int64_t id = kSnapshots; id > 0; --id) {
    metadata.snapshots.push_back(
        {.snapshot_id = SnapshotId(id), .parent_snapshot_id = SnapshotId(id - 1)});
  }
  EXPECT_TRUE(CheckCoherence(metadata).ok());
  metadata.snapshots.push_back(
      {.snapshot_id = SnapshotId(0), .parent_snapshot_id = SnapshotId(kSnapshots)});
  EXPECT_THAT(ErrorText(CheckCoherence(metadata)),
              StartsWith("snapshots[200000].parent-snapshot-id: 200000 descends"));
}

}  // namespace
}  // namespace firn::iceberg
