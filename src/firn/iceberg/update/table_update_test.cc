#include "firn/iceberg/update/table_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/testing/sample_table.h"
#include "firn/iceberg/update/new_table.h"
#include "firn/iceberg/update/requirement.h"

namespace firn::iceberg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using types::Type;
using types::TypeKind;

constexpr const char* kBaseLocation = "memory:///flights/metadata/00000-x.metadata.json";

WallTime At(std::int64_t ms) { return WallTime(std::chrono::milliseconds(ms)); }

class TableUpdateTest : public testing::Test {
 protected:
  TableUpdateTest() { metadata_.last_updated_ms = 1'000; }

  Status Apply(const std::vector<TableUpdate>& updates, std::int64_t now_ms = 2'000) {
    auto applied = iceberg::Apply(metadata_, kBaseLocation, updates, At(now_ms));
    if (applied.ok()) metadata_ = *applied;
    return applied.status();
  }

  Snapshot NextSnapshot(std::int64_t id, std::int64_t timestamp_ms = 2'000) const {
    return {
        .snapshot_id = SnapshotId(id),
        .parent_snapshot_id = metadata_.current_snapshot_id,
        .sequence_number = SnapshotSequence(metadata_.last_sequence_number.value() + 1),
        .timestamp_ms = timestamp_ms,
        .manifest_list = "list"};
  }

  static SetSnapshotRef MainTo(std::int64_t id) {
    return {.ref_name = "main", .ref = {.snapshot_id = SnapshotId(id)}};
  }

  Status Commit(std::int64_t id, std::int64_t timestamp_ms, std::int64_t now_ms) {
    return Apply({AddSnapshot{NextSnapshot(id, timestamp_ms)}, MainTo(id)}, now_ms);
  }

  TableMetadata metadata_ = FlightsMetadata();
};

TEST_F(TableUpdateTest, PropertiesAreSetAndRemoved) {
  ASSERT_TRUE(Apply({SetProperties{{{"a", "1"}, {"b", "2"}}}}).ok());
  ASSERT_TRUE(Apply({SetProperties{{{"b", "3"}}}, RemoveProperties{{"a", "none"}}}).ok());
  EXPECT_THAT(metadata_.properties, ElementsAre(std::pair("b", "3")));
}

TEST_F(TableUpdateTest, SnapshotMovesMainAndItsLog) {
  ASSERT_TRUE(Commit(11, 1'500, 2'000).ok());
  EXPECT_EQ(metadata_.current_snapshot_id, SnapshotId(11));
  EXPECT_EQ(metadata_.refs.at("main").snapshot_id, SnapshotId(11));
  EXPECT_EQ(metadata_.last_sequence_number, SnapshotSequence(1));
  EXPECT_EQ(metadata_.last_updated_ms, 1'500);
  EXPECT_THAT(metadata_.snapshot_log,
              ElementsAre(SnapshotLogEntry{1'500, SnapshotId(11), {}}));
}

TEST_F(TableUpdateTest, TimeNeverGoesBack) {
  ASSERT_TRUE(Apply({SetProperties{{{"a", "1"}}}}, 500).ok());
  EXPECT_EQ(metadata_.last_updated_ms, 1'000);
  ASSERT_TRUE(Commit(11, 900, 500).ok());
  EXPECT_EQ(metadata_.last_updated_ms, 1'000);
  EXPECT_THAT(Commit(12, 899, 2'000).message(), HasSubstr("before the parent's"));
}

TEST_F(TableUpdateTest, OldSequenceNumberIsAConflict) {
  Snapshot late = NextSnapshot(12);
  ASSERT_TRUE(Commit(11, 2'000, 2'000).ok());
  EXPECT_TRUE(IsError(Apply({AddSnapshot{late}}), ErrorKind::kConflict));
}

TEST_F(TableUpdateTest, AddedSnapshotThatWasReplacedAtOnceIsNotInTheLog) {
  Snapshot second = NextSnapshot(12);
  second.sequence_number = SnapshotSequence(2);
  ASSERT_TRUE(
      Apply({AddSnapshot{NextSnapshot(11)}, MainTo(11), AddSnapshot{second}, MainTo(12)})
          .ok());
  EXPECT_THAT(metadata_.snapshot_log,
              ElementsAre(SnapshotLogEntry{2'000, SnapshotId(12), {}}));
}

TEST_F(TableUpdateTest, RollbackIsLoggedAtTheTimeOfTheUpdate) {
  ASSERT_TRUE(Commit(11, 2'000, 2'000).ok());
  ASSERT_TRUE(Commit(12, 3'000, 3'000).ok());
  ASSERT_TRUE(Apply({MainTo(11)}, 4'000).ok());
  EXPECT_EQ(metadata_.snapshot_log.back(), (SnapshotLogEntry{4'000, SnapshotId(11), {}}));
  EXPECT_EQ(metadata_.last_updated_ms, 4'000);
}

TEST_F(TableUpdateTest, TagDoesNotMoveMain) {
  ASSERT_TRUE(Commit(11, 2'000, 2'000).ok());
  ASSERT_TRUE(Commit(12, 3'000, 3'000).ok());
  const SnapshotRef tag{.snapshot_id = SnapshotId(11), .type = RefType::kTag};
  ASSERT_TRUE(Apply({SetSnapshotRef{"v1", tag}}).ok());
  EXPECT_EQ(metadata_.current_snapshot_id, SnapshotId(12));
  EXPECT_EQ(metadata_.refs.at("v1"), tag);
  EXPECT_FALSE(Apply({SetSnapshotRef{"main", tag}}).ok());
}

TEST_F(TableUpdateTest, MetadataLogIsTrimmed) {
  metadata_.properties["write.metadata.previous-versions-max"] = "3";
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(Apply({SetProperties{{{"i", fmt::format("{}", i)}}}}, 1'000 + i).ok());
  }
  ASSERT_EQ(metadata_.metadata_log.size(), 3U);
  EXPECT_EQ(metadata_.metadata_log.front().timestamp_ms, 1'002);
  EXPECT_EQ(metadata_.metadata_log.back(), (MetadataLogEntry{1'004, kBaseLocation, {}}));
}

TEST_F(TableUpdateTest, MetadataLogHasAHundredEntriesByDefault) {
  for (int i = 0; i < 103; ++i) ASSERT_TRUE(Apply({}).ok());
  EXPECT_EQ(metadata_.metadata_log.size(), 100U);
}

TEST_F(TableUpdateTest, SchemaGetsTheNextIdOrThatOfAnEqualOne) {
  types::Schema wider = CurrentSchema(metadata_);
  wider.fields.push_back({.id = 4, .name = "origin", .type = Type(TypeKind::kString)});
  ASSERT_TRUE(Apply({AddSchema{wider}, SetCurrentSchema{}}).ok());
  EXPECT_EQ(metadata_.current_schema_id, SchemaId(1));
  EXPECT_EQ(metadata_.last_column_id, 4);
  types::Schema first = metadata_.schemas[0];
  first.id = SchemaId(9);
  ASSERT_TRUE(Apply({AddSchema{first}, SetCurrentSchema{}}).ok());
  EXPECT_EQ(metadata_.current_schema_id, SchemaId(0));
  EXPECT_EQ(metadata_.schemas.size(), 2U);
}

TEST_F(TableUpdateTest, EqualPartitionFieldsKeepTheirId) {
  const types::PartitionSpec spec{
      .fields = {{.source_id = 2,
                  .name = "carrier_bucket",
                  .transform = {types::TransformKind::kBucket, 4}},
                 {.source_id = 2, .name = "carrier"}}};
  ASSERT_TRUE(Apply({AddSpec{spec}, SetDefaultSpec{}}).ok());
  const types::PartitionSpec& added = DefaultSpec(metadata_);
  EXPECT_EQ(added.id, PartitionSpecId(1));
  EXPECT_EQ(added.fields[0].field_id, 1002);
  EXPECT_EQ(added.fields[1].field_id, 1001);
  EXPECT_EQ(metadata_.last_partition_id, 1002);
}

TEST_F(TableUpdateTest, SortOrdersCountFromOneAndUnsortedIsZero) {
  const order::SortOrder other{.fields = {{.source_id = 3}}};
  ASSERT_TRUE(Apply({AddSortOrder{other}, SetDefaultSortOrder{}}).ok());
  EXPECT_EQ(metadata_.default_sort_order_id, SortOrderId(2));
  ASSERT_TRUE(Apply({AddSortOrder{}, SetDefaultSortOrder{}}).ok());
  EXPECT_EQ(metadata_.default_sort_order_id, SortOrderId(0));
}

TEST_F(TableUpdateTest, WhatCanNeverBeAppliedIsInvalidAndNamed) {
  const order::SortOrder no_column{.fields = {{.source_id = 99}}};
  const types::PartitionSpec no_source{.fields = {{.source_id = 99, .name = "a"}}};
  const std::pair<TableUpdate, const char*> cases[] = {
      {AssignUuid{TableUuid("other")}, "assign-uuid"},
      {SetCurrentSchema{}, "set-current-schema: nothing was added"},
      {SetCurrentSchema{SchemaId(7)}, "set-current-schema: there is no schema 7"},
      {SetDefaultSpec{PartitionSpecId(7)}, "set-default-spec: there is no spec 7"},
      {AddSpec{no_source}, "add-spec"},
      {SetDefaultSortOrder{SortOrderId(7)}, "there is no sort order 7"},
      {AddSortOrder{no_column}, "add-sort-order"},
      {MainTo(99), "set-snapshot-ref: there is no snapshot 99"},
  };
  for (const auto& [update, message] : cases) {
    const Status status = Apply({update});
    EXPECT_THAT(status.message(), HasSubstr(message));
    EXPECT_FALSE(IsError(status, ErrorKind::kConflict));
  }
}

TEST_F(TableUpdateTest, RequirementsHoldOrConflict) {
  ASSERT_TRUE(Commit(11, 2'000, 2'000).ok());
  const std::vector<TableRequirement> hold = {
      AssertTableUuid{metadata_.table_uuid},
      AssertRefSnapshotId{"main", SnapshotId(11)},
      AssertRefSnapshotId{"none", std::nullopt},
      AssertLastAssignedFieldId{3},
      AssertCurrentSchemaId{SchemaId(0)},
      AssertLastAssignedPartitionId{1001},
      AssertDefaultSpecId{PartitionSpecId(0)},
      AssertDefaultSortOrderId{SortOrderId(1)},
  };
  EXPECT_TRUE(Check(hold, metadata_).ok());
  const TableRequirement broken[] = {
      AssertCreate{},
      AssertTableUuid{TableUuid("other")},
      AssertRefSnapshotId{"main", SnapshotId(12)},
      AssertRefSnapshotId{"main", std::nullopt},
      AssertRefSnapshotId{"none", SnapshotId(11)},
      AssertLastAssignedFieldId{4},
      AssertCurrentSchemaId{SchemaId(1)},
      AssertLastAssignedPartitionId{1000},
      AssertDefaultSpecId{PartitionSpecId(1)},
      AssertDefaultSortOrderId{SortOrderId(0)},
  };
  for (const TableRequirement& requirement : broken) {
    EXPECT_TRUE(IsError(Check({requirement}, metadata_), ErrorKind::kConflict));
  }
}

TEST(NewTableTest, IdsAreGivenAnew) {
  TableCreation creation = FlightsCreation();
  creation.schema.fields[0].id = 71;
  creation.schema.fields[1].id = 5;
  creation.schema.identifier_field_ids = {5};
  creation.partition_spec.fields[0].source_id = 71;
  creation.partition_spec.fields[1].source_id = 5;
  creation.sort_order.fields[0].source_id = 5;
  const TableMetadata metadata =
      NewTableMetadata(creation, TableUuid("u"), At(7)).ValueOrDie();
  EXPECT_EQ(metadata.schemas[0].fields[1].id, 2);
  EXPECT_THAT(metadata.schemas[0].identifier_field_ids, ElementsAre(2));
  EXPECT_EQ(DefaultSpec(metadata).fields[0].source_id, 1);
  EXPECT_EQ(DefaultSpec(metadata).fields[1].field_id, 1001);
  EXPECT_EQ(DefaultSortOrder(metadata).fields[0].source_id, 2);
  EXPECT_EQ(DefaultSortOrder(metadata).id, SortOrderId(1));
  EXPECT_EQ(metadata.last_column_id, 3);
  EXPECT_EQ(metadata.last_partition_id, 1001);
  EXPECT_EQ(metadata.last_updated_ms, 7);
}

TEST(NewTableTest, FormatVersionIsAPropertyThatIsNotKept) {
  TableCreation creation = FlightsCreation();
  creation.properties = {{"format-version", "2"}, {"a", "1"}};
  EXPECT_THAT(NewTableMetadata(creation, {}, At(7)).ValueOrDie().properties,
              ElementsAre(std::pair("a", "1")));
  EXPECT_EQ(NewTableMetadata(creation, {}, At(7)).ValueOrDie().format_version, 2);
  creation.properties["format-version"] = "3";
  EXPECT_EQ(NewTableMetadata(creation, {}, At(7)).ValueOrDie().format_version, 3);
  for (const char* other : {"1", "4", "02", ""}) {
    creation.properties["format-version"] = other;
    EXPECT_THAT(NewTableMetadata(creation, {}, At(7)).status().message(),
                HasSubstr("version 2 or 3"));
  }
}

TEST(NewTableTest, ColumnsNeedNamesOfTheirOwn) {
  const auto problem = [](std::vector<types::Field> fields) {
    const TableCreation creation{.schema = {.fields = std::move(fields)}};
    return NewTableMetadata(creation, {}, At(7)).status().message();
  };
  const types::Field a{.id = 1, .name = "a"};
  const types::Field b{.id = 2, .name = "b"};
  EXPECT_THAT(problem({}), HasSubstr("needs a column"));
  EXPECT_THAT(problem({a, b, a}), HasSubstr("two columns are named 'a'"));
  EXPECT_THAT(problem({{.id = 3, .name = "s", .type = types::Type::Struct({b, b})}}),
              HasSubstr("'s.b'"));
  const types::Field s{.id = 3, .name = "s", .type = types::Type::Struct({b})};
  EXPECT_THAT(problem({s, {.id = 4, .name = "s.b"}}), HasSubstr("'s.b'"));
  EXPECT_THAT(problem({{.id = 1}}), HasSubstr("without a name"));
}

TEST(NewTableTest, ColumnsOfTooManyLevelsAreRefusedBeforeThereIsATable) {
  const auto problem = [](int levels) {
    types::Field field{.id = 1, .name = "leaf"};
    for (int level = 1; level < levels; ++level) {
      field = {.id = level + 1, .name = "s", .type = types::Type::Struct({field})};
    }
    const TableCreation creation{.schema = {.fields = {field}}};
    const auto table = NewTableMetadata(creation, {}, At(7));
    return table.ok() ? std::string() : std::string(table.status().message());
  };
  EXPECT_THAT(problem(32), testing::Not(HasSubstr("levels")));
  EXPECT_THAT(problem(33), HasSubstr("33 levels"));
}

TEST(NewTableTest, WhatVersion3BroughtIsRefusedBeforeIt) {
  const auto problem = [](types::Field field) {
    const TableCreation creation{.schema = {.fields = {std::move(field)}}};
    return NewTableMetadata(creation, {}, At(7)).status().message();
  };
  const types::Field ns{.id = 2, .type = types::Type(types::TypeKind::kTimestampNs)};
  const types::Field tz{
      .id = 1, .name = "tz", .type = types::Type(types::TypeKind::kTimestamptzNs)};
  EXPECT_THAT(problem({.id = 1, .name = "l", .type = types::Type::List(ns)}),
              testing::AllOf(HasSubstr("column 'l.element': timestamp_ns needs format "
                                       "version 3"),
                             HasSubstr("declare the column as timestamp,")));
  EXPECT_THAT(problem(tz), HasSubstr("declare the column as timestamptz,"));
  types::Field with_default{.id = 1, .name = "d"};
  with_default.unknown["write-default"] = "null";
  EXPECT_EQ(problem(with_default), "");
  with_default.unknown["initial-default"] = "true";
  EXPECT_THAT(problem(with_default), HasSubstr("column 'd': initial-default needs"));
  TableCreation creation{.schema = {.fields = {tz, with_default}},
                         .properties = {{"format-version", "3"}}};
  EXPECT_TRUE(NewTableMetadata(creation, {}, At(7)).ok());
}

TEST(NewTableTest, SpecAndOrderMustFitTheSchema) {
  TableCreation no_source = FlightsCreation();
  no_source.partition_spec.fields[1].source_id = 9;
  TableCreation no_month = FlightsCreation();
  no_month.partition_spec.fields[0].source_id = 2;
  TableCreation no_column = FlightsCreation();
  no_column.sort_order.fields[0].source_id = 9;
  for (const TableCreation& creation : {no_source, no_month, no_column}) {
    EXPECT_FALSE(NewTableMetadata(creation, {}, At(7)).ok());
  }
}

}  // namespace
}  // namespace firn::iceberg
