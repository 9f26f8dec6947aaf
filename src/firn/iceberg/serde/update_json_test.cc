#include "firn/iceberg/serde/update_json.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/testing/sample_table.h"

namespace firn::iceberg {
namespace {

constexpr const char* kGolden =
    FIRN_SOURCE_DIR "/src/firn/iceberg/testdata/commit_request.json";

Snapshot SampleSnapshot() {
  return {.snapshot_id = SnapshotId(3055729675574597004),
          .parent_snapshot_id = SnapshotId(3051729675574597004),
          .sequence_number = SnapshotSequence(2),
          .timestamp_ms = 1'700'000'000'000,
          .manifest_list = "memory:///flights/metadata/snap-1.avro",
          .summary = {{"operation", "append"}, {"added-data-files", "1"}},
          .schema_id = SchemaId(0),
          .first_row_id = 0,
          .added_rows = 42};
}

std::vector<TableUpdate> EveryUpdate() {
  const TableMetadata flights = FlightsMetadata();
  return {AssignUuid{flights.table_uuid},
          AddSchema{CurrentSchema(flights)},
          SetCurrentSchema{},
          AddSpec{DefaultSpec(flights)},
          SetDefaultSpec{},
          AddSortOrder{DefaultSortOrder(flights)},
          SetDefaultSortOrder{SortOrderId(1)},
          AddSnapshot{SampleSnapshot()},
          SetSnapshotRef{"main", {.snapshot_id = SampleSnapshot().snapshot_id}},
          SetSnapshotRef{"v1",
                         {.snapshot_id = SampleSnapshot().snapshot_id,
                          .type = RefType::kTag,
                          .max_ref_age_ms = 86'400'000}},
          SetProperties{{{"a", "1"}, {"b", "ü"}}},
          RemoveProperties{{"c", "d"}}};
}

std::vector<TableRequirement> EveryRequirement() {
  return {AssertCreate{},
          AssertTableUuid{FlightsMetadata().table_uuid},
          AssertRefSnapshotId{"main", SnapshotId(3051729675574597004)},
          AssertRefSnapshotId{"v1", std::nullopt},
          AssertLastAssignedFieldId{3},
          AssertCurrentSchemaId{SchemaId(0)},
          AssertLastAssignedPartitionId{1001},
          AssertDefaultSpecId{PartitionSpecId(0)},
          AssertDefaultSortOrderId{SortOrderId(1)}};
}

TEST(UpdateJsonTest, EveryRequirementAndUpdateIsAsTheSpecificationWritesIt) {
  const std::string text = CommitToJson(EveryRequirement(), EveryUpdate()).ValueOrDie();
  const std::string pretty = nlohmann::ordered_json::parse(text).dump(2) + "\n";
  if (std::getenv("FIRN_UPDATE_GOLDEN") != nullptr) std::ofstream(kGolden) << pretty;
  std::ifstream golden(kGolden);
  EXPECT_EQ(pretty, std::string(std::istreambuf_iterator<char>(golden), {}));
}

TEST(UpdateJsonTest, NothingIsTwoEmptyLists) {
  EXPECT_EQ(CommitToJson({}, {}).ValueOrDie(), R"({"requirements":[],"updates":[]})");
}

TEST(UpdateJsonTest, RefusesToWriteWhatIsNotUtf8) {
  EXPECT_FALSE(CommitToJson({}, {SetProperties{{{"a", "\xff"}}}}).ok());
}

}  // namespace
}  // namespace firn::iceberg
