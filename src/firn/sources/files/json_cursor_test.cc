#include "firn/sources/files/json_cursor.h"

#include <random>

#include <arrow/util/utf8.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/core/test_seed.h"

namespace firn::sources {
namespace {

using testing::HasSubstr;

Status Check(std::string_view text) {
  JsonCursor cursor(text);
  FIRN_RETURN_NOT_OK(cursor.Skip().status());
  return cursor.Finish();
}

std::string StringOf(std::string_view text) {
  JsonCursor cursor(text);
  const auto value = cursor.String();
  return value.ok() ? std::string(*value) : ErrorText(value.status());
}

/// What a walk over the document sees.
Result<std::string> Walk(JsonCursor& cursor) {
  FIRN_ASSIGN_OR_RETURN(const JsonKind kind, cursor.Peek());
  switch (kind) {
    case JsonKind::kNull:
      FIRN_RETURN_NOT_OK(cursor.Null());
      return "null";
    case JsonKind::kBoolean: {
      FIRN_ASSIGN_OR_RETURN(const bool value, cursor.Boolean());
      return value ? "true" : "false";
    }
    case JsonKind::kNumber: {
      FIRN_ASSIGN_OR_RETURN(const auto number, cursor.Number());
      return std::string(number);
    }
    case JsonKind::kString: {
      FIRN_ASSIGN_OR_RETURN(const auto text, cursor.String());
      return fmt::format("'{}'", text);
    }
    case JsonKind::kArray: {
      std::string seen = "[";
      FIRN_RETURN_NOT_OK(cursor.EnterArray());
      while (true) {
        FIRN_ASSIGN_OR_RETURN(const bool has_element, cursor.NextElement());
        if (!has_element) return seen + " ]";
        FIRN_ASSIGN_OR_RETURN(const std::string element, Walk(cursor));
        seen += " " + element;
      }
    }
    case JsonKind::kObject: {
      std::string seen = "{";
      FIRN_RETURN_NOT_OK(cursor.EnterObject());
      while (true) {
        FIRN_ASSIGN_OR_RETURN(const auto key, cursor.NextKey());
        if (!key) return seen + " }";
        seen += fmt::format(" {}:", *key);
        FIRN_ASSIGN_OR_RETURN(const std::string value, Walk(cursor));
        seen += value;
      }
    }
  }
  return "";
}

TEST(JsonCursorTest, WalksThroughADocument) {
  JsonCursor cursor(
      R"( {"a" : [1, -2.50e+3 ,true,[ ],{}], "b\n":{"c":null}, "d":"x\u00e4\"" } )");
  EXPECT_EQ(Walk(cursor).ValueOrDie(),
            "{ a:[ 1 -2.50e+3 true [ ] { } ] b\n:{ c:null } d:'xä\"' }");
  EXPECT_TRUE(cursor.Finish().ok());
}

TEST(JsonCursorTest, SkipGivesTheTextAsItIsWritten) {
  JsonCursor cursor(R"([ {"a": [1,  2]} , 5])");
  ASSERT_TRUE(cursor.EnterArray().ok());
  ASSERT_TRUE(cursor.NextElement().ValueOrDie());
  EXPECT_EQ(cursor.Skip().ValueOrDie(), R"({"a": [1,  2]})");
  ASSERT_TRUE(cursor.NextElement().ValueOrDie());
  EXPECT_EQ(cursor.Skip().ValueOrDie(), "5");
  EXPECT_FALSE(cursor.NextElement().ValueOrDie());
}

TEST(JsonCursorTest, DecodesStrings) {
  EXPECT_EQ(StringOf(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(StringOf(R"("\u0041\u00e4\u20AC\uD83D\uDE00")"), "Aä€😀");
  EXPECT_EQ(StringOf(R"("\u0000")"), std::string(1, '\0'));
  for (const char* bad :
       {R"("\uD83D")", R"("\uDE00")", R"("\uD83D\u0041")", R"("\uD83Dx")", R"("\u12")",
        R"("\u12g4")", R"("\u+123")", R"("\x")"}) {
    EXPECT_THAT(StringOf(bad), HasSubstr("not JSON: ")) << bad;
  }
}

TEST(JsonCursorTest, RefusesWhatIsNoJson) {
  for (const char* bad : {"",         " ",          "{",
                          "[",        "]",          "{\"a\"}",
                          "{\"a\":}", "{\"a\":1,}", "{,}",
                          "{a:1}",    "[1,]",       "[1 2]",
                          "[1}",      "{\"a\":1]",  "01",
                          "-",        "1.",         ".5",
                          "1e",       "+1",         "1e+",
                          "nul",      "nulL",       "True",
                          "\"",       "\"\\",       "\"\n\"",
                          "\"\\\"",   "{} x",       "1 2",
                          "NaN",      "{\"a\" 1}",  "{\"a\":1 \"b\":2}",
                          "'a'"}) {
    EXPECT_FALSE(Check(bad).ok()) << bad;
  }
  EXPECT_EQ(ErrorText(Check("[1,")),
            "not JSON: it ends where a value should follow at byte 4");
  EXPECT_EQ(ErrorText(Check("{} x")), "not JSON: something follows the value at byte 4");
}

TEST(JsonCursorTest, DepthIsLimited) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(Check(nested(200)).ok());
  EXPECT_THAT(ErrorText(Check(nested(201))), HasSubstr("too many levels"));
  EXPECT_THAT(ErrorText(Check(std::string(1'000'000, '['))),
              HasSubstr("too many levels"));
}

/// A text near JSON: valid documents with some bytes changed.
std::string Mutated(std::mt19937_64& random) {
  static const std::vector<std::string> kSeeds = {
      R"({"a":1,"b":[true,null,-1.5e3],"c":{"d":"x\u00e4y\n"}})",
      R"([[],{},"",0,-0,1E5,"\ud83d\ude00"])", R"( {"k" : [ {"a":"b"} , 2 ] } )"};
  static constexpr std::string_view kBytes = "{}[]:,\"\\ntrue0123.eE+-u \x01";
  std::string text = kSeeds[random() % kSeeds.size()];
  for (std::uint64_t i = random() % 4; i > 0; --i) {
    const std::size_t at = random() % text.size();
    const char byte = kBytes[random() % kBytes.size()];
    switch (random() % 3) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      default:
        text.erase(at, 1);
    }
  }
  return text;
}

/// Whether another parser takes a text. One that it takes for JSON but cannot hold, as a
/// number beyond double, counts as taken.
bool IsTakenByAnother(const std::string& text) {
  try {
    return !nlohmann::json::parse(text).is_discarded();
  } catch (const nlohmann::json::parse_error&) {
    return false;
  } catch (const nlohmann::json::out_of_range&) {
    // What stands behind the number is unknown then.
    return Check(text).ok();
  }
}

TEST(JsonCursorTest, TakesWhatAnotherParserTakes) {
  std::mt19937_64 random(TestSeed());
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = Mutated(random);
    if (!arrow::util::ValidateUTF8(text)) continue;
    JsonCursor cursor(text);
    const bool walks = Walk(cursor).ok() && cursor.Finish().ok();
    EXPECT_EQ(walks, IsTakenByAnother(text)) << text;
    EXPECT_EQ(Check(text).ok(), walks) << text;
    taken += walks;
  }
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace firn::sources
