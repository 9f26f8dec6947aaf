#include "firn/sources/files/unknown_fields.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/sources/files/json_rows.h"
#include "firn/types/test_fields.h"

namespace firn::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using types::Column;
using types::Required;
using types::Type;
using types::TypeKind;

const Type kText(TypeKind::kString);

Type MapOf(bool has_required_values) {
  return Type::Map({.id = 101, .type = kText},
                   {.id = 102, .type = kText, .required = has_required_values});
}

/// id: int, at: struct<city: string>, stops: list<struct<city: string>>, and the map.
types::Schema SchemaWith(types::Field map) {
  const Type place = Type::Struct({Column(10, "city", kText)});
  return {
      .fields = {Column(1, "id", TypeKind::kInt), Column(2, "at", place),
                 Column(3, "stops",
                        Type::List({.id = 11,
                                    .type = Type::Struct({Column(12, "city", kText)})})),
                 std::move(map)}};
}

const types::Schema kOptional = SchemaWith(Column(4, "rest", MapOf(false)));
const types::Schema kRequired = SchemaWith(Required(Column(4, "rest", MapOf(true))));

struct Read {
  /// Of each record that fits: its map as text.
  std::vector<std::string> maps;
  std::vector<std::string> reasons;
};

std::string MapText(const arrow::MapArray& maps, std::int64_t row) {
  if (maps.IsNull(row)) return "null";
  const auto& keys = static_cast<const arrow::StringArray&>(*maps.keys());
  const auto& values = static_cast<const arrow::StringArray&>(*maps.items());
  std::vector<std::string> entries;
  for (auto i = maps.value_offset(row); i < maps.value_offset(row + 1); ++i) {
    entries.push_back(fmt::format("{}={}", keys.GetView(i),
                                  values.IsNull(i) ? "null" : values.GetView(i)));
  }
  return fmt::format("{}", fmt::join(entries, " "));
}

Read ReadAll(const types::Schema& schema, const std::vector<std::string>& documents,
             JsonRowsOptions options = {.unknown_fields_column = "rest"}) {
  JsonRows rows = JsonRows::Make(schema, std::move(options)).ValueOrDie();
  for (const std::string& document : documents) {
    EXPECT_TRUE(rows.Add(document).ok()) << document;
  }
  Rejections rejections;
  const auto batch = rows.Finish(rejections).ValueOrDie();
  EXPECT_TRUE(batch->ValidateFull().ok()) << batch->ValidateFull();
  EXPECT_EQ(batch->num_rows() + std::ssize(rejections), std::ssize(documents));
  Read read;
  const auto& maps = static_cast<const arrow::MapArray&>(*batch->column(3));
  for (std::int64_t row = 0; row < batch->num_rows(); ++row) {
    read.maps.push_back(MapText(maps, row));
  }
  for (const auto& [row, rejection] : rejections) read.reasons.push_back(rejection.text);
  return read;
}

/// The map of one record, or why it does not fit.
std::string MapOfRecord(const types::Schema& schema, const std::string& document) {
  const Read read = ReadAll(schema, {document});
  return read.reasons.empty() ? read.maps[0] : read.reasons[0];
}

TEST(UnknownFieldsTest, StringsStayAsTheyAreAndTheRestIsJson) {
  struct Case {
    const char* json;
    const char* value;
  };
  const Case cases[] = {
      {R"("text")", "text"},
      {R"("")", ""},
      {R"("\u00e4\n\ud83d\ude00")", "ä\n😀"},
      {"1.50", "1.50"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"1e400", "1e400"},
      {"true", "true"},
      {"null", "null"},
      {R"("null")", "null"},
      {"[]", "[]"},
      {R"([1, {"a":"b"}])", R"([1, {"a":"b"}])"},
      {R"({"a": null})", R"({"a": null})"},
  };
  for (const Case& expected : cases) {
    EXPECT_EQ(MapOfRecord(kOptional, fmt::format(R"({{"x": {}}})", expected.json)),
              fmt::format("x={}", expected.value))
        << expected.json;
  }
}

TEST(UnknownFieldsTest, WithoutOneTheMapIsNullOrEmpty) {
  EXPECT_EQ(MapOfRecord(kOptional, R"({"id": 1})"), "null");
  EXPECT_EQ(MapOfRecord(kRequired, R"({"id": 1})"), "");
  EXPECT_EQ(MapOfRecord(kRequired, R"({"id": 1, "x": null})"), "");
  EXPECT_EQ(MapOfRecord(kRequired, R"({"x": null, "y": 1})"), "y=1");
}

TEST(UnknownFieldsTest, TheyStandBesideWhatTheRecordItselfGives) {
  EXPECT_EQ(MapOfRecord(kOptional, R"({"x": 1, "rest": {"a": "b"}, "id": 1, "y": 2})"),
            "x=1 a=b y=2");
  EXPECT_EQ(MapOfRecord(kOptional, R"({"rest": {}, "id": 1})"), "");
  EXPECT_EQ(MapOfRecord(kOptional, R"({"rest": null, "id": 1})"), "null");
  EXPECT_EQ(MapOfRecord(kOptional, R"({"rest": null, "x": 1})"), "x=1");
  EXPECT_EQ(MapOfRecord(kOptional, R"({"x": 1, "rest": null})"), "x=1");
}

TEST(UnknownFieldsTest, AMapThatIsNoneOrThereTwiceDoesNotFit) {
  const std::string is_none = "column 'rest': a number is not of type map";
  EXPECT_THAT(MapOfRecord(kOptional, R"({"rest": 7})"), HasSubstr(is_none));
  EXPECT_THAT(MapOfRecord(kOptional, R"({"x": 1, "rest": 7, "id": 1})"),
              HasSubstr(is_none));
  EXPECT_THAT(MapOfRecord(kOptional, R"({"rest": {}, "rest": {}})"),
              HasSubstr("column 'rest' is there twice"));
  EXPECT_THAT(MapOfRecord(kOptional, R"({"rest": null, "x": 1, "rest": null})"),
              HasSubstr("column 'rest' is there twice"));
  EXPECT_THAT(MapOfRecord(kRequired, R"({"rest": null})"), HasSubstr("is null"));
  EXPECT_THAT(MapOfRecord(kRequired, R"({"rest": {"a": null}})"), HasSubstr("is null"));
}

TEST(UnknownFieldsTest, AKeyThatIsThereTwiceDoesNotFit) {
  const std::string twice = "column 'rest': the key 'x' is there twice";
  EXPECT_EQ(MapOfRecord(kOptional, R"({"x": 1, "x": 2})"), twice);
  EXPECT_EQ(MapOfRecord(kOptional, R"({"x": 1, "rest": {"x": "1"}})"), twice);
  EXPECT_EQ(MapOfRecord(kOptional, R"({"at": {"a": 1}, "at.a": 2})"),
            "column 'rest': the key 'at.a' is there twice");
  EXPECT_EQ(MapOfRecord(kOptional, R"({"x": 1, "X": 2})"), "x=1 X=2");
}

TEST(UnknownFieldsTest, ANameThatDiffersInCaseOnlyDoesNotFit) {
  EXPECT_EQ(MapOfRecord(kOptional, R"({"ID": 1})"),
            "the table has no column 'ID', but one that is written 'id'");
  EXPECT_EQ(MapOfRecord(kOptional, R"({"Rest": {}, "REST": 1})"),
            "the table has no column 'REST', but one that is written 'rest'");
  EXPECT_EQ(MapOfRecord(kOptional, R"({"at": {"City": "x"}})"),
            "the table has no column 'at.City', but one that is written 'at.city'");
  EXPECT_EQ(MapOfRecord(kOptional, R"({"ID": null, "x": 1})"), "x=1");
}

TEST(UnknownFieldsTest, ThoseOfStructsHaveKeysWithDotsAndThoseOfListsDoNotFit) {
  EXPECT_EQ(MapOfRecord(kOptional, R"({"at": {"x": 1, "city": "a"}, "y": 2})"),
            "at.x=1 y=2");
  EXPECT_EQ(MapOfRecord(kOptional, R"({"stops": [{"x": 1}]})"),
            "the table has no column 'stops.element.x'");
  EXPECT_EQ(MapOfRecord(kOptional, R"({"stops": [{"x": null}], "y": 2})"), "y=2");
}

TEST(UnknownFieldsTest, ARecordThatDoesNotFitLeavesNothingForTheNext) {
  const Read read = ReadAll(kOptional, {
                                           R"({"x": 1, "id": "no"})",
                                           R"({"y": 1})",
                                           R"({"x": 1, "y": )",
                                           "nonsense",
                                           R"({"rest": {"a": "b", "c": tru)",
                                           R"({"id": 5})",
                                           R"({"z": "\ud800"})",
                                           R"({"x": 2})",
                                       });
  EXPECT_THAT(read.maps, ElementsAre("y=1", "null", "x=2"));
  EXPECT_EQ(read.reasons.size(), 5u);
}

TEST(UnknownFieldsTest, AFieldOfTenMegabytesIsKept) {
  const std::string large(10 << 20, 'x');
  const std::string text = MapOfRecord(kOptional, R"({"a": ")" + large + R"("})");
  EXPECT_EQ(text.size(), large.size() + 2);
  EXPECT_EQ(text, "a=" + large);
}

TEST(UnknownFieldsTest, ManyNamesAreKept) {
  std::string document = "{";
  for (int i = 0; i < 20'000; ++i) document += fmt::format(R"("k{}":{},)", i, i);
  document.back() = '}';
  EXPECT_THAT(MapOfRecord(kOptional, document), HasSubstr("k19998=19998 k19999=19999"));
}

TEST(UnknownFieldsTest, WithoutTheColumnTheyDoNotFit) {
  const std::vector<std::string> documents = {R"({"x": 1})"};
  EXPECT_THAT(ReadAll(kOptional, documents, {}).reasons,
              ElementsAre("the table has no column 'x'"));
  EXPECT_THAT(ReadAll(kOptional, documents, {.unknown_fields_column = "gone"}).reasons,
              ElementsAre("the table has no column 'x'"));
  EXPECT_THAT(ReadAll(kOptional, {R"({"id": 1, "x": 1})"},
                      {.ignore_unknown = true, .unknown_fields_column = "rest"})
                  .maps,
              ElementsAre("null"));
}

TEST(UnknownFieldsColumnTest, HasToBeAMapOfStrings) {
  EXPECT_TRUE(CheckUnknownFieldsColumn(kOptional, "rest").ok());
  EXPECT_TRUE(CheckUnknownFieldsColumn(kRequired, "rest").ok());
  EXPECT_TRUE(CheckUnknownFieldsColumn(kOptional, "").ok());
  EXPECT_TRUE(CheckUnknownFieldsColumn(kOptional, "missing").ok());
  EXPECT_EQ(ErrorText(CheckUnknownFieldsColumn(kOptional, "id")),
            "column 'id' cannot keep unknown fields: it has to be a map<string, string>, "
            "and is of type int; name another one, which is added if the table does not "
            "have it");
  const auto longs = SchemaWith(Column(
      4, "rest",
      Type::Map({.id = 5, .type = kText}, {.id = 6, .type = Type(TypeKind::kLong)})));
  EXPECT_FALSE(CheckUnknownFieldsColumn(longs, "rest").ok());
  EXPECT_FALSE(JsonRows::Make(longs, {.unknown_fields_column = "rest"}).ok());
}

TEST(UnknownFieldsColumnTest, IsAddedBehindTheOthers) {
  EXPECT_EQ(WithUnknownFieldsColumn(kOptional, "rest").ValueOrDie(), kOptional);
  EXPECT_EQ(WithUnknownFieldsColumn(kOptional, "").ValueOrDie(), kOptional);
  const types::Schema more = WithUnknownFieldsColumn(kOptional, "more").ValueOrDie();
  ASSERT_EQ(more.fields.size(), 5u);
  EXPECT_EQ(more.fields[4].name, "more");
  EXPECT_EQ(more.fields[4].type.ToString(), "map<string, string>");
  EXPECT_FALSE(more.fields[4].required);
  EXPECT_EQ(more.fields[4].id, 103);
  EXPECT_THAT(ErrorText(WithUnknownFieldsColumn(kOptional, "Rest").status()),
              HasSubstr("only in case"));
}

}  // namespace
}  // namespace firn::sources
