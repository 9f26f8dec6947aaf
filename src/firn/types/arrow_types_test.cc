#include "firn/types/arrow_types.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/single_value.h"

namespace firn::types {
namespace {

using testing::HasSubstr;

Type TypeOf(std::string_view text) { return ParsePrimitiveType(text).ValueOrDie(); }

std::string FromArrow(const std::shared_ptr<arrow::DataType>& type) {
  const Result<Type> result = FromArrowType(*type);
  return result.ok() ? result->ToString() : ErrorText(result.status());
}

TEST(ArrowTypesTest, PrimitiveTypesComeBack) {
  for (const char* text : {"boolean", "int", "long", "float", "double", "decimal(9, 2)",
                           "date", "time", "timestamp", "timestamptz", "timestamp_ns",
                           "timestamptz_ns", "string", "fixed[7]", "binary"}) {
    EXPECT_EQ(FromArrow(ToArrowType(TypeOf(text))), text);
  }
  EXPECT_EQ(FromArrow(ToArrowType(TypeOf("uuid"))), "fixed[16]");
}

TEST(ArrowTypesTest, OtherWidthsBecomeTheNextWiderOne) {
  EXPECT_EQ(FromArrow(arrow::int8()), "int");
  EXPECT_EQ(FromArrow(arrow::uint16()), "int");
  EXPECT_EQ(FromArrow(arrow::uint32()), "long");
  EXPECT_EQ(FromArrow(arrow::float16()), "float");
  EXPECT_EQ(FromArrow(arrow::large_utf8()), "string");
  EXPECT_EQ(FromArrow(arrow::date64()), "date");
  EXPECT_EQ(FromArrow(arrow::timestamp(arrow::TimeUnit::SECOND, "Europe/Berlin")),
            "timestamptz");
  EXPECT_EQ(FromArrow(arrow::dictionary(arrow::int32(), arrow::utf8())), "string");
}

TEST(ArrowTypesTest, RefusesWhatIcebergDoesNotHave) {
  EXPECT_THAT(FromArrow(arrow::uint64()), HasSubstr("uint64"));
  EXPECT_THAT(FromArrow(arrow::null()), HasSubstr("null"));
  EXPECT_THAT(FromArrow(arrow::time64(arrow::TimeUnit::NANO)), HasSubstr("time64"));
  EXPECT_THAT(FromArrow(arrow::list(arrow::uint64())), HasSubstr("uint64"));
}

TEST(ArrowTypesTest, NestedTypesComeBackWithTheirIds) {
  const Field text = {
      .id = 5, .name = "text", .type = TypeOf("string"), .required = true};
  const Field number = {.id = 6, .name = "number", .type = TypeOf("long")};
  for (const Type& type :
       {Type::Struct({text, number}), Type::List(number), Type::Map(text, number),
        Type::List({.id = 9, .type = Type::Struct({text})})}) {
    EXPECT_EQ(FromArrowType(*ToArrowType(type)).ValueOrDie(), type) << type.ToString();
  }
}

TEST(ArrowTypesTest, SchemaCarriesFieldIds) {
  const Schema schema = {
      .fields = {{.id = 3, .name = "id", .type = TypeOf("long"), .required = true},
                 {.id = 7, .name = "note", .type = TypeOf("string")}}};
  const auto arrow_schema = ToArrowSchema(schema);
  EXPECT_EQ(arrow_schema->field(0)->metadata()->Get("PARQUET:field_id").ValueOrDie(),
            "3");
  EXPECT_FALSE(arrow_schema->field(0)->nullable());
  EXPECT_TRUE(arrow_schema->field(1)->nullable());
  EXPECT_EQ(arrow_schema->field(1)->name(), "note");
}

template <typename Builder, typename Cell>
Value FirstValue(const char* type, Cell cell) {
  Builder builder(ToArrowType(TypeOf(type)), arrow::default_memory_pool());
  EXPECT_TRUE(builder.Append(cell).ok());
  EXPECT_TRUE(builder.AppendNull().ok());
  const auto array = builder.Finish().ValueOrDie();
  EXPECT_TRUE(IsNull(ValueAt(*array, TypeOf(type), 1)));
  return ValueAt(*array, TypeOf(type), 0);
}

TEST(ArrowTypesTest, ReadsValuesOfEveryType) {
  EXPECT_EQ(FirstValue<arrow::BooleanBuilder>("boolean", true), Value(true));
  EXPECT_EQ(FirstValue<arrow::Int32Builder>("int", -7), Value(-7));
  EXPECT_EQ(FirstValue<arrow::Int64Builder>("long", -7), Value(std::int64_t{-7}));
  EXPECT_EQ(FirstValue<arrow::FloatBuilder>("float", 0.5f), Value(0.5f));
  EXPECT_EQ(FirstValue<arrow::DoubleBuilder>("double", 0.5), Value(0.5));
  EXPECT_EQ(FirstValue<arrow::Date32Builder>("date", 3), Value(3));
  EXPECT_EQ(FirstValue<arrow::Time64Builder>("time", 3), Value(std::int64_t{3}));
  for (const char* type :
       {"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"}) {
    EXPECT_EQ(FirstValue<arrow::TimestampBuilder>(type, 3), Value(std::int64_t{3}));
  }
  EXPECT_EQ(FirstValue<arrow::StringBuilder>("string", "x"), Value("x"));
  EXPECT_EQ(FirstValue<arrow::BinaryBuilder>("binary", "x"), Value("x"));
  EXPECT_EQ(FirstValue<arrow::FixedSizeBinaryBuilder>("fixed[2]", "xy"), Value("xy"));
  EXPECT_EQ(FirstValue<arrow::FixedSizeBinaryBuilder>("uuid", "0123456789abcdef"),
            Value("0123456789abcdef"));
}

TEST(ArrowTypesTest, ReadsWideDecimals) {
  const Type type = TypeOf("decimal(38, 2)");
  for (const char* text : {"-1.00", "999999999999999999999999999999999999.99",
                           "-999999999999999999999999999999999999.99", "0.00"}) {
    const Value value = FirstValue<arrow::Decimal128Builder>(
        "decimal(38, 2)", arrow::Decimal128::FromString(text).ValueOrDie());
    EXPECT_EQ(ToText(type, value), text);
  }
}

}  // namespace
}  // namespace firn::types
