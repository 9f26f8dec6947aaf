#include "firn/types/default_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/single_value.h"

namespace firn::types {
namespace {

std::string Shown(const Type& type, const char* json) {
  const auto value = ValueFromJson(type, json);
  return value.ok() ? ToText(type, *value) : value.status().message();
}

TEST(DefaultValueTest, IsReadAsTheTypeWritesIt) {
  EXPECT_EQ(Shown(Type(TypeKind::kBoolean), "true"), "true");
  EXPECT_EQ(Shown(Type(TypeKind::kLong), "-5000000000"), "-5000000000");
  EXPECT_EQ(Shown(Type(TypeKind::kDouble), "0.25"), "0.25");
  EXPECT_EQ(Shown(Type(TypeKind::kString), R"("a\u00e9")"), "a\xc3\xa9");
  EXPECT_EQ(Shown(Type(TypeKind::kDate), R"("1969-12-31")"), "1969-12-31");
  EXPECT_EQ(Shown(Type::Decimal(9, 2), R"("14.20")"), "14.20");
}

TEST(DefaultValueTest, WhatIsNoValueOfTheTypeIsRefused) {
  EXPECT_THAT(Shown(Type(TypeKind::kInt), R"("x")"), testing::HasSubstr("int"));
  EXPECT_THAT(Shown(Type(TypeKind::kInt), "5000000000"), testing::HasSubstr("int"));
}

TEST(DefaultValueTest, NullIsNone) {
  Field field = {.id = 7, .name = "c", .type = Type(TypeKind::kInt)};
  EXPECT_EQ(FindDefault(field, kWriteDefault), nullptr);
  field.unknown[kWriteDefault] = "null";
  EXPECT_EQ(FindDefault(field, kWriteDefault), nullptr);
  field.unknown[kWriteDefault] = "1";
  EXPECT_EQ(*FindDefault(field, kWriteDefault), "1");
  EXPECT_FALSE(HasInitialDefault(field));
}

}  // namespace
}  // namespace firn::types
