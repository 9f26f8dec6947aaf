#include "firn/sources/files/time_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using types::Type;
using types::TypeKind;

std::string Time(TypeKind kind, TimeUnit unit, std::string_view number) {
  const auto value = TimestampFromNumber(Type(kind), unit, number);
  return value.ok() ? ToText(Type(kind), *value) : ErrorText(value.status());
}

TEST(TimeUnitsTest, ParsesDeclarations) {
  EXPECT_THAT(
      ParseTimeUnits({"ts=ms", "a=b=ns", "e.at=us", "t=s"}).ValueOrDie(),
      ElementsAre(Pair("a=b", TimeUnit::kNanoseconds),
                  Pair("e.at", TimeUnit::kMicroseconds), Pair("t", TimeUnit::kSeconds),
                  Pair("ts", TimeUnit::kMilliseconds)));
  for (const char* bad : {"ts", "ts=", "=ms", "ts=m", ""}) {
    EXPECT_THAT(ErrorText(ParseTimeUnits({bad}).status()), HasSubstr("COLUMN=UNIT"));
  }
  EXPECT_THAT(ErrorText(ParseTimeUnits({"a=s", "a=ms"}).status()), HasSubstr("'a'"));
}

TEST(TimeUnitsTest, ColumnsMustBeTimestamps) {
  const types::Schema schema = {
      .fields = {{.id = 1, .name = "n", .type = Type(TypeKind::kLong)},
                 {.id = 2,
                  .name = "e",
                  .type = Type::Struct(
                      {{.id = 3, .name = "at", .type = Type(TypeKind::kTimestamptz)}})}}};
  EXPECT_TRUE(CheckTimeUnits({{"e.at", TimeUnit::kSeconds}}, schema).ok());
  EXPECT_THAT(ErrorText(CheckTimeUnits({{"n", TimeUnit::kSeconds}}, schema)),
              HasSubstr("'n' is of type long"));
  EXPECT_THAT(ErrorText(CheckTimeUnits({{"x", TimeUnit::kSeconds}}, schema)),
              HasSubstr("no column 'x'"));
}

TEST(TimeUnitsTest, NumbersBecomeTimesExactly) {
  struct Case {
    TypeKind kind;
    TimeUnit unit;
    const char* number;
    const char* text;
  };
  const Case cases[] = {
      {TypeKind::kTimestamptz, TimeUnit::kSeconds, "0", "1970-01-01T00:00:00+00:00"},
      {TypeKind::kTimestamptz, TimeUnit::kMicroseconds, "1731508712229224",
       "2024-11-13T14:38:32.229224+00:00"},
      {TypeKind::kTimestamptz, TimeUnit::kSeconds, "1731508712.229224",
       "2024-11-13T14:38:32.229224+00:00"},
      {TypeKind::kTimestamptz, TimeUnit::kSeconds, "1.731508712e9",
       "2024-11-13T14:38:32+00:00"},
      {TypeKind::kTimestamp, TimeUnit::kMilliseconds, "-1", "1969-12-31T23:59:59.999000"},
      {TypeKind::kTimestampNs, TimeUnit::kNanoseconds, "1",
       "1970-01-01T00:00:00.000000001"},
      {TypeKind::kTimestamptz, TimeUnit::kNanoseconds, "1000",
       "1970-01-01T00:00:00.000001+00:00"},
      {TypeKind::kTimestamptz, TimeUnit::kNanoseconds, "1",
       "'1' cannot be told exactly by a timestamptz"},
      {TypeKind::kTimestamptz, TimeUnit::kSeconds, "9223372036855",
       "'9223372036855' is out of range for type timestamptz"},
      {TypeKind::kTimestamptz, TimeUnit::kSeconds, "1e30",
       "'1e30' cannot be told exactly by a timestamptz"},
  };
  for (const Case& expected : cases) {
    EXPECT_EQ(Time(expected.kind, expected.unit, expected.number), expected.text);
  }
}

TEST(TimeUnitsTest, KnowsNumbers) {
  for (const char* number : {"0", "-5", "1.5", "1e9"}) EXPECT_TRUE(IsNumber(number));
  for (const char* text : {"", "today", "2013-01-01", "1 2", "0x10"}) {
    EXPECT_FALSE(IsNumber(text)) << text;
  }
}

}  // namespace
}  // namespace firn::sources
