#include "firn/iceberg/serde/json_lists.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::iceberg::serde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::optional<CutLists> Cut(std::string_view document) {
  return CutTopLevelLists(document, {"a", "b"});
}

TEST(JsonListsTest, CutsListsAndKeepsTheRest) {
  const auto cut = Cut(R"( {"x": [1, {"a": [2]}], "a" : [ {"a":[1,2]} , [3], "4" ],)"
                       R"("b":[],"c":"]"} )");
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->rest, R"( {"x": [1, {"a": [2]}], "a" : [],"b":[],"c":"]"} )");
  EXPECT_THAT(cut->elements,
              ElementsAre(ElementsAre(R"({"a":[1,2]})", "[3]", R"("4")"), IsEmpty()));
}

TEST(JsonListsTest, BracketsAndCommasInStringsAreText) {
  const auto cut = Cut(R"({"a":["],[\"",{"k\\":"}"},"\\\\"]})");
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->elements[0], ElementsAre(R"("],[\"")", R"({"k\\":"}"})", R"("\\\\")"));
}

TEST(JsonListsTest, LeavesWhatIsNoListWhereItIs) {
  for (const std::string text : {R"({"a":null,"b":{"c":[1]}})", "{}", R"({"c":[1]})"}) {
    const auto cut = Cut(text);
    if (text == "{}") continue;
    ASSERT_TRUE(cut) << text;
    EXPECT_EQ(cut->rest, text);
    EXPECT_THAT(cut->elements, ElementsAre(IsEmpty(), IsEmpty()));
  }
}

/// What is missing here is missing in the rest or an element, too, so that it is found.
TEST(JsonListsTest, WhatIsNoJsonStaysSo) {
  EXPECT_EQ(Cut(R"({"a":[1,]})")->elements[0].back(), "");
  EXPECT_EQ(Cut(R"({"a":[ , 1]})")->elements[0].front(), "");
  EXPECT_EQ(Cut(R"({"a":[1 2]})")->elements[0].front(), "1 2");
  EXPECT_EQ(Cut(R"({"a":[1] "c":2})")->rest, R"({"a":[] "c":2})");
  EXPECT_EQ(Cut(R"({"a":[1],"c":2}})")->rest, R"({"a":[],"c":2}})");
}

TEST(JsonListsTest, LeavesAloneWhatTakesAParser) {
  for (const char* text :
       {"", "[]", "{", R"({"a)", R"({"a":[1)", R"({"a":["1]})", R"({"a":[1],"a":[2]})",
        R"({"\u0061":[1]})", R"({"a" [1]})", R"({a:[1]})", R"({"a":[1],})"}) {
    EXPECT_FALSE(Cut(text)) << text;
  }
}

TEST(CutTopLevelMemberTest, TakesOneMemberOut) {
  const auto cut =
      CutTopLevelMember(R"({"a":[1,{"m":2}],"m" : {"x":"}"} ,"b":"m"})", "m");
  EXPECT_EQ(cut->value, R"({"x":"}"})");
  EXPECT_EQ(cut->rest, R"({"a":[1,{"m":2}],"m" : null,"b":"m"})");
}

TEST(CutTopLevelMemberTest, LeavesAloneWhatItCannotTell) {
  for (const char* text : {"", "[]", "{}", R"({"a":1})", R"({"m":1,"m":2})",
                           R"({"\u006d":1})", R"({"a":{"m":1}})"}) {
    EXPECT_FALSE(CutTopLevelMember(text, "m")) << text;
  }
}

}  // namespace
}  // namespace firn::iceberg::serde
