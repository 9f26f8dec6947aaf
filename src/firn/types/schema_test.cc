#include "firn/types/schema.h"

#include "firn/types/column_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/test_fields.h"

namespace firn::types {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Type kLong(TypeKind::kLong);
const Type kString(TypeKind::kString);

Schema NestedSchema() {
  const Type location = Type::Struct(
      {Column(11, "lat", Type(TypeKind::kDouble)), Column(12, "zone", kLong)});
  return {
      .fields = {Column(1, "id", kLong), Column(2, "location", location),
                 Column(3, "tags", Type::List(Column(13, "", kString))),
                 Column(4, "attrs",
                        Type::Map(Column(14, "", kString), Column(15, "", location)))},
      .identifier_field_ids = {1, 12}};
}

TEST(TypeTest, PrimitiveTypesRoundTripAsText) {
  for (const char* text :
       {"boolean", "int", "long", "float", "double", "decimal(9, 2)", "decimal(38, 38)",
        "date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns",
        "string", "uuid", "fixed[16]", "binary"}) {
    EXPECT_EQ(ParsePrimitiveType(text).ValueOrDie().ToString(), text);
  }
  EXPECT_EQ(ParsePrimitiveType("decimal(9,2)").ValueOrDie(), Type::Decimal(9, 2));
}

TEST(TypeTest, RefusesWhatIsNoPrimitiveType) {
  for (const char* text :
       {"", "Long", "decimal", "decimal(39, 2)", "decimal(2, 3)", "decimal(9 2)",
        "fixed[]", "fixed[0]", "fixed[-1]", "fixed[4", "struct<>", "bigint"}) {
    EXPECT_THAT(ErrorText(ParsePrimitiveType(text).status()),
                HasSubstr(fmt::format("'{}'", text)));
  }
}

TEST(TypeTest, NestedTypesCompareByTheirFields) {
  EXPECT_EQ(NestedSchema(), NestedSchema());
  EXPECT_NE(Type::List(Column(1, "", kLong)), Type::List(Column(2, "", kLong)));
  EXPECT_EQ(NestedSchema().fields[3].type.ToString(),
            "map<string, struct<11: lat: double, 12: zone: long>>");
}

TEST(TypeTest, PromotesOnlyWhatTheSpecAllows) {
  EXPECT_TRUE(IsPromotion(Type(TypeKind::kInt), kLong));
  EXPECT_TRUE(IsPromotion(Type(TypeKind::kFloat), Type(TypeKind::kDouble)));
  EXPECT_TRUE(IsPromotion(Type::Decimal(9, 2), Type::Decimal(10, 2)));
  EXPECT_TRUE(IsPromotion(kString, kString));
  EXPECT_FALSE(IsPromotion(kLong, Type(TypeKind::kInt)));
  EXPECT_FALSE(IsPromotion(Type::Decimal(9, 2), Type::Decimal(10, 3)));
  EXPECT_FALSE(IsPromotion(Type::Decimal(9, 2), Type::Decimal(8, 2)));
  EXPECT_FALSE(IsPromotion(kString, Type(TypeKind::kBinary)));
}

TEST(SchemaTest, FindsFieldsAtEveryDepth) {
  const Schema schema = NestedSchema();
  EXPECT_EQ(FindField(schema, 12)->name, "zone");
  EXPECT_EQ(FindField(schema, "location.lat")->id, 11);
  EXPECT_EQ(FindField(schema, "tags.element")->id, 13);
  EXPECT_EQ(FindField(schema, "attrs.key")->id, 14);
  EXPECT_EQ(FindField(schema, "attrs.value")->id, 15);
  EXPECT_EQ(FindField(schema, "Location"), nullptr);
  EXPECT_EQ(FindField(schema, "location."), nullptr);
  EXPECT_EQ(FindField(schema, 99), nullptr);
}

TEST(SchemaTest, FindsNamesThatHoldDots) {
  const Schema schema = {.fields = {Column(1, "a", Type::Struct({Column(2, "b", kLong)})),
                                    Column(3, "a.c", kLong)}};
  EXPECT_EQ(FindField(schema, "a.c")->id, 3);
  EXPECT_EQ(FindField(schema, "a.b")->id, 2);
}

TEST(SchemaTest, PathLeadsThroughStructsOnly) {
  const Schema schema = NestedSchema();
  EXPECT_THAT(*ColumnPath(schema, 1), ElementsAre(0));
  EXPECT_THAT(*ColumnPath(schema, 12), ElementsAre(1, 1));
  EXPECT_THAT(*ColumnPath(schema, 3), ElementsAre(2));
  EXPECT_FALSE(ColumnPath(schema, 13));
  EXPECT_FALSE(ColumnPath(schema, 99));
}

TEST(SchemaTest, FreshIdsGoLevelByLevel) {
  const Schema fresh = AssignFreshIds(NestedSchema());
  EXPECT_EQ(fresh.fields[3].id, 4);
  EXPECT_EQ(FindField(fresh, "location.lat")->id, 5);
  EXPECT_EQ(FindField(fresh, "location.zone")->id, 6);
  EXPECT_EQ(FindField(fresh, "tags.element")->id, 7);
  EXPECT_EQ(FindField(fresh, "attrs.key")->id, 8);
  EXPECT_EQ(FindField(fresh, "attrs.value")->id, 9);
  EXPECT_EQ(HighestFieldId(NestedSchema()), 15);
  EXPECT_EQ(HighestFieldId(Schema{}), 0);
}

TEST(SchemaTest, IdentifierFieldsFollowFreshIds) {
  const Schema schema = {.fields = {Column(7, "a", kLong), Column(3, "b", kLong)},
                         .identifier_field_ids = {3}};
  EXPECT_THAT(AssignFreshIds(schema).identifier_field_ids, ElementsAre(2));
}

TEST(ColumnListTest, NamesTypesAndNotNull) {
  const Schema schema =
      ParseColumnList("ts timestamptz not null, price  decimal(9, 2),f fixed[4]")
          .ValueOrDie();
  ASSERT_EQ(schema.fields.size(), 3);
  EXPECT_EQ(schema.fields[0], (Field{.id = 1,
                                     .name = "ts",
                                     .type = Type(TypeKind::kTimestamptz),
                                     .required = true}));
  EXPECT_EQ(schema.fields[1],
            (Field{.id = 2, .name = "price", .type = Type::Decimal(9, 2)}));
  EXPECT_EQ(schema.fields[2].name, "f");
  EXPECT_TRUE(ParseColumnList(" ").ValueOrDie().fields.empty());
}

TEST(ColumnListTest, NamesTheTermThatIsWrong) {
  for (const char* term : {"id", "id lung", "id long not", "id long null", "id list"}) {
    EXPECT_THAT(ParseColumnList(std::string("a int, ") + term).status().message(),
                ::testing::HasSubstr(term));
  }
  EXPECT_FALSE(ParseColumnList("a int,").ok());
}

}  // namespace
}  // namespace firn::types
