#include "firn/types/single_value.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/calendar.h"

namespace firn::types {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

Type TypeOf(std::string_view text) { return ParsePrimitiveType(text).ValueOrDie(); }

std::string BytesOf(std::string_view type, std::string_view text) {
  return ToBytes(TypeOf(type), FromText(TypeOf(type), text).ValueOrDie());
}

/// What `text` is printed as again; "refused" if it is no value of the type.
std::string Reprinted(std::string_view type, std::string_view text) {
  const Result<Value> value = FromText(TypeOf(type), text);
  return value.ok() ? ToText(TypeOf(type), *value) : "refused";
}

struct BinaryCase {
  const char* type;
  const char* text;
  std::string bytes;
};

TEST(SingleValueTest, BinaryFormIsThatOfTheSpec) {
  for (const BinaryCase& expected : {
           BinaryCase{"boolean", "true", "\x01"s},
           BinaryCase{"boolean", "false", "\x00"s},
           BinaryCase{"int", "258", "\x02\x01\x00\x00"s},
           BinaryCase{"long", "-2", "\xfe\xff\xff\xff\xff\xff\xff\xff"s},
           BinaryCase{"float", "1.5", "\x00\x00\xc0\x3f"s},
           BinaryCase{"double", "1.5", "\x00\x00\x00\x00\x00\x00\xf8\x3f"s},
           BinaryCase{"date", "1970-01-02", "\x01\x00\x00\x00"s},
           BinaryCase{"time", "00:00:00.000001", "\x01\x00\x00\x00\x00\x00\x00\x00"s},
           BinaryCase{"decimal(9, 2)", "14.20", "\x05\x8c"s},
           BinaryCase{"decimal(9, 2)", "-0.01", "\xff"s},
           BinaryCase{"decimal(9, 2)", "1.28", "\x00\x80"s},
           BinaryCase{"decimal(9, 2)", "-1.28", "\x80"s},
           BinaryCase{"decimal(9, 2)", "0", "\x00"s},
           BinaryCase{"string", "iceberg", "iceberg"s},
           BinaryCase{"fixed[2]", "00ff", "\x00\xff"s},
           BinaryCase{"binary", "", ""s},
       }) {
    const std::string bytes = BytesOf(expected.type, expected.text);
    EXPECT_EQ(bytes, expected.bytes) << expected.type << " " << expected.text;
    EXPECT_EQ(FromBytes(TypeOf(expected.type), bytes).ValueOrDie(),
              FromText(TypeOf(expected.type), expected.text).ValueOrDie());
  }
  EXPECT_EQ(BytesOf("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7").substr(0, 2),
            "\xf7\x9c");
}

TEST(SingleValueTest, ReadsTheNarrowFormOfPromotedTypes) {
  EXPECT_EQ(FromBytes(TypeOf("long"), BytesOf("int", "-7")).ValueOrDie(),
            Value(std::int64_t{-7}));
  EXPECT_EQ(FromBytes(TypeOf("double"), BytesOf("float", "-1.5")).ValueOrDie(),
            Value(-1.5));
}

TEST(SingleValueTest, BytesOfAnotherLengthAreCorruption) {
  for (const char* type : {"boolean", "int", "long", "float", "double", "date", "time",
                           "timestamptz", "decimal(9, 2)", "uuid", "fixed[4]"}) {
    for (const std::size_t size : {0, 3, 17}) {
      if (type == "decimal(9, 2)"s && size == 3) continue;
      const Result<Value> value = FromBytes(TypeOf(type), std::string(size, 'x'));
      EXPECT_TRUE(IsError(value.status(), ErrorKind::kCorruption)) << type << size;
    }
  }
}

struct TextCase {
  const char* type;
  const char* text;
  const char* printed;
};

TEST(SingleValueTest, TextIsReadAndPrintedAgain) {
  for (const TextCase& expected : {
           TextCase{"long", "-9223372036854775808", "-9223372036854775808"},
           TextCase{"double", "0.1", "0.1"},
           TextCase{"double", "-3", "-3.0"},
           TextCase{"double", "1e300", "1e+300"},
           TextCase{"double", "nan", "NaN"},
           TextCase{"double", "-inf", "-Infinity"},
           TextCase{"double", "Infinity", "Infinity"},
           TextCase{"float", "-0.0", "-0.0"},
           TextCase{"decimal(38, 2)", "-0.5", "-0.50"},
           TextCase{"decimal(38, 0)", "99999999999999999999999999999999999999",
                    "99999999999999999999999999999999999999"},
           TextCase{"date", "2000-02-29", "2000-02-29"},
           TextCase{"date", "0000-01-01", "0000-01-01"},
           TextCase{"date", "-0044-03-15", "-0044-03-15"},
           TextCase{"date", "+12345-12-31", "+12345-12-31"},
           TextCase{"date", "+5881580-07-11", "+5881580-07-11"},
           TextCase{"date", "-5877641-06-23", "-5877641-06-23"},
           TextCase{"time", "23:59:59.5", "23:59:59.500000"},
           TextCase{"timestamp", "2013-01-01 05:00:00", "2013-01-01T05:00:00"},
           TextCase{"timestamp", "1969-12-31T23:59:59.999999",
                    "1969-12-31T23:59:59.999999"},
           TextCase{"timestamptz", "2013-01-01T10:00:00Z", "2013-01-01T10:00:00+00:00"},
           TextCase{"timestamptz", "2013-01-01T00:30:00+01:00",
                    "2012-12-31T23:30:00+00:00"},
           TextCase{"timestamptz", "2013-01-01T00:30:00-0530",
                    "2013-01-01T06:00:00+00:00"},
           TextCase{"timestamp_ns", "1969-12-31T23:59:59.999999999",
                    "1969-12-31T23:59:59.999999999"},
           TextCase{"timestamptz_ns", "2013-01-01T10:00:00.1Z",
                    "2013-01-01T10:00:00.100000000+00:00"},
           TextCase{"uuid", "F79C3E09-677c-4bbd-a479-3f349cb785e7",
                    "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
           TextCase{"binary", "00fF", "00ff"},
       }) {
    EXPECT_EQ(Reprinted(expected.type, expected.text), expected.printed)
        << expected.type << " " << expected.text;
  }
}

struct Refusal {
  const char* type;
  const char* text;
};

TEST(SingleValueTest, RefusesTextThatIsNotAValue) {
  for (const Refusal& refused : {
           Refusal{"boolean", "True"},
           Refusal{"int", "2147483648"},
           Refusal{"int", "1.0"},
           Refusal{"int", ""},
           Refusal{"long", " 1"},
           Refusal{"long", "1 "},
           Refusal{"long", "+1"},
           Refusal{"long", "9223372036854775808"},
           Refusal{"double", "1e400"},
           Refusal{"double", "nan(1)"},
           Refusal{"double", "0x10"},
           Refusal{"decimal(4, 2)", "100"},
           Refusal{"decimal(4, 2)", "1.234"},
           Refusal{"decimal(4, 2)", "1."},
           Refusal{"decimal(4, 2)", ".5"},
           Refusal{"decimal(4, 2)", "1-2"},
           Refusal{"decimal(4, 2)", "-"},
           Refusal{"date", "2013-02-29"},
           Refusal{"date", "1900-02-29"},
           Refusal{"date", "2013-1-1"},
           Refusal{"date", "12345-01-01"},
           Refusal{"date", "+5881580-07-12"},
           Refusal{"date", "2013-13-01"},
           Refusal{"date", "2013-00-10"},
           Refusal{"time", "24:00:00"},
           Refusal{"time", "10:00"},
           Refusal{"time", "10:00:60"},
           Refusal{"time", "10:00:00.1234567"},
           Refusal{"time", "10:00:00."},
           Refusal{"timestamp", "2013-01-01"},
           Refusal{"timestamp", "2013-01-01T10:00:00Z"},
           Refusal{"timestamp", "+300000-01-01T10:00:00"},
           Refusal{"timestamptz", "2013-01-01T10:00:00"},
           Refusal{"timestamptz", "2013-01-01T10:00:00z"},
           Refusal{"timestamptz", "2013-01-01T10:00:00+1"},
           Refusal{"timestamp_ns", "2300-01-01T10:00:00"},
           Refusal{"uuid", "f79c3e09677c4bbda4793f349cb785e7"},
           Refusal{"uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e"},
           Refusal{"fixed[2]", "00"},
           Refusal{"binary", "0"},
           Refusal{"binary", "0g"},
       }) {
    EXPECT_EQ(Reprinted(refused.type, refused.text), "refused")
        << refused.type << " " << refused.text;
  }
}

TEST(SingleValueTest, RefusalNamesTypeAndValue) {
  const std::string message = ErrorText(FromText(TypeOf("date"), "today").status());
  EXPECT_THAT(message, HasSubstr("date"));
  EXPECT_THAT(message, HasSubstr("'today'"));
}

TEST(SingleValueTest, NullIsPrintedAsNull) {
  EXPECT_EQ(ToText(TypeOf("long"), Value()), "null");
  EXPECT_EQ(ToText(Transform{TransformKind::kMonth}, TypeOf("date"), Value()), "null");
}

TEST(SingleValueTest, ExtremeTimestampsRoundTrip) {
  for (const std::int64_t units : {std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()}) {
    for (const char* type : {"timestamp", "timestamptz", "timestamp_ns"}) {
      const std::string text = ToText(TypeOf(type), Value(units));
      EXPECT_EQ(FromText(TypeOf(type), text).ValueOrDie(), Value(units)) << text;
    }
  }
}

TEST(CalendarTest, EveryDayOfEightCenturiesFollowsTheOneBefore) {
  CivilDate yesterday = DateOfDay(-200'001);
  for (std::int64_t day = -200'000; day < 100'000; ++day) {
    const CivilDate date = DateOfDay(day);
    ASSERT_EQ(DaysSinceEpoch(date), day);
    ASSERT_TRUE(IsValid(date));
    const CivilDate next_day = {yesterday.year, yesterday.month, yesterday.day + 1};
    const CivilDate next_month = {yesterday.year, yesterday.month + 1, 1};
    const CivilDate next_year = {yesterday.year + 1, 1, 1};
    if (IsValid(next_day)) {
      ASSERT_EQ(date, next_day);
    } else {
      ASSERT_EQ(date, IsValid(next_month) ? next_month : next_year);
    }
    yesterday = date;
  }
  EXPECT_EQ(DateOfDay(0), (CivilDate{1970, 1, 1}));
}

}  // namespace
}  // namespace firn::types
