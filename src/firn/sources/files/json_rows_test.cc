#include "firn/sources/files/json_rows.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/arrow_types.h"
#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
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

types::Schema OneColumn(std::string_view type) {
  return SchemaOf({Field("c", TypeOf(type))});
}

testing::Matcher<Rejection> SaysThat(const std::string& text) {
  return testing::Field(&Rejection::text, HasSubstr(text));
}

struct Outcome {
  std::shared_ptr<arrow::RecordBatch> rows;
  Rejections rejected;
};

Result<Outcome> Read(const types::Schema& schema,
                     const std::vector<std::string>& documents,
                     JsonRowsOptions options = {}) {
  FIRN_ASSIGN_OR_RETURN(JsonRows rows, JsonRows::Make(schema, std::move(options)));
  for (const std::string& document : documents) {
    FIRN_RETURN_NOT_OK(rows.Add(document));
  }
  Outcome outcome;
  FIRN_ASSIGN_OR_RETURN(outcome.rows, rows.Finish(outcome.rejected));
  EXPECT_TRUE(outcome.rows->ValidateFull().ok()) << outcome.rows->ValidateFull();
  EXPECT_TRUE(outcome.rows->schema()->Equals(*types::ToArrowSchema(schema), true));
  for (int i = 0; i < outcome.rows->num_columns(); ++i) {
    EXPECT_TRUE(outcome.rows->column(i)->type()->Equals(
        *outcome.rows->schema()->field(i)->type()));
  }
  return outcome;
}

/// Rows as Arrow prints them, columns parted by '|'.
std::vector<std::string> Rows(const Outcome& outcome) {
  std::vector<std::string> rows;
  for (std::int64_t row = 0; row < outcome.rows->num_rows(); ++row) {
    std::vector<std::string> values;
    for (const auto& column : outcome.rows->columns()) {
      values.push_back(column->GetScalar(row).ValueOrDie()->ToString());
    }
    rows.push_back(fmt::format("{}", fmt::join(values, "|")));
  }
  return rows;
}

/// The value that a column of `type` takes from `{"c": <json>}`, or why it does not.
std::string Taken(std::string_view type, std::string_view json,
                  JsonRowsOptions options = {}) {
  const auto outcome =
      Read(OneColumn(type), {fmt::format(R"({{"c": {}}})", json)}, std::move(options));
  if (!outcome.ok()) return ErrorText(outcome.status());
  if (!outcome->rejected.empty()) return outcome->rejected.begin()->second.text;
  return ToText(TypeOf(type), types::ValueAt(*outcome->rows->column(0), TypeOf(type), 0));
}

TEST(JsonRowsTest, TakesValuesOfEveryType) {
  struct Case {
    const char* type;
    const char* json;
    const char* value;
  };
  const Case cases[] = {
      {"boolean", "true", "true"},
      {"int", "-7", "-7"},
      {"long", "9223372036854775807", "9223372036854775807"},
      {"float", "0.5", "0.5"},
      {"double", "1e3", "1000.0"},
      {"double", "7", "7.0"},
      {"decimal(38, 2)", "123456789012345678901234567890.12",
       "123456789012345678901234567890.12"},
      {"decimal(9, 2)", "\"1.50\"", "1.50"},
      {"date", "\"1969-12-31\"", "1969-12-31"},
      {"time", "\"23:59:59\"", "23:59:59"},
      {"timestamp", "\"2013-01-01 05:00:00\"", "2013-01-01T05:00:00"},
      {"timestamptz", "\"2013-01-01T05:00:00+01:00\"", "2013-01-01T04:00:00+00:00"},
      {"timestamptz_ns", "\"2013-01-01T05:00:00.000000001Z\"",
       "2013-01-01T05:00:00.000000001+00:00"},
      {"string", "\"x\\u00e4\"", "xä"},
      {"uuid", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"",
       "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
      {"fixed[2]", "\"00ff\"", "00ff"},
      {"binary", "\"00ff01\"", "00ff01"},
  };
  for (const Case& expected : cases) {
    EXPECT_EQ(Taken(expected.type, expected.json), expected.value)
        << expected.type << " " << expected.json;
    EXPECT_EQ(Taken(expected.type, "null"), "null") << expected.type;
  }
  for (const char* text : {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""}) {
    EXPECT_THAT(Taken("double", text), testing::Not(HasSubstr("not of type"))) << text;
  }
}

TEST(JsonRowsTest, WhatIsOfAnotherKindIsRejected) {
  EXPECT_EQ(Taken("long", "\"12\""), "column 'c': the string '12' is not of type long");
  EXPECT_EQ(Taken("long", "9223372036854775808"),
            "column 'c': 9223372036854775808 is not of type long");
  EXPECT_EQ(Taken("long", "1.0"), "column 'c': 1.0 is not of type long");
  EXPECT_EQ(Taken("int", "2147483648"), "column 'c': 2147483648 is not of type int");
  EXPECT_EQ(Taken("long", "true"), "column 'c': a boolean is not of type long");
  EXPECT_EQ(Taken("boolean", "1"), "column 'c': 1 is not of type boolean");
  EXPECT_EQ(Taken("boolean", "\"true\""),
            "column 'c': the string 'true' is not of type boolean");
  EXPECT_EQ(Taken("double", "\"0.5\""),
            "column 'c': the string '0.5' is not of type double");
  EXPECT_EQ(Taken("double", "1e999"), "column 'c': 1e999 is not of type double");
  EXPECT_EQ(Taken("decimal(9, 2)", "1.505"),
            "column 'c': 1.505 is not of type decimal(9, 2)");
  EXPECT_EQ(Taken("date", "15000"), "column 'c': 15000 is not of type date");
  EXPECT_EQ(Taken("long", "[1]"), "column 'c': an array is not of type long");
  EXPECT_EQ(Taken("long", "{}"), "column 'c': an object is not of type long");
}

TEST(JsonRowsTest, StringsTakeTheTextOfAnything) {
  EXPECT_EQ(Taken("string", "1.50"), "1.50");
  EXPECT_EQ(Taken("string", "false"), "false");
  EXPECT_EQ(Taken("string", R"({"a": [1,  "x"]})"), R"({"a": [1,  "x"]})");
  EXPECT_EQ(Taken("string", "[]"), "[]");
}

TEST(JsonRowsTest, NumbersAreTimesOnlyInADeclaredUnit) {
  const JsonRowsOptions millis = {.time_units = {{"c", TimeUnit::kMilliseconds}}};
  EXPECT_EQ(Taken("timestamptz", "1731508712229", millis),
            "2024-11-13T14:38:32.229000+00:00");
  EXPECT_EQ(Taken("timestamptz", "\"2024-11-13T14:38:32Z\"", millis),
            "2024-11-13T14:38:32+00:00");
  EXPECT_THAT(Taken("timestamptz", "1731508712229"),
              HasSubstr("declare it with --time-unit 'c=s' (or ms, us, ns), or with"));
}

TEST(JsonRowsTest, UndeclaredUnitFailsOnlyAsTheFirstValue) {
  const types::Schema schema = OneColumn("timestamptz");
  EXPECT_THAT(ErrorText(Read(schema, {R"({"c":null})", R"({"c":5})"}).status()),
              HasSubstr("column 'c': '5' is a number"));
  const auto outcome =
      Read(schema, {R"({"c":"2013-01-01T00:00:00Z"})", R"({"c":5})"}).ValueOrDie();
  EXPECT_THAT(outcome.rejected, ElementsAre(Pair(1, SaysThat("'5' is a number"))));
}

types::Schema Nested() {
  return SchemaOf(
      {Field("id", TypeOf("long"), /*required=*/true),
       Field("place", Type::Struct({Field("lat", TypeOf("double")),
                                    Field("name", TypeOf("string"), /*required=*/true)})),
       Field("tags", Type::List(Field("", TypeOf("string")))),
       Field("counts", Type::Map(Field("", TypeOf("int")), Field("", TypeOf("long"))))});
}

TEST(JsonRowsTest, TakesNestedValues) {
  const auto outcome =
      Read(Nested(), {R"({"counts":{"1":10,"2":null},"id":1,"tags":["a",null],
                "place":{"name":"x","lat":0.5}})",
                      R"({"id":2,"tags":[],"counts":{},"place":null})", R"({"id":3})"})
          .ValueOrDie();
  EXPECT_THAT(outcome.rejected, IsEmpty());
  EXPECT_THAT(Rows(outcome),
              ElementsAre("1|{lat:double = 0.5, name:string = x}|list<element: "
                          "string>[a, null]|map<int32, int64>[{key:int32 = 1, "
                          "value:int64 = 10}, {key:int32 = 2, value:int64 = null}]",
                          testing::_, testing::_));
  EXPECT_EQ(outcome.rows->column(1)->null_count(), 2);
  EXPECT_EQ(outcome.rows->column(2)->null_count(), 1);
  EXPECT_EQ(outcome.rows->column(3)->null_count(), 1);
}

TEST(JsonRowsTest, OneBadRowLeavesTheOthersWhole) {
  const std::vector<std::string> bad = {
      R"({"id":1,"tags":["a",5,{"x":]})",
      R"({"id":1,"place":{"lat":"x","name":"n"}})",
      R"({"id":1,"place":{"lat":1}})",
      R"({"id":1,"place":[1]})",
      R"({"id":1,"counts":{"x":1}})",
      R"({"id":1,"counts":{"1":"x"}})",
      R"({"id":1,"counts":{"1":1,)",
      R"({"id":1,"tags":{}})",
      R"({"tags":["a"]})",
      R"({"id":null})",
      R"({"id":1,"id":1})",
      R"({"id":1,"more":1})",
      R"({"id":1,"place":{"name":"n","more":{"a":1}}})",
      R"({"id":1} {})",
      R"([{"id":1}])",
      "5",
      "",
      "{\"id\":1,\"tags\":[\"\xff\"]}",
      R"({"id":1,"place":{"name":"n")",
  };
  std::vector<std::string> documents;
  for (const std::string& document : bad) {
    documents.push_back(R"({"id":7,"tags":["t"],"counts":{"7":7},"place":{"name":"p"}})");
    documents.push_back(document);
  }
  const auto outcome = Read(Nested(), documents).ValueOrDie();
  EXPECT_EQ(outcome.rejected.size(), bad.size());
  const std::vector<std::string> rows = Rows(outcome);
  ASSERT_EQ(rows.size(), bad.size());
  for (const std::string& row : rows) EXPECT_EQ(row, rows[0]);
  const auto reason = [&](std::int64_t index) {
    const auto found = outcome.rejected.find(2 * index + 1);
    return found == outcome.rejected.end() ? "" : found->second.text;
  };
  EXPECT_THAT(reason(0), HasSubstr("not JSON: no value at byte"));
  EXPECT_EQ(reason(1), "column 'place.lat': the string 'x' is not of type double");
  EXPECT_EQ(reason(2), "column 'place.name' is null, but required as string");
  EXPECT_THAT(reason(3), HasSubstr("column 'place': an array is not of type struct"));
  EXPECT_EQ(reason(4), "column 'counts.key': 'x' is not of type int");
  EXPECT_EQ(reason(5), "column 'counts.value': the string 'x' is not of type long");
  EXPECT_EQ(reason(8), "column 'id' is null, but required as long");
  EXPECT_EQ(reason(9), "column 'id' is null, but required as long");
  EXPECT_EQ(reason(10), "column 'id' is there twice");
  EXPECT_EQ(reason(11), "the table has no column 'more'");
  EXPECT_EQ(reason(12), "the table has no column 'place.more'");
  EXPECT_EQ(reason(14), "an array, but a record is an object");
  EXPECT_EQ(reason(17), "not UTF-8");
}

TEST(JsonRowsTest, UnknownFieldsMayBeIgnored) {
  const types::Schema schema = OneColumn("long");
  const std::vector<std::string> documents = {R"({"c":1,"x":{"y":[1]}})",
                                              R"({"x":2,"c":2})"};
  const auto outcome = Read(schema, documents, {.ignore_unknown = true}).ValueOrDie();
  EXPECT_THAT(Rows(outcome), ElementsAre("1", "2"));
}

TEST(JsonRowsTest, UnknownFieldsThatSayNothingAreLeftOut) {
  const auto outcome =
      Read(OneColumn("long"),
           {R"({"c":1,"x":null})", R"({"c":2,"x":[]})", R"({"c":3,"x":{"y":[null,{}]}})",
            R"({"c":4,"x":{"y":[null,0]}})"})
          .ValueOrDie();
  EXPECT_THAT(Rows(outcome), ElementsAre("1", "2", "3"));
}

TEST(JsonRowsTest, CountsRowsSinceTheLastFinish) {
  JsonRows rows = JsonRows::Make(OneColumn("long"), {}).ValueOrDie();
  ASSERT_TRUE(rows.Add(R"({"c":1})").ok());
  ASSERT_TRUE(rows.Add("x").ok());
  EXPECT_EQ(rows.row_count(), 2);
  Rejections rejected;
  EXPECT_EQ(rows.Finish(rejected).ValueOrDie()->num_rows(), 1);
  EXPECT_THAT(rejected, ElementsAre(Pair(1, testing::_)));
  ASSERT_TRUE(rows.Add("x").ok());
  EXPECT_EQ(rows.Finish(rejected).ValueOrDie()->num_rows(), 0);
  EXPECT_THAT(rejected, ElementsAre(Pair(0, testing::_)));
}

TEST(JsonRowsTest, EachRejectionHasAClass) {
  const types::Schema schema = SchemaOf({Field("c", TypeOf("long"), /*required=*/true)});
  const auto class_of = [&](const std::string& document) {
    return Read(schema, {document})->rejected.at(0).reason_class;
  };
  for (const char* document : {"x", "[]", R"({"c":1)", R"({"c":1,"c":1})"}) {
    EXPECT_EQ(class_of(document), ReasonClass::kMalformed) << document;
  }
  EXPECT_EQ(class_of(R"({"c":1,"d":1})"), ReasonClass::kUnknownColumn);
  EXPECT_EQ(class_of("{}"), ReasonClass::kMissingValue);
  for (const char* document : {R"({"c":"x"})", R"({"c":[]})", R"({"c":1.5})"}) {
    EXPECT_EQ(class_of(document), ReasonClass::kInvalidValue) << document;
  }
}

TEST(JsonRowsTest, AMapWithOneKeyTwiceIsRejected) {
  const types::Schema schema = SchemaOf(
      {Field("m", Type::Map(Field("", TypeOf("string")), Field("", TypeOf("long"))))});
  const auto outcome =
      Read(schema, {R"({"m": {"a": 1, "b": 2}})", R"({"m": {"a": 1, "a": 2}})"})
          .ValueOrDie();
  EXPECT_EQ(outcome.rows->num_rows(), 1);
  ASSERT_EQ(outcome.rejected.size(), 1U);
  EXPECT_EQ(outcome.rejected.at(1).text, "column 'm': the key 'a' is there twice");
}

types::Field WithDefault(types::Field field, const char* write_default) {
  field.unknown["write-default"] = write_default;
  return field;
}

TEST(JsonRowsTest, WhatIsMissingHasItsWriteDefault) {
  const types::Schema schema = SchemaOf(
      {Field("id", TypeOf("long")),
       WithDefault(Field("n", TypeOf("int"), /*required=*/true), "7"),
       Field("place",
             Type::Struct({WithDefault(Field("city", TypeOf("string")), R"("x")"),
                           Field("zip", TypeOf("int"))})),
       WithDefault(Field("tags", Type::List(Field("element", TypeOf("string")))),
                   R"(["a"])")});
  const Outcome outcome =
      Read(schema, {R"({"id":1})", R"({"id":2,"n":8,"place":{},"tags":null})",
                    R"({"id":3,"place":{"city":null}})", R"({"id":4,"n":null})",
                    R"({"id":"broken"})"})
          .ValueOrDie();
  EXPECT_THAT(Rows(outcome),
              ElementsAre("1|7|null|list<element: string>[a]",
                          "2|8|{city:string = x, zip:int32 = null}|null",
                          "3|7|{city:string = null, zip:int32 = null}|list<element: "
                          "string>[a]"));
  EXPECT_THAT(outcome.rejected,
              ElementsAre(Pair(3, SaysThat("'n' is null")), Pair(4, SaysThat("'id'"))));
}

TEST(JsonRowsTest, AWriteDefaultThatIsNoValueIsNamed) {
  const types::Schema schema =
      SchemaOf({WithDefault(Field("n", TypeOf("int")), R"("many")")});
  EXPECT_THAT(ErrorText(JsonRows::Make(schema, {}).status()),
              HasSubstr("write-default of column 'n'"));
}

}  // namespace
}  // namespace firn::sources
