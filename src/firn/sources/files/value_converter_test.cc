#include "firn/sources/files/value_converter.h"

#include <map>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/arrow_types.h"
#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using types::Type;

constexpr const char* kNull = nullptr;

Type TypeOf(std::string_view text) {
  return types::ParsePrimitiveType(text).ValueOrDie();
}

types::Field Field(FieldId id, std::string name, std::string_view type,
                   bool required = false) {
  return {.id = id, .name = std::move(name), .type = TypeOf(type), .required = required};
}

using Texts = std::vector<std::pair<std::string, std::vector<const char*>>>;

std::shared_ptr<arrow::RecordBatch> Batch(const Texts& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, values] : columns) {
    arrow::StringBuilder builder;
    for (const char* value : values) {
      EXPECT_TRUE(value == kNull ? builder.AppendNull().ok()
                                 : builder.Append(value).ok());
    }
    fields.push_back(arrow::field(name, arrow::utf8()));
    arrays.push_back(builder.Finish().ValueOrDie());
  }
  const std::int64_t rows = arrays[0]->length();
  return arrow::RecordBatch::Make(arrow::schema(fields), rows, std::move(arrays));
}

Result<ConvertedBatch> Convert(types::Schema schema, const Texts& columns,
                               ConverterOptions options = {}) {
  const auto texts = Batch(columns);
  FIRN_ASSIGN_OR_RETURN(
      ValueConverter converter,
      ValueConverter::Make(std::move(schema), texts->schema()->field_names(),
                           std::move(options)));
  return converter.Convert(*texts);
}

/// Column `index` as people read it.
std::vector<std::string> Printed(const ConvertedBatch& converted,
                                 const types::Schema& schema, int index) {
  std::vector<std::string> values;
  const Type& type = schema.fields[static_cast<std::size_t>(index)].type;
  for (std::int64_t row = 0; row < converted.batch->num_rows(); ++row) {
    values.push_back(
        ToText(type, types::ValueAt(*converted.batch->column(index), type, row)));
  }
  return values;
}

TEST(ValueConverterTest, ConvertsEveryPrimitiveType) {
  const std::map<std::string, const char*> values = {
      {"boolean", "true"},
      {"int", "-7"},
      {"long", "9223372036854775807"},
      {"float", "0.5"},
      {"double", "-0.25"},
      {"decimal(38, 2)", "-123456789012345678901234567890.12"},
      {"date", "1969-12-31"},
      {"time", "23:59:59"},
      {"timestamp", "2013-01-01T05:00:00"},
      {"timestamptz", "2013-01-01T10:00:00+00:00"},
      {"timestamp_ns", "2013-01-01T05:00:00.000000001"},
      {"timestamptz_ns", "2013-01-01T05:00:00.000000001+00:00"},
      {"string", "text"},
      {"uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
      {"fixed[2]", "00ff"},
      {"binary", "00ff01"}};
  for (const auto& [type, value] : values) {
    const types::Schema schema = {.fields = {Field(1, "c", type)}};
    const auto converted = Convert(schema, {{"c", {value, kNull}}}).ValueOrDie();
    EXPECT_TRUE(converted.batch->ValidateFull().ok());
    EXPECT_THAT(Printed(converted, schema, 0), ElementsAre(value, "null")) << type;
    EXPECT_TRUE(converted.rejected.empty());
  }
}

TEST(ValueConverterTest, ColumnsAreMatchedByName) {
  const types::Schema schema = {.fields = {Field(1, "a", "long"),
                                           Field(2, "gone", "double"),
                                           Field(3, "b", "string")}};
  const auto converted = Convert(schema, {{"b", {"x"}}, {"a", {"1"}}}).ValueOrDie();
  EXPECT_TRUE(converted.batch->schema()->Equals(*types::ToArrowSchema(schema), true));
  EXPECT_THAT(Printed(converted, schema, 0), ElementsAre("1"));
  EXPECT_THAT(Printed(converted, schema, 1), ElementsAre("null"));
  EXPECT_THAT(Printed(converted, schema, 2), ElementsAre("x"));
}

TEST(ValueConverterTest, RowsThatDoNotFitAreLeftOutWithTheirReason) {
  const types::Schema schema = {.fields = {Field(1, "a", "long"), Field(2, "day", "date"),
                                           Field(3, "s", "string")}};
  const auto converted =
      Convert(schema, {{"a", {"x", "2", "3", "4", "5"}},
                       {"day", {"y", "2013-02-30", kNull, "today", "2013-01-01"}},
                       {"s", {"a", "b", "c", "d", "e"}}})
          .ValueOrDie();
  std::map<std::int64_t, std::string> reasons;
  for (const auto& [row, rejection] : converted.rejected) reasons[row] = rejection.text;
  EXPECT_THAT(reasons,
              ElementsAre(Pair(0, "column 'a': 'x' is not of type long"),
                          Pair(1, "column 'day': '2013-02-30' is not of type date"),
                          Pair(3, "column 'day': 'today' is not of type date")));
  EXPECT_THAT(converted.rows, ElementsAre(2, 4));
  EXPECT_THAT(Printed(converted, schema, 0), ElementsAre("3", "5"));
  EXPECT_THAT(Printed(converted, schema, 1), ElementsAre("null", "2013-01-01"));
  EXPECT_THAT(Printed(converted, schema, 2), ElementsAre("c", "e"));
}

TEST(ValueConverterTest, AllRowsMayBeRejected) {
  const types::Schema schema = {.fields = {Field(1, "a", "long")}};
  const auto converted = Convert(schema, {{"a", {"x", "y"}}}).ValueOrDie();
  EXPECT_EQ(converted.batch->num_rows(), 0);
  EXPECT_EQ(converted.rejected.size(), 2u);
}

TEST(ValueConverterTest, NullInARequiredColumnIsRejected) {
  const types::Schema schema = {.fields = {Field(1, "a", "string", /*required=*/true)}};
  const auto converted = Convert(schema, {{"a", {"x", kNull}}}).ValueOrDie();
  EXPECT_THAT(converted.rows, ElementsAre(0));
  EXPECT_THAT(converted.rejected.at(1).text, HasSubstr("'a' is null"));
}

TEST(ValueConverterTest, LongValuesAreCutInReasons) {
  const std::string value(5000, '7');
  const types::Schema schema = {.fields = {Field(1, "a", "long")}};
  const auto converted = Convert(schema, {{"a", {value.c_str()}}}).ValueOrDie();
  EXPECT_LT(converted.rejected.at(0).text.size(), 200u);
  EXPECT_THAT(converted.rejected.at(0).text, HasSubstr("(5000 bytes)"));
}

TEST(ValueConverterTest, ColumnsThatDoNotFitTheTableAreErrors) {
  const types::Schema schema = {.fields = {Field(1, "a", "long", /*required=*/true)}};
  EXPECT_THAT(ErrorText(Convert(schema, {{"a", {"1"}}, {"b", {"1"}}}).status()),
              HasSubstr("no column 'b'"));
  EXPECT_THAT(
      ErrorText(Convert({.fields = {Field(1, "a", "long", true), Field(2, "b", "long")}},
                        {{"b", {"1"}}})
                    .status()),
      HasSubstr("'a' is required"));
  EXPECT_THAT(
      ErrorText(Convert({.fields = {{.id = 1, .name = "s", .type = Type::Struct({})}}},
                        {{"s", {"1"}}})
                    .status()),
      HasSubstr("'s': text cannot give"));
}

TEST(ValueConverterTest, UnknownColumnsMayBeIgnored) {
  const types::Schema schema = {.fields = {Field(1, "a", "long")}};
  const auto converted =
      Convert(schema, {{"a", {"1"}}, {"b", {"x"}}}, {.ignore_unknown = true})
          .ValueOrDie();
  EXPECT_THAT(Printed(converted, schema, 0), ElementsAre("1"));
}

TEST(ValueConverterTest, AnEmptyTextIsNullWhereItIsNoValue) {
  const types::Schema schema = {
      .fields = {Field(1, "n", "long"), Field(2, "at", "timestamp"),
                 Field(3, "s", "string"), Field(4, "b", "binary")}};
  const auto converted =
      Convert(schema, {{"n", {""}}, {"at", {""}}, {"s", {""}}, {"b", {""}}}).ValueOrDie();
  EXPECT_THAT(converted.rejected, testing::IsEmpty());
  EXPECT_EQ(converted.batch->column(0)->null_count(), 1);
  EXPECT_EQ(converted.batch->column(1)->null_count(), 1);
  EXPECT_EQ(converted.batch->column(2)->null_count(), 0);
  EXPECT_EQ(converted.batch->column(3)->null_count(), 0);
}

TEST(ValueConverterTest, AKnownColumnHasToBeThere) {
  const types::Schema schema = {.fields = {Field(1, "a", "long")}};
  const auto failure = [&](const Texts& texts, ConverterOptions options) {
    return ErrorText(Convert(schema, texts, std::move(options)).status());
  };
  EXPECT_EQ(failure({{"b", {"1"}}, {"c", {"1"}}}, {.ignore_unknown = true}),
            "the table has none of the file's columns; it has a, and the file b, c; "
            "--ignore-unknown leaves out others, but one has to be there");
  EXPECT_THAT(failure({{"a;c", {"1"}}}, {.ignore_unknown = true}),
              HasSubstr("if ';' separates values, give --delimiter ';'"));
  EXPECT_THAT(failure({{"a,c", {"1"}}}, {.delimiter = '\t'}),
              HasSubstr("if ',' separates values, give --delimiter ','"));
}

TEST(ValueConverterTest, NumbersAreTimesOnlyInADeclaredUnit) {
  const types::Schema schema = {.fields = {Field(1, "ts", "timestamptz")}};
  const Texts numbers = {{"ts", {kNull, "1731508712229", "2013-01-01T00:00:00Z"}}};
  EXPECT_THAT(ErrorText(Convert(schema, numbers).status()),
              HasSubstr("column 'ts': '1731508712229' is a number"));
  const auto converted =
      Convert(schema, numbers, {.time_units = {{"ts", TimeUnit::kMilliseconds}}})
          .ValueOrDie();
  EXPECT_THAT(Printed(converted, schema, 0),
              ElementsAre("null", "2024-11-13T14:38:32.229000+00:00",
                          "2013-01-01T00:00:00+00:00"));
}

TEST(ValueConverterTest, StrayNumberAmongTimesIsRejectedAlone) {
  const types::Schema schema = {.fields = {Field(1, "ts", "timestamptz")}};
  const auto converted =
      Convert(schema, {{"ts", {"2013-01-01T00:00:00Z", "0"}}}).ValueOrDie();
  EXPECT_THAT(converted.rejected.at(1).text, HasSubstr("--time-unit 'ts=s'"));
}

TEST(ValueConverterTest, AMissingColumnHasItsWriteDefault) {
  types::Field number = Field(2, "n", "int", /*required=*/true);
  number.unknown["write-default"] = "7";
  const types::Schema schema = {.fields = {Field(1, "id", "long"), number}};
  const auto converted = Convert(schema, {{"id", {"1", "2"}}}).ValueOrDie();
  EXPECT_THAT(Printed(converted, schema, 1), ElementsAre("7", "7"));
  const auto null = Convert(schema, {{"id", {"1"}}, {"n", {kNull}}}).ValueOrDie();
  EXPECT_THAT(
      null.rejected,
      ElementsAre(Pair(0, testing::Field(&Rejection::text, HasSubstr("'n' is null")))));
}

}  // namespace
}  // namespace firn::sources
