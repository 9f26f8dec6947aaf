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

std::string PlaceOf(std::int64_t row) { return fmt::format("line {}", row + 2); }

std::string Inferred(const std::vector<const char*>& values) {
  SchemaInference inference(TimeUnits{});
  inference.AddTexts(*Column("c", values), PlaceOf);
  return inference.Finish().ValueOrDie().schema.fields[0].type.ToString();
}

TEST(SchemaInferenceTest, FindsTheNarrowestType) {
  EXPECT_EQ(Inferred({"1", "-2", "0"}), "long");
  EXPECT_EQ(Inferred({"1", "2.5"}), "double");
  EXPECT_EQ(Inferred({"1e3", "NaN", "-inf"}), "double");
  EXPECT_EQ(Inferred({"true", "false"}), "boolean");
  EXPECT_EQ(Inferred({"True", "FALSE"}), "boolean");
  EXPECT_EQ(Inferred({"2013-01-01", "1969-12-31"}), "date");
  EXPECT_EQ(Inferred({"2013-01-01T10:00:00Z", "2013-01-01 10:00:00.5+01:00"}),
            "timestamptz");
  EXPECT_EQ(Inferred({"2013-01-01 10:00:00+00", "2013-01-01T10:00Z",
                      "2013-01-01 10:00:00 UTC"}),
            "timestamptz");
  EXPECT_EQ(Inferred({"2013-01-01 05:00:00", "2013-01-01T05:00:00"}), "timestamp");
  EXPECT_EQ(Inferred({"2013-01-01", "2013-01-01 05:00", "2013-01-02"}), "timestamp");
  EXPECT_EQ(Inferred({"UA", "AA"}), "string");
}

TEST(SchemaInferenceTest, WhatDoesNotGoTogetherIsAString) {
  EXPECT_EQ(Inferred({"1", "x"}), "string");
  EXPECT_EQ(Inferred({"1", "true"}), "string");
  EXPECT_EQ(Inferred({"2013-01-01", "2013-01-01T10:00:00Z"}), "string");
  EXPECT_EQ(Inferred({"2013-01-01T10:00:00", "2013-01-01T10:00:00Z"}), "string");
  EXPECT_EQ(Inferred({"t", "f"}), "string");
}

/// `count` times `usual`, with `odd` from the fourth on.
std::vector<std::string> NotesAmong(std::size_t count, const char* usual,
                                    const std::vector<const char*>& odd) {
  std::vector<const char*> values(count, usual);
  values.insert(values.begin() + 3, odd.begin(), odd.end());
  SchemaInference inference(TimeUnits{});
  inference.AddTexts(*Column("k", values), PlaceOf);
  const InferredSchema inferred = inference.Finish().ValueOrDie();
  EXPECT_EQ(inferred.schema.fields[0].type.ToString(), "string");
  return inferred.notes;
}

TEST(SchemaInferenceTest, AFewValuesThatMakeAStringAreToldOf) {
  EXPECT_THAT(NotesAmong(999, "7", {"oops"}),
              ElementsAre("'k' is a string: 1 of 1,000 values is no long, the first "
                          "'oops' in line 5; declare it with --schema to have it as dead "
                          "letter"));
  EXPECT_THAT(NotesAmong(9, "2013-01-01", {"soon", "later"}),
              ElementsAre("'k' is a string: 2 of 11 values are no date, the first 'soon' "
                          "in line 5; declare it with --schema to have these as dead "
                          "letters"));
  const std::vector<const char*> many(600, "oops");
  EXPECT_EQ(NotesAmong(200'000, "0.5", many).size(), 1u);
  const std::vector<const char*> too_many(2100, "oops");
  EXPECT_THAT(NotesAmong(200'000, "0.5", too_many), ElementsAre());
  EXPECT_THAT(NotesAmong(3, "7", {"x"}), ElementsAre());
  EXPECT_THAT(NotesAmong(100, "word", {"7"}), ElementsAre());
}

TEST(SchemaInferenceTest, TimestampsThatAreNotAlikeAreToldOf) {
  EXPECT_THAT(NotesAmong(5, "2013-01-01T10:00:00", {"2013-01-01T10:00:00Z"}),
              ElementsAre("'k' has timestamps with a zone (the first "
                          "'2013-01-01T10:00:00Z' in line 5) and without "
                          "('2013-01-01T10:00:00' in line 2), so it is a string; declare "
                          "it with --schema to have the others as dead letters"));
  for (const std::string zone : {"", "Z"}) {
    const std::string micros = "2013-01-01T10:00:00.000001" + zone;
    const std::string nanos = "2013-01-01T10:00:00.000000001" + zone;
    EXPECT_THAT(NotesAmong(5, micros.c_str(), {nanos.c_str()}),
                ElementsAre(fmt::format(
                    "'k' has nanoseconds (the first '{}' in line 5), so it is "
                    "a string; declare it as {} with --schema (format "
                    "version 3), or round them to microseconds",
                    nanos, zone.empty() ? "timestamp_ns" : "timestamptz_ns")));
  }
}

TEST(SchemaInferenceTest, EmptyTextsTellNothing) {
  EXPECT_EQ(Inferred({"1", "", "2"}), "long");
  EXPECT_EQ(Inferred({"x", ""}), "string");
  EXPECT_EQ(Inferred({"", ""}), "string");
  SchemaInference as_seen(TimeUnits{}, InferenceDetail::kAsSeen);
  as_seen.AddTexts(*Column("n", {"1", ""}), PlaceOf);
  const types::Schema schema = as_seen.Finish().ValueOrDie().schema;
  EXPECT_FALSE(schema.fields[0].required);
}

TEST(SchemaInferenceTest, ASpellingOfNullIsAStringAndToldOf) {
  SchemaInference inference(TimeUnits{});
  inference.AddTexts(*Column("n", {"1", "NA", "2"}), PlaceOf);
  const InferredSchema inferred = inference.Finish().ValueOrDie();
  EXPECT_EQ(inferred.schema.fields[0].type, types::Type(types::TypeKind::kString));
  EXPECT_THAT(inferred.notes,
              ElementsAre("'n' has 'NA' beside values of type long, so it is a string; "
                          "--null-value 'NA' reads that as null"));
}

TEST(SchemaInferenceTest, ASpellingOfNullAmongTextsIsAText) {
  for (const auto& values : {std::vector<const char*>{"x", "NA"}, {"NA", "NA"}}) {
    SchemaInference inference(TimeUnits{});
    inference.AddTexts(*Column("n", values), PlaceOf);
    const InferredSchema inferred = inference.Finish().ValueOrDie();
    EXPECT_EQ(inferred.schema.fields[0].type, types::Type(types::TypeKind::kString));
    EXPECT_THAT(inferred.notes, ElementsAre());
  }
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
  EXPECT_EQ(Inferred({"1", "-0"}), "double");
  EXPECT_EQ(Inferred({"9223372036854775807"}), "long");
  EXPECT_EQ(Inferred({"9223372036854775808"}), "string");
  EXPECT_EQ(Inferred({"1.5", "9007199254740993"}), "string");
}

TEST(SchemaInferenceTest, EveryBatchCounts) {
  SchemaInference inference(TimeUnits{});
  inference.AddTexts(*Column("a", {"1"}), PlaceOf);
  inference.AddTexts(*Column("b", {kNull}), PlaceOf);
  inference.AddTexts(*Column("a", {"1.5"}), PlaceOf);
  const types::Schema schema = inference.Finish().ValueOrDie().schema;
  ASSERT_EQ(schema.fields.size(), 2u);
  EXPECT_EQ(schema.fields[0].type, types::Type(types::TypeKind::kDouble));
  EXPECT_EQ(schema.fields[1].name, "b");
  EXPECT_EQ(schema.fields[1].id, 2);
  EXPECT_FALSE(schema.fields[1].required);
}

TEST(SchemaInferenceTest, DeclaredUnitMakesATimestamp) {
  SchemaInference inference(TimeUnits{{"c", TimeUnit::kSeconds}});
  inference.AddTexts(*Column("c", {"1", "2"}), PlaceOf);
  EXPECT_EQ(inference.Finish().ValueOrDie().schema.fields[0].type.ToString(),
            "timestamptz");
}

Result<InferredSchema> OfJson(const std::vector<std::string>& documents,
                              TimeUnits units = {}) {
  SchemaInference inference(std::move(units));
  for (const std::string& document : documents) {
    FIRN_RETURN_NOT_OK(inference.AddJson(document));
  }
  return inference.Finish();
}

/// "name: type, name: type".
std::string Columns(const std::vector<std::string>& documents, TimeUnits units = {}) {
  const auto inferred = OfJson(documents, std::move(units)).ValueOrDie();
  std::vector<std::string> columns;
  for (const types::Field& field : inferred.schema.fields) {
    columns.push_back(fmt::format("{}: {}", field.name, field.type.ToString()));
  }
  return fmt::format("{}", fmt::join(columns, ", "));
}

std::vector<std::string> Notes(const std::vector<std::string>& documents) {
  return OfJson(documents).ValueOrDie().notes;
}

TEST(SchemaInferenceTest, JsonValuesTellTheirTypes) {
  EXPECT_EQ(Columns({R"({"a":1,"b":1.5,"c":true,"d":"x","e":"2013-01-01",
                         "f":"2013-01-01T00:00:00Z","g":"2013-01-01T00:00:00"})"}),
            "a: long, b: double, c: boolean, d: string, e: date, f: timestamptz, "
            "g: timestamp");
  EXPECT_EQ(Columns({R"({"a":1})", R"({"a":2.5})"}), "a: double");
  EXPECT_EQ(Columns({R"({"a":"1"})", R"({"a":"true"})"}), "a: string");
  EXPECT_EQ(Columns({R"({"a":1})", R"({"b":2})", R"({"a":null})"}), "a: long, b: long");
  EXPECT_EQ(Columns({R"({"a":17})"}, {{"a", TimeUnit::kSeconds}}), "a: timestamptz");
}

TEST(SchemaInferenceTest, JsonMayBeNested) {
  EXPECT_EQ(Columns({R"({"a":{"b":1,"c":["x"]},"d":[{"e":1},{"f":2.5}]})"}),
            "a: struct<3: b: long, 4: c: list<string>>, "
            "d: list<struct<7: e: long, 8: f: double>>");
}

TEST(SchemaInferenceTest, MixedJsonIsAStringWithANote) {
  const std::vector<std::string> mixed = {R"({"a":{"b":1}})", R"({"a":{"b":"x"}})"};
  EXPECT_THAT(Columns(mixed), testing::HasSubstr("b: string"));
  EXPECT_THAT(Notes(mixed),
              ElementsAre("'a.b' has strings and numbers, so it is a string "
                          "that holds the JSON text of what is no string"));
  EXPECT_EQ(Columns({R"({"a":[1]})", R"({"a":{"b":1}})"}), "a: string");
  EXPECT_EQ(Columns({R"({"a":[1,"x"]})"}), "a: list<string>");
  EXPECT_THAT(Notes({R"({"a":1.5})", R"({"a":9007199254740993})"}),
              ElementsAre(testing::HasSubstr("'a' has numbers too large")));
}

TEST(SchemaInferenceTest, EmptyJsonTellsNothing) {
  const std::vector<std::string> empty = {R"({"a":null,"b":[],"c":{"d":[null]},"e":1})"};
  EXPECT_EQ(Columns(empty), "e: long");
  EXPECT_EQ(Notes(empty).size(), 3u);
  EXPECT_EQ(Columns({R"({"a":[]})", R"({"a":5})", R"({"a":{}})"}), "a: long");
  EXPECT_THAT(ErrorText(OfJson({"{}"}).status()), testing::HasSubstr("no record"));
}

TEST(SchemaInferenceTest, JsonThatCannotBeReadIsPassedOver) {
  EXPECT_EQ(Columns({R"({"a":1})", R"({"b":2,)", "[1]", "\xff", R"({"c":3} x)"}),
            "a: long");
}

TEST(SchemaInferenceTest, NamesThatDifferOnlyInCaseAreErrors) {
  EXPECT_THAT(ErrorText(OfJson({R"({"a":{"Id":1,"iD":2}})"}).status()),
              testing::HasSubstr("'Id' and 'iD' differ only in case"));
}

TEST(SchemaInferenceTest, NamesThatAreDataAreRefused) {
  std::vector<std::string> documents;
  for (int i = 0; i < 10'001; ++i) {
    documents.push_back(fmt::format(R"({{"m":{{"{}":1}}}})", i));
  }
  EXPECT_THAT(ErrorText(OfJson(documents).status()), testing::HasSubstr("as maps"));
}

}  // namespace
}  // namespace firn::sources
