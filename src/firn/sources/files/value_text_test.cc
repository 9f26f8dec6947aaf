#include "firn/sources/files/value_text.h"

#include <gtest/gtest.h>

#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using types::Type;
using types::TypeKind;

std::string Read(TypeKind kind, std::string_view text) {
  const auto value = ValueFromText(Type(kind), text);
  return value.ok() ? ToText(Type(kind), *value) : "invalid";
}

TEST(ValueTextTest, BooleansOfOtherPrograms) {
  for (const char* text : {"true", "True", "TRUE", "t"}) {
    EXPECT_EQ(Read(TypeKind::kBoolean, text), "true") << text;
  }
  for (const char* text : {"false", "False", "FALSE", "f"}) {
    EXPECT_EQ(Read(TypeKind::kBoolean, text), "false") << text;
  }
  for (const char* text : {"", "yes", "1", "tRUE", "T"}) {
    EXPECT_EQ(Read(TypeKind::kBoolean, text), "invalid") << text;
  }
}

TEST(ValueTextTest, TimestampsWithAZone) {
  for (const char* text :
       {"2026-01-02T03:04:00Z", "2026-01-02 03:04:00+00", "2026-01-02 03:04:00.0+00",
        "2026-01-02T03:04Z", "2026-01-02 03:04 UTC", "2026-01-02 03:04:00 UTC",
        "2026-01-02 03:04:00UTC", "2026-01-02 03:04:00 +0000", "2026-01-02 03:04+00:00",
        "2026-01-01 19:04:00-08", "2026-01-01 19:04:00-0800"}) {
    EXPECT_EQ(Read(TypeKind::kTimestamptz, text), "2026-01-02T03:04:00+00:00") << text;
  }
  EXPECT_EQ(Read(TypeKind::kTimestamptz, "2026-01-02 03:04:05.5+00"),
            "2026-01-02T03:04:05.500000+00:00");
  for (const char* text :
       {"2026-01-02", "2026-01-02 03:04", "2026-01-02 03:04:05", "2026-01-02 03Z",
        "2026-01-02 03:04:05+0", "2026-01-02 03:04:05 CET", "2026-01-02T03:04:05  Z"}) {
    EXPECT_EQ(Read(TypeKind::kTimestamptz, text), "invalid") << text;
  }
}

TEST(ValueTextTest, TimestampsWithoutAZone) {
  EXPECT_EQ(Read(TypeKind::kTimestamp, "2026-01-02"), "2026-01-02T00:00:00");
  EXPECT_EQ(Read(TypeKind::kTimestamp, "2026-01-02 03:04"), "2026-01-02T03:04:00");
  for (const char* text : {"2026-01-02T03:04Z", "2026-01-02 03:04:05+00", "2026-13-02",
                           "2026-01-02 ", "2026-01-02 03"}) {
    EXPECT_EQ(Read(TypeKind::kTimestamp, text), "invalid") << text;
  }
}

TEST(ValueTextTest, OtherTypesAreReadAsEver) {
  EXPECT_EQ(Read(TypeKind::kLong, "12"), "12");
  EXPECT_EQ(Read(TypeKind::kDate, "2026-01-02 03:04"), "invalid");
  EXPECT_EQ(Read(TypeKind::kString, "True"), "True");
}

}  // namespace
}  // namespace firn::sources
