#include "firn/types/default_column.h"

#include <arrow/array/array_base.h>
#include <arrow/scalar.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/arrow_types.h"
#include "firn/types/default_value.h"

namespace firn::types {
namespace {

using testing::HasSubstr;

Field Of(FieldId id, Type type, const char* write_default = nullptr) {
  Field field = {.id = id, .name = fmt::format("f{}", id), .type = std::move(type)};
  if (write_default != nullptr) field.unknown[kWriteDefault] = write_default;
  return field;
}

/// Two rows of the default, as Arrow shows them; else what is wrong.
std::string Shown(const Field& field) {
  const auto column = DefaultColumn(field, kWriteDefault, 2);
  if (!column.ok()) return ErrorText(column.status());
  EXPECT_TRUE((*column)->ValidateFull().ok());
  EXPECT_TRUE((*column)->type()->Equals(*ToArrowType(field.type)));
  EXPECT_EQ((*column)->length(), 2);
  const auto first = (*column)->GetScalar(0).ValueOrDie();
  EXPECT_TRUE(first->Equals(*(*column)->GetScalar(1).ValueOrDie()));
  return first->ToString();
}

TEST(DefaultColumnTest, RepeatsTheValue) {
  EXPECT_EQ(Shown(Of(1, Type(TypeKind::kInt), "7")), "7");
  EXPECT_EQ(Shown(Of(1, Type(TypeKind::kString), R"("a\nb")")), "a\nb");
  EXPECT_EQ(Shown(Of(1, Type::Decimal(9, 2), R"("-1.50")")), "-1.50");
  EXPECT_EQ(Shown(Of(1, Type(TypeKind::kDate), R"("1969-12-31")")), "1969-12-31");
  EXPECT_EQ(Shown(Of(1, Type(TypeKind::kInt))), "null");
  EXPECT_EQ(Shown(Of(1, Type(TypeKind::kInt), "null")), "null");
}

TEST(DefaultColumnTest, FieldsOfAStructHaveTheirOwn) {
  const Type type =
      Type::Struct({Of(2, Type(TypeKind::kInt), "7"), Of(3, Type(TypeKind::kString))});
  EXPECT_EQ(Shown(Of(1, type)), "null");
  EXPECT_EQ(Shown(Of(1, type, "{}")), "{f2:int32 = 7, f3:string = null}");
  EXPECT_EQ(Shown(Of(1, type, R"({"3":"x"})")), "{f2:int32 = 7, f3:string = x}");
}

TEST(DefaultColumnTest, ListsAndMapsHaveTheirs) {
  const Type list = Type::List(Of(2, Type(TypeKind::kLong)));
  EXPECT_THAT(Shown(Of(1, list, "[1, null]")), HasSubstr("[1, null]"));
  EXPECT_THAT(Shown(Of(1, list, "[]")), HasSubstr("[]"));
  Field key = Of(2, Type(TypeKind::kString));
  key.required = true;
  const Type map = Type::Map(key, Of(3, Type(TypeKind::kInt)));
  const auto column =
      DefaultColumn(Of(1, map, R"({"keys":["a"],"values":[1]})"), kWriteDefault, 1);
  EXPECT_THAT((*column)->ToString(), testing::AllOf(HasSubstr("\"a\""), HasSubstr("1")));
}

TEST(DefaultColumnTest, WhatIsNoValueIsNamed) {
  EXPECT_THAT(Shown(Of(1, Type(TypeKind::kInt), R"("x")")),
              HasSubstr("write-default of column 'f1' (field id 1)"));
  EXPECT_THAT(Shown(Of(1, Type(TypeKind::kInt), "{")), HasSubstr("'f1'"));
  const Type list = Type::List(Of(2, Type(TypeKind::kLong)));
  EXPECT_THAT(Shown(Of(1, list, "7")), HasSubstr("no value of type list<long>"));
  Field required = Of(2, Type(TypeKind::kLong));
  required.required = true;
  EXPECT_THAT(Shown(Of(1, Type::Struct({required}), "{}")),
              HasSubstr("'f2' (field id 2) is required"));
  EXPECT_THAT(Shown(Of(1, Type::Map(required, Of(3, Type(TypeKind::kInt))),
                       R"({"keys":[1],"values":[]})")),
              HasSubstr("no value of type map"));
}

}  // namespace
}  // namespace firn::types
