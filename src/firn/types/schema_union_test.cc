#include "firn/types/schema_union.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/test_fields.h"

namespace firn::types {
namespace {

using testing::HasSubstr;

const Field kId = Required(Column(1, "id", TypeKind::kInt));
const Field kX = Column(0, "x", TypeKind::kFloat);

Result<Schema> Union(std::vector<Field> fields, std::vector<Field> wanted,
                     std::int32_t format_version = 2) {
  return UnionByName({.fields = std::move(fields)}, {.fields = std::move(wanted)},
                     {.format_version = format_version, .last_column_id = 20});
}

/// "2: c: int, ...", required ones with "!".
std::string Text(const Result<Schema>& schema) {
  if (!schema.ok()) return schema.status().message();
  std::string text;
  for (const Field& field : schema->fields) {
    text += fmt::format("{}{}{}: {}: {}", text.empty() ? "" : ", ", field.id,
                        field.required ? "!" : "", field.name, field.type.ToString());
  }
  return text;
}

TEST(SchemaUnionTest, WhatIsThereStaysAsItIs) {
  const Schema schema = {.id = SchemaId(7),
                         .fields = {kId, Column(2, "c", TypeKind::kLong)},
                         .identifier_field_ids = {1}};
  const Schema wanted = {.fields = {Column(9, "c", TypeKind::kInt)}};
  EXPECT_EQ(UnionByName(schema, wanted, {}).ValueOrDie(), schema);
}

TEST(SchemaUnionTest, NewColumnsGoBehindTheOthersWithIdsOfTheirOwn) {
  const Type point = Type::Struct({kX, Column(0, "tags", Type::List(kX))});
  EXPECT_EQ(
      Text(Union({kId}, {Column(1, "a", TypeKind::kString), kId,
                         Column(2, "point", point), Column(3, "b", TypeKind::kInt)})),
      "1!: id: int, 21: a: string, 22: point: struct<23: x: float, 24: tags: "
      "list<float>>, 26: b: int");
}

TEST(SchemaUnionTest, AUnionHoldsBothAndIsItsOwnUnionWithEither) {
  const std::vector<Field> wanted = {Column(0, "id", TypeKind::kLong), kX};
  const Schema both = Union({kId}, wanted).ValueOrDie();
  EXPECT_EQ(Text(both), "1: id: long, 21: x: float");
  EXPECT_EQ(Union(both.fields, wanted).ValueOrDie(), both);
  EXPECT_EQ(Union(both.fields, {kId}).ValueOrDie(), both);
}

TEST(SchemaUnionTest, TypesBecomeWiderAndNeverNarrower) {
  struct {
    Type narrow, wide;
  } const kCases[] = {{Type(TypeKind::kInt), Type(TypeKind::kLong)},
                      {Type(TypeKind::kFloat), Type(TypeKind::kDouble)},
                      {Type::Decimal(4, 2), Type::Decimal(9, 2)}};
  for (const auto& [narrow, wide] : kCases) {
    const auto text = fmt::format("2: c: {}", wide.ToString());
    EXPECT_EQ(Text(Union({Column(2, "c", narrow)}, {Column(0, "c", wide)})), text);
    EXPECT_EQ(Text(Union({Column(2, "c", wide)}, {Column(0, "c", narrow)})), text);
  }
}

TEST(SchemaUnionTest, DatesBecomeTimestampsFromVersion3On) {
  const Field date = Column(2, "c", TypeKind::kDate);
  const Field timestamp = Column(0, "c", TypeKind::kTimestamp);
  const Field with_zone = Column(0, "c", TypeKind::kTimestamptz);
  EXPECT_EQ(Text(Union({date}, {timestamp}, 3)), "2: c: timestamp");
  EXPECT_THAT(Text(Union({date}, {timestamp}, 2)), HasSubstr("is date in the table"));
  EXPECT_THAT(Text(Union({date}, {with_zone}, 3)), HasSubstr("is date in the table"));
}

TEST(SchemaUnionTest, FieldsAtEveryDepthEvolve) {
  const Field x = Required(Column(4, "x", TypeKind::kInt));
  const Type before = Type::Struct({x});
  const Type after =
      Type::Struct({Column(0, "y", TypeKind::kString), Column(0, "x", TypeKind::kLong)});
  const auto columns = [](const Type& type) {
    return std::vector{
        Column(2, "s", type), Column(3, "l", Type::List(Column(5, "", type))),
        Column(6, "m", Type::Map(Column(7, "", TypeKind::kString), Column(8, "", type)))};
  };
  const Schema merged = Union(columns(before), columns(after)).ValueOrDie();
  EXPECT_EQ(Text(merged),
            "2: s: struct<4: x: long, 21: y: string>, 3: l: list<struct<4: x: long, 22: "
            "y: string>>, 6: m: map<string, struct<4: x: long, 23: y: string>>");
  EXPECT_FALSE(merged.fields[0].type.fields()[0].required);
}

TEST(SchemaUnionTest, WhatCannotBeIsRefusedByName) {
  const Field map = Column(3, "m", Type::Map(Column(4, "", Type::Struct({kX})), kX));
  const Field other_map = Column(
      0, "m",
      Type::Map(Column(0, "", Type::Struct({kX, Column(0, "y", TypeKind::kInt)})), kX));
  struct {
    Field there, wanted;
    std::vector<const char*> said;
  } const kCases[] = {
      {Column(2, "c", TypeKind::kString),
       Column(0, "c", TypeKind::kInt),
       {"column 'c' is string in the table and int in the input", "convert the values"}},
      {Column(2, "c", TypeKind::kInt),
       Column(0, "c", TypeKind::kDouble),
       {"only becomes"}},
      {Column(2, "c", Type::Decimal(4, 2)),
       Column(0, "c", Type::Decimal(9, 3)),
       {"decimal(4, 2)", "decimal(9, 3)"}},
      {Column(2, "c", TypeKind::kInt),
       Column(0, "c", Type::List(kX)),
       {"is int in the table and list<float>"}},
      {Column(2, "s", Type::Struct({Column(3, "c", TypeKind::kInt)})),
       Column(0, "s", Type::Struct({Column(3, "C", TypeKind::kInt)})),
       {"column 's.C'", "differs from 'c'", "only in case"}},
      {kId, Required(Column(0, "c", TypeKind::kInt)), {"'c' of type int", "optional"}},
      {map, other_map, {"column 'm.key'", "keys of a map never change"}}};
  for (const auto& [there, wanted, said] : kCases) {
    const auto status = Union({there}, {wanted}).status();
    for (const char* text : said) EXPECT_THAT(status.message(), HasSubstr(text));
  }
}

TEST(SchemaUnionTest, ARequiredColumnWithADefaultMayBeAddedFromVersion3On) {
  Field column = Required(Column(0, "c", TypeKind::kInt));
  column.unknown["initial-default"] = "7";
  EXPECT_EQ(Text(Union({kId}, {column}, 3)), "1!: id: int, 21!: c: int");
  EXPECT_FALSE(Union({kId}, {column}, 2).ok());
}

}  // namespace
}  // namespace firn::types
