#include "firn/types/partition_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/test_fields.h"

namespace firn::types {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Schema FlightSchema() {
  Field origin = {.id = 5, .name = "origin"};
  origin.type = Type::Struct({Column(6, "city", TypeKind::kString)});
  Field tags = {.id = 7, .name = "tags"};
  tags.type = Type::List(Column(8, "", TypeKind::kString));
  return {.fields = {Column(1, "id", TypeKind::kLong),
                     Column(2, "carrier", TypeKind::kString),
                     Column(3, "time_hour", TypeKind::kTimestamptz),
                     Column(4, "id_bucket", TypeKind::kLong), origin, tags}};
}

PartitionSpec SpecOf(std::string_view text) {
  return ParsePartitionSpec(text, FlightSchema()).ValueOrDie();
}

/// "source transform name" of each field.
std::vector<std::string> Fields(std::string_view text) {
  std::vector<std::string> fields;
  for (const PartitionField& field : SpecOf(text).fields) {
    fields.push_back(
        fmt::format("{} {} {}", field.source_id, ToString(field.transform), field.name));
  }
  return fields;
}

std::string Refusal(std::string_view text) {
  return ErrorText(ParsePartitionSpec(text, FlightSchema()).status());
}

TEST(PartitionSpecTest, ParsesTermsAndNamesThemAsSpark) {
  EXPECT_THAT(Fields("month(time_hour)"), ElementsAre("3 month time_hour_month"));
  EXPECT_THAT(Fields("carrier, day( time_hour ) , truncate(2, carrier),void(id)"),
              ElementsAre("2 identity carrier", "3 day time_hour_day",
                          "2 truncate[2] carrier_trunc", "1 void id_null"));
  EXPECT_THAT(Fields("bucket(16, origin.city)"),
              ElementsAre("6 bucket[16] origin.city_bucket"));
  EXPECT_THAT(Fields("  "), ElementsAre());
}

TEST(PartitionSpecTest, FieldIdsStartAt1000) {
  const PartitionSpec spec = SpecOf("carrier, hour(time_hour)");
  EXPECT_EQ(spec.id, PartitionSpecId(0));
  EXPECT_EQ(spec.fields[0].field_id, 1000);
  EXPECT_EQ(spec.fields[1].field_id, 1001);
}

TEST(PartitionSpecTest, RefusalsNameTheTerm) {
  EXPECT_THAT(Refusal("month(tiem)"), HasSubstr("'tiem'"));
  EXPECT_THAT(Refusal("fortnight(time_hour)"),
              HasSubstr("'fortnight' is not a transform"));
  EXPECT_THAT(Refusal("month(carrier)"), HasSubstr("does not apply to type string"));
  EXPECT_THAT(Refusal("bucket(id, 16)"), HasSubstr("'bucket[id]'"));
  EXPECT_THAT(Refusal("tags.element"), HasSubstr("inside a list or map"));
  EXPECT_THAT(Refusal("origin"), HasSubstr("does not apply"));
  EXPECT_THAT(Refusal("carrier,,id"), HasSubstr("there is no column ''"));
  EXPECT_THAT(Refusal("carrier, carrier"), HasSubstr("'carrier' is taken"));
  EXPECT_THAT(Refusal("bucket(16, id)"), HasSubstr("'id_bucket' is taken"));
  EXPECT_EQ(Refusal("month(time_hour"), "'month(time_hour': there is no ')' at its end");
}

TEST(PartitionSpecTest, RefusalsSayWhatWasProbablyMeant) {
  EXPECT_THAT(Refusal("bucket(carrier, 8)"), HasSubstr("; write bucket(8, carrier)"));
  EXPECT_THAT(Refusal("bucket(carrier)"), HasSubstr("; write bucket(16, carrier)"));
  EXPECT_THAT(Refusal("TRUNCATE(0, carrier)"),
              HasSubstr("; write truncate(16, carrier)"));
  EXPECT_THAT(Refusal("days(time_hour)"), HasSubstr("; did you mean day(time_hour)?"));
  EXPECT_THAT(Refusal("day(time_our)"),
              HasSubstr("'time_our'; did you mean 'time_hour'?"));
  EXPECT_THAT(Refusal("DAY(time_hour)"), HasSubstr("; did you mean day(time_hour)?"));
  for (const char* term : {"bucket(8)", "bucket()", "fortnight(id)", "days(id, id)"}) {
    EXPECT_THAT(Refusal(term), testing::EndsWith("hour and void")) << term;
  }
}

TEST(PartitionSpecTest, TypesAreThoseOfTheTransforms) {
  const PartitionSpec spec = SpecOf("carrier, day(time_hour), hour(time_hour)");
  EXPECT_THAT(
      PartitionTypes(spec, FlightSchema()).ValueOrDie(),
      ElementsAre(Type(TypeKind::kString), Type(TypeKind::kDate), Type(TypeKind::kInt)));
}

TEST(PartitionSpecTest, MissingSourceColumnIsNamed) {
  PartitionSpec spec = SpecOf("carrier");
  spec.fields[0].source_id = 99;
  const std::string message = ErrorText(PartitionTypes(spec, FlightSchema()).status());
  EXPECT_THAT(message, HasSubstr("'carrier'"));
  EXPECT_THAT(message, HasSubstr("99"));
}

TEST(PartitionSpecTest, PathIsEscapedAsJavaDoes) {
  const PartitionSpec spec = SpecOf("carrier, month(time_hour)");
  const auto path = [&](Value carrier, Value month) {
    return PartitionPath(spec, PartitionTypes(spec, FlightSchema()).ValueOrDie(),
                         {std::move(carrier), std::move(month)});
  };
  EXPECT_EQ(path("UA", 516), "carrier=UA/time_hour_month=2013-01");
  EXPECT_EQ(path("a b/ü=*~", Value()),
            "carrier=a+b%2F%C3%BC%3D*%7E/time_hour_month=null");
  EXPECT_EQ(PartitionPath(PartitionSpec{}, {}, {}), "");
}

}  // namespace
}  // namespace firn::types
