#include "firn/iceberg/serde/name_mapping.h"

#include <gtest/gtest.h>

namespace firn::iceberg {
namespace {

using types::Field;
using types::Type;
using types::TypeKind;

Field Column(FieldId id, std::string name, Type type = Type(TypeKind::kString)) {
  return {.id = id, .name = std::move(name), .type = std::move(type)};
}

Type Point(std::vector<Field> fields) { return Type::Struct(std::move(fields)); }

/// The mapping after fields were added; "same" if it stays.
std::string Extended(std::string_view mapping, std::vector<Field> before,
                     std::vector<Field> after) {
  return NameMappingWithNewFields(mapping, {.fields = std::move(before)},
                                  {.fields = std::move(after)})
      .value_or("same");
}

TEST(NameMappingTest, ANewColumnIsAdded) {
  EXPECT_EQ(Extended(R"([{"field-id":1,"names":["a","old"],"x":7}])", {Column(1, "a")},
                     {Column(1, "a"), Column(2, "b")}),
            R"([{"field-id":1,"names":["a","old"],"x":7},{"field-id":2,"names":["b"]}])");
}

TEST(NameMappingTest, ANewColumnTakesItsNameFromAnother) {
  EXPECT_EQ(Extended(R"([{"field-id":1,"names":["a","b"]}])", {Column(1, "a")},
                     {Column(1, "a"), Column(2, "b")}),
            R"([{"field-id":1,"names":["a"]},{"field-id":2,"names":["b"]}])");
}

TEST(NameMappingTest, FieldsAreAddedAtEveryLevel) {
  const Field list = {.id = 5, .name = "element", .type = Point({Column(6, "z")})};
  EXPECT_EQ(
      Extended(
          R"([{"field-id":1,"names":["p"],"fields":[{"field-id":2,"names":["x"]}]}])",
          {Column(1, "p", Point({Column(2, "x")}))},
          {Column(1, "p", Point({Column(2, "x"), Column(3, "y")})),
           Column(4, "l", Type::List(list))}),
      R"([{"field-id":1,"names":["p"],"fields":[{"field-id":2,"names":["x"]},)"
      R"({"field-id":3,"names":["y"]}]},{"field-id":4,"names":["l"],"fields":)"
      R"([{"field-id":5,"names":["element"],"fields":[{"field-id":6,"names":["z"]}]}]}])");
}

TEST(NameMappingTest, OldFieldsThatAreNotMappedStayOut) {
  EXPECT_EQ(Extended("[]", {Column(1, "p", Point({Column(2, "x")}))},
                     {Column(1, "p", Point({Column(2, "x"), Column(3, "y")}))}),
            "same");
}

TEST(NameMappingTest, NothingNewAndNoMappingStayAsTheyAre) {
  const std::vector<Field> a = {Column(1, "a")};
  const std::vector<Field> ab = {Column(1, "a"), Column(2, "b")};
  EXPECT_EQ(Extended(R"([{"field-id":1,"names":["a"]}])", a, a), "same");
  for (const char* text :
       {"", "{}", "[1]", R"([{"field-id":"1"}])", R"([{"field-id":1,"names":"a"}])",
        R"([{"field-id":1,"names":[],"fields":{}}])"}) {
    EXPECT_EQ(Extended(text, a, ab), "same") << text;
  }
}

}  // namespace
}  // namespace firn::iceberg
