#include "firn/types/transform.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/types/murmur3.h"
#include "firn/types/single_value.h"

namespace firn::types {
namespace {

Type TypeOf(std::string_view text) { return ParsePrimitiveType(text).ValueOrDie(); }

Transform TransformOf(std::string_view text) { return ParseTransform(text).ValueOrDie(); }

Value ValueOf(std::string_view type, std::string_view text) {
  return FromText(TypeOf(type), text).ValueOrDie();
}

/// The transform of a value, both given and printed as text.
std::string Transformed(std::string_view transform, std::string_view type,
                        std::string_view text) {
  const Value result = Apply(TransformOf(transform), TypeOf(type), ValueOf(type, text));
  return ToText(TransformOf(transform), TypeOf(type), result);
}

constexpr std::int32_t kManyBuckets = std::numeric_limits<std::int32_t>::max();

struct HashCase {
  const char* type;
  const char* text;
  std::int32_t hash;
};

TEST(TransformTest, BucketsAreThoseOfTheSpec) {
  for (const HashCase& expected : {
           HashCase{"int", "34", 2017239379},
           HashCase{"long", "34", 2017239379},
           HashCase{"decimal(9, 2)", "14.20", -500754589},
           HashCase{"date", "2017-11-16", -653330422},
           HashCase{"time", "22:31:08", -662762989},
           HashCase{"timestamp", "2017-11-16T22:31:08", -2047944441},
           HashCase{"timestamp", "2017-11-16T22:31:08.000001", -1207196810},
           HashCase{"timestamptz", "2017-11-16T14:31:08-08:00", -2047944441},
           HashCase{"timestamp_ns", "2017-11-16T22:31:08.000001001", -1207196810},
           HashCase{"timestamptz_ns", "2017-11-16T14:31:08-08:00", -2047944441},
           HashCase{"string", "iceberg", 1210000089},
           HashCase{"uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1488055340},
           HashCase{"fixed[4]", "00010203", -188683207},
           HashCase{"binary", "00010203", -188683207},
       }) {
    const Transform many_buckets = {TransformKind::kBucket, kManyBuckets};
    const Value bucket =
        Apply(many_buckets, TypeOf(expected.type), ValueOf(expected.type, expected.text));
    EXPECT_EQ(bucket, Value((expected.hash & kManyBuckets) % kManyBuckets))
        << expected.type << " " << expected.text;
  }
  EXPECT_EQ(static_cast<std::int32_t>(Murmur3("iceberg")), 1210000089);
  EXPECT_EQ(Transformed("bucket[16]", "long", "34"), "3");
}

TEST(TransformTest, DatePartsAreFlooredBefore1970) {
  const char* before = "1969-12-31T23:59:59.999999";
  EXPECT_EQ(Apply(TransformOf("hour"), TypeOf("timestamp"), Value(std::int64_t{-1})),
            Value(-1));
  EXPECT_EQ(Transformed("hour", "timestamp", before), "1969-12-31-23");
  EXPECT_EQ(Transformed("day", "timestamp", before), "1969-12-31");
  EXPECT_EQ(Transformed("month", "timestamp", before), "1969-12");
  EXPECT_EQ(Transformed("year", "timestamp", before), "1969");
  EXPECT_EQ(Transformed("month", "date", "1582-10-15"), "1582-10");
  EXPECT_EQ(Transformed("year", "date", "-0001-03-01"), "-0001");
  EXPECT_EQ(Transformed("day", "timestamp_ns", "1969-12-31T23:59:59.999999999"),
            "1969-12-31");
}

TEST(TransformTest, DatePartsAfter1970) {
  const char* text = "2017-11-16T22:31:08+00:00";
  const auto number = [&](std::string_view part) {
    return std::get<std::int32_t>(
        Apply(TransformOf(part), TypeOf("timestamptz"), ValueOf("timestamptz", text)));
  };
  EXPECT_EQ(number("year"), 47);
  EXPECT_EQ(number("month"), 574);
  EXPECT_EQ(number("day"), 17486);
  EXPECT_EQ(number("hour"), 419686);
}

TEST(TransformTest, TruncatesDown) {
  EXPECT_EQ(Transformed("truncate[10]", "int", "1"), "0");
  EXPECT_EQ(Transformed("truncate[10]", "int", "-1"), "-10");
  EXPECT_EQ(Transformed("truncate[10]", "long", "-10"), "-10");
  EXPECT_EQ(Transformed("truncate[50]", "decimal(9, 2)", "10.65"), "10.50");
  EXPECT_EQ(Transformed("truncate[50]", "decimal(9, 2)", "-0.05"), "-0.50");
  EXPECT_EQ(Transformed("truncate[3]", "string", "iceberg"), "ice");
  EXPECT_EQ(Transformed("truncate[3]", "string", "a\u00fc\U0001F9CAx"),
            "a\u00fc\U0001F9CA");
  EXPECT_EQ(Transformed("truncate[3]", "binary", "0102030405"), "010203");
}

TEST(TransformTest, NullStaysNullAndVoidMakesIt) {
  for (const char* transform : {"identity", "bucket[4]", "truncate[4]", "void"}) {
    EXPECT_TRUE(IsNull(Apply(TransformOf(transform), TypeOf("long"), Value())));
  }
  EXPECT_EQ(Transformed("void", "long", "7"), "null");
  EXPECT_EQ(Transformed("identity", "long", "7"), "7");
}

TEST(TransformTest, RoundTripsAsText) {
  for (const char* text : {"identity", "bucket[16]", "truncate[4]", "year", "month",
                           "day", "hour", "void"}) {
    EXPECT_EQ(ToString(TransformOf(text)), text);
  }
}

TEST(TransformTest, RefusesWhatIsNoTransform) {
  for (const char* text : {"", "bucket", "bucket[]", "bucket[0]", "bucket[-1]",
                           "bucket[4", "bucket[4]x", "identity[1]", "years", "Day"}) {
    EXPECT_FALSE(ParseTransform(text).ok()) << text;
  }
}

TEST(TransformTest, ResultTypesAndRefusals) {
  const auto result = [](std::string_view transform, std::string_view type) {
    const Result<Type> result_type = ResultType(TransformOf(transform), TypeOf(type));
    return result_type.ok() ? result_type->ToString() : "refused";
  };
  EXPECT_EQ(result("identity", "decimal(9, 2)"), "decimal(9, 2)");
  EXPECT_EQ(result("bucket[4]", "uuid"), "int");
  EXPECT_EQ(result("bucket[4]", "double"), "refused");
  EXPECT_EQ(result("bucket[4]", "boolean"), "refused");
  EXPECT_EQ(result("truncate[4]", "string"), "string");
  EXPECT_EQ(result("truncate[4]", "fixed[4]"), "refused");
  EXPECT_EQ(result("day", "timestamptz_ns"), "date");
  EXPECT_EQ(result("month", "date"), "int");
  EXPECT_EQ(result("month", "time"), "refused");
  EXPECT_EQ(result("hour", "date"), "refused");
  EXPECT_EQ(result("void", "binary"), "binary");
  EXPECT_FALSE(ResultType(Transform{}, Type::Struct({})).ok());
}

}  // namespace
}  // namespace firn::types
