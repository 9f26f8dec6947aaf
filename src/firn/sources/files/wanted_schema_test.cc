#include "firn/sources/files/wanted_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/sources/files/test_folder.h"
#include "firn/sources/files/test_parquet.h"
#include "firn/types/test_fields.h"

namespace firn::sources {
namespace {

using testing::HasSubstr;
using types::Column;
using types::Field;
using types::Required;
using types::Type;
using types::TypeKind;

/// "name: type" of each column, required ones with "!".
std::string Text(const std::vector<Field>& fields) {
  std::vector<std::string> columns;
  for (const Field& field : fields) {
    columns.push_back(fmt::format("{}{}: {}", field.name, field.required ? "!" : "",
                                  field.type.ToString()));
  }
  return fmt::format("{}", fmt::join(columns, ", "));
}

class WantedSchemaTest : public testing::Test {
 protected:
  Result<std::string> Wanted(const std::vector<std::string>& files,
                             const FileOptions& options = {}) {
    FIRN_ASSIGN_OR_RETURN(
        const types::Schema wanted,
        FindWantedSchema({.schema = {.fields = table_}, .files = files}, options,
                         StopToken(), [](std::int64_t, std::int64_t) {}));
    return Text(wanted.fields);
  }

  std::string OfText(const std::string& name, const std::string& bytes) {
    return Wanted({folder_.Write(name, bytes)}).ValueOrDie();
  }

  Result<std::string> OfParquet(const std::vector<TestColumn>& columns) {
    const std::string path = folder_.path() + "/a.parquet";
    WriteParquet(path, *BatchOf(columns));
    return Wanted({path});
  }

  std::string OfRecords(const std::vector<std::string_view>& records) {
    return Text(SchemaForRecords({.fields = table_}, records, {}).fields);
  }

  std::string AsItIs() const { return Text(table_); }

  TestFolder folder_;
  std::vector<Field> table_ = {Required(Column(1, "id", TypeKind::kInt)),
                               Column(2, "name", TypeKind::kString)};
};

TEST_F(WantedSchemaTest, RecordsThatFitWantNothing) {
  EXPECT_EQ(OfText("a.csv", "id,name\n1,7\n2,8\n"), AsItIs());
  EXPECT_EQ(OfText("a.ndjson", R"({"id": 1, "name": 7})"), AsItIs());
  EXPECT_EQ(OfParquet({{"id", arrow::int16(), "[1]"}}).ValueOrDie(), AsItIs());
}

TEST_F(WantedSchemaTest, NewColumnsAreAddedAsForANewTable) {
  EXPECT_EQ(OfText("a.csv", "id,n,x\n1,2,0.5\n"),
            "id!: int, name: string, n: long, x: double");
  EXPECT_EQ(OfText("a.ndjson", R"({"id": 1, "p": {"n": 2, "l": [3]}, "nothing": null})"),
            "id!: int, name: string, p: struct<4: n: long, 5: l: list<long>>");
  EXPECT_EQ(OfParquet({{"id", arrow::int32(), "[1]"}, {"n", arrow::int32(), "[2]"}})
                .ValueOrDie(),
            "id!: int, name: string, n: int");
}

TEST_F(WantedSchemaTest, AnIntThatMeetsALargerIntegerBecomesALong) {
  EXPECT_EQ(OfText("a.csv", "id\n1\n2147483648\n"), "id!: long, name: string");
  EXPECT_EQ(OfText("a.csv", "id\n1\n2147483647\n"), AsItIs());
  EXPECT_EQ(OfText("a.ndjson", R"({"id": -2147483649})"), "id!: long, name: string");
}

TEST_F(WantedSchemaTest, OtherTextIsLeftToTheRecords) {
  EXPECT_EQ(OfText("a.csv", "id\n1\n0.5\nx\n"), AsItIs());
  EXPECT_EQ(OfText("a.ndjson", R"({"id": {"a": 1}, "name": [1]})"), AsItIs());
}

TEST_F(WantedSchemaTest, AMissingValueMakesAColumnOptional) {
  EXPECT_EQ(OfText("a.csv", "id,name\n1,a\n,b\n"), "id: int, name: string");
  EXPECT_EQ(OfText("a.csv", "name\nb\n"), "id: int, name: string");
  EXPECT_EQ(OfText("a.ndjson", "{\"id\": 1}\n{}\n"), "id: int, name: string");
  EXPECT_EQ(OfText("a.ndjson", R"({"id": null, "name": "a"})"), "id: int, name: string");
  EXPECT_EQ(OfParquet({{"id", arrow::int32(), "[1, null]"}}).ValueOrDie(),
            "id: int, name: string");
  EXPECT_EQ(OfParquet({{"name", arrow::utf8(), R"(["a"])"}}).ValueOrDie(),
            "id: int, name: string");
}

TEST_F(WantedSchemaTest, FilesWithoutRecordsLackNothing) {
  EXPECT_EQ(OfText("a.csv", "other\n"), AsItIs());
}

TEST_F(WantedSchemaTest, AllFilesOfAllFormatsCount) {
  const std::string path = folder_.path() + "/c.parquet";
  WriteParquet(
      path, *BatchOf({{"id", arrow::int64(), "[1]"}, {"b", arrow::float64(), "[0.5]"}}));
  EXPECT_EQ(Wanted({folder_.Write("a.csv", "id,a\n1,2\n"),
                    folder_.Write("b.ndjson", R"({"id": 1, "b": 2.5})"), path})
                .ValueOrDie(),
            "id!: long, name: string, a: long, b: double");
}

TEST_F(WantedSchemaTest, DeclaredTypesWiden) {
  table_ = {Column(1, "i", TypeKind::kInt), Column(2, "f", TypeKind::kFloat),
            Column(3, "d", Type::Decimal(4, 2)), Column(4, "l", TypeKind::kLong)};
  EXPECT_EQ(OfParquet({{"i", arrow::int64(), "[1]"},
                       {"f", arrow::float64(), "[0.5]"},
                       {"d", arrow::decimal128(9, 2), R"(["1.25"])"},
                       {"l", arrow::int32(), "[1]"}})
                .ValueOrDie(),
            "i: long, f: double, d: decimal(9, 2), l: long");
}

TEST_F(WantedSchemaTest, DeclaredTypesThatDoNotFitAreRefused) {
  const auto refused = OfParquet({{"id", arrow::utf8(), R"(["1"])"}}).status();
  EXPECT_THAT(refused.message(),
              testing::AllOf(HasSubstr("a.parquet"), HasSubstr("'id' is int"),
                             HasSubstr("string in the input")));
  EXPECT_THAT(OfParquet({{"id", arrow::float64(), "[1]"}}).status().message(),
              HasSubstr("double in the input"));
}

TEST_F(WantedSchemaTest, FieldsInStructsListsAndMapsAreFound) {
  const Type x = Type::Struct({Required(Column(20, "x", TypeKind::kInt))});
  table_ = {
      Column(1, "s", x), Column(2, "l", Type::List(Column(10, "", x))),
      Column(3, "m", Type::Map(Column(11, "", TypeKind::kString), Column(12, "", x)))};
  EXPECT_EQ(OfText("a.ndjson", R"({"s": {"x": 2147483648, "y": 0.5}, "l": [{"x": 1}], )"
                               R"("m": {"a": {"x": 1}, "b": {"x": 2}}})"),
            "s: struct<20: x: long, 21: y: double>, l: list<struct<20: x: int>>, m: "
            "map<string, struct<20: x: int>>");
  EXPECT_THAT(OfText("a.ndjson", R"({"m": {"a": {"x": 2147483648}, "b": {"y": 0.5}}})"),
              HasSubstr("map<string, struct<20: x: long, 21: y: double>>"));
  const auto element = arrow::struct_(
      {arrow::field("x", arrow::int64()), arrow::field("y", arrow::float64())});
  EXPECT_THAT(
      OfParquet({{"l", arrow::list(element), R"([[{"x": 1, "y": 0.5}]])"}}).ValueOrDie(),
      HasSubstr("l: list<struct<20: x: long, 21: y: double>>"));
}

TEST_F(WantedSchemaTest, NamesThatDifferOnlyInCaseAreRefused) {
  const auto refused = Wanted({folder_.Write("a.csv", "id,Name\n1,a\n")}).status();
  EXPECT_THAT(refused.message(), testing::AllOf(HasSubstr("'Name'"), HasSubstr("'name'"),
                                                HasSubstr("only in case")));
}

TEST_F(WantedSchemaTest, RecordsOfAStreamAddWhatTheyHave) {
  const std::string before = AsItIs();
  EXPECT_EQ(OfRecords({R"({"id": 1, "at": "2026-01-02T03:04:05Z"})",
                       R"({"id": 3, "n": 1, "s": {"x": 1}})", R"({"id": 2, "n": 0.5})"}),
            before + ", at: timestamptz, n: double, s: struct<6: x: long>");
  EXPECT_EQ(OfRecords({R"({"id": 2147483648})"}), "id!: long, name: string");
}

TEST_F(WantedSchemaTest, RecordsOfAStreamMakeNothingOptional) {
  EXPECT_EQ(OfRecords({R"({"id": 1, "n": 1})", R"({"id": 1})"}), AsItIs() + ", n: long");
  EXPECT_EQ(OfRecords({R"({"name": "a", "n": 1})"}), AsItIs());
}

TEST_F(WantedSchemaTest, RecordsOfAStreamThatCannotFitWantNothing) {
  EXPECT_EQ(OfRecords({"nonsense", "[1]", R"({"id": "x", "n": 1})"}), AsItIs());
  EXPECT_EQ(OfRecords({R"({"id": 1, "Name": "a"})", R"({"id": 1, "n": 1})",
                       R"({"id": 1, "m": 1})"}),
            AsItIs() + ", n: long, m: long");
}

TEST_F(WantedSchemaTest, RecordsOfAStreamThatHaveDataForNamesWantNothing) {
  std::string record = R"({"id": 1)";
  for (std::size_t i = 0; i < kStreamFieldsMax; ++i) {
    record += fmt::format(R"(, "user{}": 1)", i);
  }
  EXPECT_EQ(OfRecords({record + "}"}), AsItIs());
}

TEST_F(WantedSchemaTest, AColumnWithAWriteDefaultStaysRequiredWhereItIsMissing) {
  table_[0].unknown["write-default"] = "7";
  EXPECT_EQ(OfText("a.csv", "name\nb\n"), AsItIs());
  EXPECT_EQ(OfText("a.ndjson", R"({"name": "a"})"), AsItIs());
}

}  // namespace
}  // namespace firn::sources
