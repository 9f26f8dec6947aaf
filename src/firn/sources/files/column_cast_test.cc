#include "firn/sources/files/column_cast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/sources/files/test_parquet.h"
#include "firn/types/arrow_types.h"

namespace firn::sources {
namespace {

using arrow::TimeUnit;
using testing::HasSubstr;
using types::Type;

Type TypeOf(std::string_view text) {
  return types::ParsePrimitiveType(text).ValueOrDie();
}

types::Field Field(std::string name, Type type, bool required = false) {
  return {.name = std::move(name), .type = std::move(type), .required = required};
}

types::Schema SchemaOf(std::vector<types::Field> fields) {
  return types::AssignFreshIds({.fields = std::move(fields)});
}

Result<std::shared_ptr<arrow::RecordBatch>> Cast(const std::vector<TestColumn>& columns,
                                                 const types::Schema& schema,
                                                 ColumnCastOptions options = {}) {
  const auto batch = BatchOf(columns);
  FIRN_ASSIGN_OR_RETURN(const ColumnCast cast,
                        ColumnCast::Make(*batch->schema(), schema, std::move(options)));
  FIRN_ASSIGN_OR_RETURN(auto rows, cast.Cast(*batch));
  EXPECT_TRUE(rows->ValidateFull().ok()) << rows->ValidateFull();
  EXPECT_TRUE(rows->schema()->Equals(*types::ToArrowSchema(schema), true));
  return rows;
}

/// What one column becomes, as Arrow prints it; or the error.
std::string Become(std::shared_ptr<arrow::DataType> from, const std::string& json,
                   const Type& to, ColumnCastOptions options = {}) {
  const auto rows = Cast({{"c", std::move(from), json}}, SchemaOf({Field("c", to)}),
                         std::move(options));
  if (!rows.ok()) return ErrorText(rows.status());
  EXPECT_TRUE((*rows)->column(0)->type()->Equals(*(*rows)->schema()->field(0)->type()));
  std::string values;
  for (std::int64_t row = 0; row < (*rows)->num_rows(); ++row) {
    const auto scalar = (*rows)->column(0)->GetScalar(row).ValueOrDie();
    values += (row > 0 ? " " : "") + scalar->ToString();
  }
  return values;
}

TEST(ColumnCastTest, ForeignTypesBecomeThoseOfTheSchema) {
  struct Case {
    std::shared_ptr<arrow::DataType> from;
    const char* json;
    const char* to;
    const char* values;
  };
  const Case cases[] = {
      {arrow::int32(), "[1, null]", "long", "1 null"},
      {arrow::int8(), "[-1]", "int", "-1"},
      {arrow::uint64(), "[7]", "long", "7"},
      {arrow::int64(), "[7]", "int", "7"},
      {arrow::int64(), "[7]", "double", "7"},
      {arrow::float32(), "[0.5]", "double", "0.5"},
      {arrow::int32(), "[7]", "decimal(12, 2)", "7.00"},
      {arrow::decimal128(5, 1), "[\"1.5\"]", "decimal(9, 2)", "1.50"},
      {arrow::decimal256(50, 1), "[\"1.5\"]", "decimal(9, 2)", "1.50"},
      {arrow::date64(), "[86400000]", "date", "1970-01-02"},
      {arrow::time32(TimeUnit::SECOND), "[1]", "time", "00:00:01.000000"},
      {arrow::time64(TimeUnit::NANO), "[1000]", "time", "00:00:00.000001"},
      {arrow::timestamp(TimeUnit::SECOND), "[1]", "timestamp",
       "1970-01-01 00:00:01.000000"},
      {arrow::timestamp(TimeUnit::MILLI, "UTC"), "[-1]", "timestamptz",
       "1969-12-31 23:59:59.999000Z"},
      {arrow::timestamp(TimeUnit::MICRO, "Europe/Berlin"), "[1]", "timestamptz",
       "1970-01-01 00:00:00.000001Z"},
      {arrow::timestamp(TimeUnit::NANO), "[1000]", "timestamptz",
       "1970-01-01 00:00:00.000001Z"},
      {arrow::timestamp(TimeUnit::MICRO, "UTC"), "[1]", "timestamp",
       "1970-01-01 00:00:00.000001"},
      {arrow::timestamp(TimeUnit::MICRO), "[1]", "timestamp_ns",
       "1970-01-01 00:00:00.000001000"},
      {arrow::large_utf8(), "[\"x\", null]", "string", "x null"},
      {arrow::utf8_view(), "[\"x\"]", "string", "x"},
      {arrow::binary(), "[\"x\"]", "string", "x"},
      {arrow::dictionary(arrow::int8(), arrow::utf8()), "[\"x\", null, \"x\"]", "string",
       "x null x"},
      {arrow::dictionary(arrow::int32(), arrow::int32()), "[5]", "long", "5"},
      {arrow::large_binary(), "[\"x\"]", "binary", "x"},
      {arrow::fixed_size_binary(2), "[\"xy\"]", "binary", "xy"},
      {arrow::null(), "[null]", "date", "null"},
  };
  for (const Case& expected : cases) {
    std::string values = Become(expected.from, expected.json, TypeOf(expected.to));
    EXPECT_EQ(values, expected.values) << *expected.from << " to " << expected.to;
  }
}

TEST(ColumnCastTest, WhatWouldLoseSomethingIsAnError) {
  struct Case {
    std::shared_ptr<arrow::DataType> from;
    const char* json;
    const char* to;
    const char* value;
  };
  const Case cases[] = {
      {arrow::int64(), "[2147483648]", "int", "2147483648"},
      {arrow::uint64(), "[9223372036854775808]", "long", "9223372036854775808"},
      {arrow::int64(), "[9007199254740993]", "double", "9007199254740993"},
      {arrow::decimal128(5, 2), "[\"1.55\"]", "decimal(9, 1)", "1.55: "},
      {arrow::int32(), "[1000]", "decimal(2, 0)", "1000: "},
      {arrow::timestamp(TimeUnit::NANO), "[1]", "timestamp",
       "has nanoseconds; round it, or make the column timestamp_ns"},
      {arrow::timestamp(TimeUnit::SECOND), "[9223372036855]", "timestamp",
       "9223372036855"},
      {arrow::time64(TimeUnit::NANO), "[1]", "time", "would lose data: 1"},
  };
  for (const Case& expected : cases) {
    EXPECT_THAT(Become(expected.from, expected.json, TypeOf(expected.to)),
                AllOf(HasSubstr("column 'c' does not fit "), HasSubstr(expected.value)))
        << *expected.from << " to " << expected.to;
  }
}

TEST(ColumnCastTest, TypesThatHaveNothingInCommonAreRefused) {
  EXPECT_EQ(Become(arrow::utf8(), "[]", TypeOf("long")),
            "column 'c' is of type string in the file, which cannot become long");
  EXPECT_THAT(Become(arrow::float64(), "[]", TypeOf("float")),
              HasSubstr("cannot become"));
  EXPECT_THAT(Become(arrow::float64(), "[]", TypeOf("long")), HasSubstr("cannot become"));
  EXPECT_THAT(Become(arrow::int32(), "[]", TypeOf("boolean")),
              HasSubstr("cannot become"));
  EXPECT_THAT(
      Become(arrow::list(arrow::utf8()), "[]", Type::List(Field("", TypeOf("long")))),
      HasSubstr("column 'c.element' is of type string"));
}

TEST(ColumnCastTest, IntegersAreTimesOnlyInADeclaredUnit) {
  EXPECT_THAT(Become(arrow::int64(), "[1000]", TypeOf("timestamptz")),
              HasSubstr("declare it with --time-unit 'c=s'"));
  EXPECT_EQ(Become(arrow::int64(), "[1000]", TypeOf("timestamptz"),
                   {.time_units = {{"c", firn::sources::TimeUnit::kMilliseconds}}}),
            "1970-01-01 00:00:01.000000Z");
}

TEST(ColumnCastTest, NestedColumnsAreMatchedByName) {
  const auto from =
      arrow::struct_({arrow::field("b", arrow::dictionary(arrow::int8(), arrow::utf8())),
                      arrow::field("a", arrow::int32())});
  const Type to = Type::Struct({Field("a", TypeOf("long")), Field("gone", TypeOf("date")),
                                Field("b", TypeOf("string"))});
  EXPECT_EQ(Become(from, R"([{"a": 1, "b": "x"}, null, {"a": null, "b": "y"}])", to),
            "{a:int64 = 1, gone:date32[day] = null, b:string = x} null "
            "{a:int64 = null, gone:date32[day] = null, b:string = y}");
  EXPECT_THAT(Become(from, "[]", Type::Struct({Field("a", TypeOf("long"))})),
              HasSubstr("the table has no column 'c.b'"));
}

TEST(ColumnCastTest, ListsAndMapsAreCast) {
  const Type longs = Type::List(Field("", TypeOf("long")));
  const std::string expected =
      "list<element: int64>[1, null] null list<element: int64>[]";
  EXPECT_EQ(Become(arrow::list(arrow::int32()), "[[1, null], null, []]", longs),
            expected);
  EXPECT_EQ(Become(arrow::large_list(arrow::int16()), "[[1, null], null, []]", longs),
            expected);
  EXPECT_EQ(Become(arrow::fixed_size_list(arrow::int64(), 2), "[[1, 2]]", longs),
            "list<element: int64>[1, 2]");
  const auto map = arrow::map(arrow::large_utf8(), arrow::timestamp(TimeUnit::SECOND));
  EXPECT_EQ(
      Become(map, R"([[["k", 1]], null])",
             Type::Map(Field("", TypeOf("string")), Field("", TypeOf("timestamp")))),
      "map<string, timestamp[us]>[{key:string = k, value:timestamp[us] = "
      "1970-01-01 00:00:01.000000}] null");
}

TEST(ColumnCastTest, SlicesAreCast) {
  const auto type = arrow::struct_({arrow::field("l", arrow::list(arrow::int32()))});
  const auto batch =
      BatchOf({{"c", type, R"([{"l": [1]}, {"l": [2, 3]}, null, {"l": [4]}])"}});
  const types::Schema schema = SchemaOf(
      {Field("c", Type::Struct({Field("more", TypeOf("int")),
                                Field("l", Type::List(Field("", TypeOf("long"))))}))});
  const auto cast = ColumnCast::Make(*batch->schema(), schema, {}).ValueOrDie();
  const auto rows = cast.Cast(*batch->Slice(1, 2)).ValueOrDie();
  ASSERT_TRUE(rows->ValidateFull().ok()) << rows->ValidateFull();
  EXPECT_EQ(rows->column(0)->GetScalar(0).ValueOrDie()->ToString(),
            "{more:int32 = null, l:list<element: int64> = list<element: int64>[2, 3]}");
  EXPECT_TRUE(rows->column(0)->IsNull(1));
}

TEST(ColumnCastTest, ColumnsMustBeThoseOfTheTable) {
  const types::Schema schema = SchemaOf(
      {Field("a", TypeOf("long"), /*required=*/true), Field("b", TypeOf("int"))});
  const TestColumn a = {"a", arrow::int64(), "[1]"};
  const TestColumn x = {"x", arrow::int64(), "[1]"};
  EXPECT_EQ(ErrorText(Cast({a, x}, schema).status()),
            "the table has no column 'x'; --evolve-schema adds it, --ignore-unknown "
            "leaves it out");
  EXPECT_EQ(ErrorText(Cast({{"b", arrow::int32(), "[1]"}}, schema).status()),
            "column 'a' is required, but not there");
  EXPECT_TRUE(Cast({a, x}, schema, {.ignore_unknown = true}).ok());
  EXPECT_THAT(ErrorText(Cast({x}, schema, {.ignore_unknown = true}).status()),
              testing::HasSubstr("the table has none of the file's columns; it has a"));
  EXPECT_TRUE(Cast({a, {"x", arrow::null(), "[null]"}}, schema).ok());
  EXPECT_EQ(ErrorText(Cast({a, a}, schema).status()), "two columns have the name 'a'");
}

TEST(ColumnCastTest, WhatIsMissingHasItsWriteDefault) {
  types::Field number = Field("n", TypeOf("int"), /*required=*/true);
  number.unknown["write-default"] = "7";
  types::Field city = Field("city", TypeOf("string"));
  city.unknown["write-default"] = R"("x")";
  const types::Schema schema = SchemaOf(
      {number, Field("place", Type::Struct({city, Field("zip", TypeOf("int"))}))});
  const auto rows = Cast({{"place", arrow::struct_({arrow::field("zip", arrow::int32())}),
                           R"([{"zip": 5}, null])"}},
                         schema)
                        .ValueOrDie();
  EXPECT_EQ(rows->column(0)->GetScalar(1).ValueOrDie()->ToString(), "7");
  EXPECT_EQ(rows->column(1)->GetScalar(0).ValueOrDie()->ToString(),
            "{city:string = x, zip:int32 = 5}");
  EXPECT_TRUE(rows->column(1)->IsNull(1));
}

}  // namespace
}  // namespace firn::sources
