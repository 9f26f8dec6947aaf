#include "firn/sources/files/schema_inference.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::sources {
namespace {

using testing::ElementsAre;

constexpr const char* kNull = nullptr;

std::shared_ptr<arrow::RecordBatch> Column(const std::string& name,
                                           const std::vector<const char*>& values) {
  arrow::StringBuilder builder;
  for (const char* value : values) {
    EXPECT_TRUE(value == kNull ? builder.AppendNull().ok() : builder.Append(value).ok());
  }
  return arrow::RecordBatch::Make(arrow::schema({arrow::field(name, arrow::utf8())}),
                                  std::ssize(values), {builder.Finish().ValueOrDie()});
}

std::string Inferred(const std::vector<const char*>& values) {
  SchemaInference inference;
  inference.Add(*Column("c", values));
  return inference.Finish().fields[0].type.ToString();
}

TEST(SchemaInferenceTest, FindsTheNarrowestType) {
  EXPECT_EQ(Inferred({"1", "-2", "0"}), "long");
  EXPECT_EQ(Inferred({"1", "2.5"}), "double");
  EXPECT_EQ(Inferred({"1e3", "NaN", "-inf"}), "double");
  EXPECT_EQ(Inferred({"true", "false"}), "boolean");
  EXPECT_EQ(Inferred({"2013-01-01", "1969-12-31"}), "date");
  EXPECT_EQ(Inferred({"2013-01-01T10:00:00Z", "2013-01-01 10:00:00.5+01:00"}),
            "timestamptz");
  EXPECT_EQ(Inferred({"2013-01-01 05:00:00", "2013-01-01T05:00:00"}), "timestamp");
  EXPECT_EQ(Inferred({"UA", "AA"}), "string");
}

TEST(SchemaInferenceTest, WhatDoesNotGoTogetherIsAString) {
  EXPECT_EQ(Inferred({"1", "x"}), "string");
  EXPECT_EQ(Inferred({"1", "true"}), "string");
  EXPECT_EQ(Inferred({"2013-01-01", "2013-01-01T10:00:00Z"}), "string");
  EXPECT_EQ(Inferred({"2013-01-01T10:00:00", "2013-01-01T10:00:00Z"}), "string");
  EXPECT_EQ(Inferred({"1", ""}), "string");
  EXPECT_EQ(Inferred({"True", "False"}), "string");
}

TEST(SchemaInferenceTest, NullsSayNothing) {
  EXPECT_EQ(Inferred({kNull, "1", kNull}), "long");
  EXPECT_EQ(Inferred({kNull, kNull}), "string");
  EXPECT_EQ(Inferred({}), "string");
}

TEST(SchemaInferenceTest, NumbersThatWouldLoseDigitsAreStrings) {
  EXPECT_EQ(Inferred({"007", "12"}), "string");
  EXPECT_EQ(Inferred({"-007"}), "string");
  EXPECT_EQ(Inferred({"00.5"}), "string");
  EXPECT_EQ(Inferred({"0", "0.5", "-0.5"}), "double");
  EXPECT_EQ(Inferred({"9223372036854775807"}), "long");
  EXPECT_EQ(Inferred({"9223372036854775808"}), "string");
  EXPECT_EQ(Inferred({"1.5", "9007199254740993"}), "string");
}

TEST(SchemaInferenceTest, EveryBatchCounts) {
  SchemaInference inference;
  inference.Add(*Column("a", {"1"}));
  inference.Add(*Column("b", {kNull}));
  inference.Add(*Column("a", {"1.5"}));
  const types::Schema schema = inference.Finish();
  ASSERT_EQ(schema.fields.size(), 2u);
  EXPECT_EQ(schema.fields[0].type, types::Type(types::TypeKind::kDouble));
  EXPECT_EQ(schema.fields[1].name, "b");
  EXPECT_EQ(schema.fields[1].id, 2);
  EXPECT_FALSE(schema.fields[1].required);
}

}  // namespace
}  // namespace firn::sources
