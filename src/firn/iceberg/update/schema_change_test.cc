#include "firn/iceberg/update/schema_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/testing/sample_table.h"

namespace firn::iceberg {
namespace {

using testing::HasSubstr;
using types::Field;
using types::Type;
using types::TypeKind;

const Field kExtra = {.name = "extra", .type = Type(TypeKind::kString)};

TableMetadata Changed(const TableMetadata& before, const PreparedSchemaChange& change) {
  EXPECT_TRUE(Check(change.requirements, before).ok());
  return Apply(before, "memory:///0.json", change.updates, FakeRuntime().Now())
      .ValueOrDie();
}

std::string ProblemOf(const TableMetadata& metadata, const Field& wanted) {
  return PrepareSchemaChange(metadata, {.fields = {wanted}}).status().message();
}

TEST(SchemaChangeTest, AnAddedColumnGetsTheNextIdOfTheTable) {
  TableMetadata before = FlightsMetadata();
  before.last_column_id = 9;  // of columns that were dropped
  const auto change = PrepareSchemaChange(before, {.fields = {kExtra}}).ValueOrDie();
  const TableMetadata after = Changed(before, *change);
  EXPECT_EQ(after.current_schema_id, SchemaId(1));
  EXPECT_EQ(after.schemas.size(), 2U);
  EXPECT_EQ(CurrentSchema(after).fields.back().id, 10);
  EXPECT_EQ(after.last_column_id, 10);
  EXPECT_EQ(PrepareSchemaChange(after, {.fields = {kExtra}}).ValueOrDie(), std::nullopt);
}

TEST(SchemaChangeTest, WhatAnotherCommitChangedFirstIsAConflict) {
  const TableMetadata before = FlightsMetadata();
  const auto change = PrepareSchemaChange(before, {.fields = {kExtra}}).ValueOrDie();
  const TableMetadata after = Changed(before, *change);
  EXPECT_TRUE(IsError(Check(change->requirements, after), ErrorKind::kConflict));
}

TEST(SchemaChangeTest, AColumnThatIdentifiesRowsStaysRequired) {
  TableMetadata metadata = FlightsMetadata();
  metadata.schemas[0].fields[1].required = true;
  metadata.schemas[0].identifier_field_ids = {2};
  const Field carrier = {.name = "carrier", .type = Type(TypeKind::kString)};
  EXPECT_THAT(ProblemOf(metadata, carrier), HasSubstr("'carrier' identifies the rows"));
}

TEST(SchemaChangeTest, APartitionFieldKeepsItsName) {
  const Field month = {.name = "time_hour_month", .type = Type(TypeKind::kInt)};
  EXPECT_THAT(ProblemOf(FlightsMetadata(), month),
              HasSubstr("'time_hour_month' cannot be added"));
}

TEST(SchemaChangeTest, WhatTheFormatVersionDoesNotHaveIsNotAdded) {
  const Field ns = {.name = "ns", .type = Type(TypeKind::kTimestampNs)};
  EXPECT_THAT(ProblemOf(FlightsMetadata(), ns), HasSubstr("timestamp_ns needs"));
}

TEST(SchemaChangeTest, ANameMappingGetsTheNewColumns) {
  TableMetadata before = FlightsMetadata();
  const char* mapping = "schema.name-mapping.default";
  before.properties[mapping] = R"([{"field-id":2,"names":["carrier","line"]}])";
  const auto change = PrepareSchemaChange(before, {.fields = {kExtra}}).ValueOrDie();
  EXPECT_EQ(
      Changed(before, *change).properties.at(mapping),
      R"([{"field-id":2,"names":["carrier","line"]},{"field-id":4,"names":["extra"]}])");
  before.properties[mapping] = "not a mapping";
  const auto other = PrepareSchemaChange(before, {.fields = {kExtra}}).ValueOrDie();
  EXPECT_EQ(Changed(before, *other).properties.at(mapping), "not a mapping");
}

TEST(SchemaChangeTest, ADateThatRowsAreSortedByInBucketsStaysOne) {
  TableMetadata metadata = FlightsMetadata();
  metadata.format_version = 3;
  metadata.schemas[0].fields.push_back(
      {.id = 4, .name = "day", .type = Type(TypeKind::kDate)});
  const Field wider = {.name = "day", .type = Type(TypeKind::kTimestamp)};
  metadata.sort_orders[0].fields = {{.source_id = 4}};
  EXPECT_EQ(ProblemOf(metadata, wider), "");
  metadata.sort_orders[0].fields[0].transform = {.kind = types::TransformKind::kBucket,
                                                 .parameter = 16};
  EXPECT_THAT(ProblemOf(metadata, wider), HasSubstr("would sort by other values"));
}

TEST(SchemaChangeTest, NamesThatAreOneWhenJoinedAreRefused) {
  TableMetadata metadata = FlightsMetadata();
  metadata.schemas[0].fields.push_back({.id = 4, .name = "a.b", .type = kExtra.type});
  const Field a = {.name = "a", .type = Type::Struct({{.name = "b"}})};
  EXPECT_THAT(ProblemOf(metadata, a), HasSubstr("'a.b'"));
}

}  // namespace
}  // namespace firn::iceberg
