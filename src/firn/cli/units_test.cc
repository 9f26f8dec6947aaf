#include "firn/cli/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::cli {
namespace {

using testing::HasSubstr;

TEST(UnitsTest, ParsesSizes) {
  EXPECT_EQ(ParseBytes("64MiB").ValueOrDie(), 64 << 20);
  EXPECT_EQ(ParseBytes("512 KiB").ValueOrDie(), 512 << 10);
  EXPECT_EQ(ParseBytes("1.5GiB").ValueOrDie(), 3LL << 29);
  EXPECT_EQ(ParseBytes("2MB").ValueOrDie(), 2'000'000);
  EXPECT_EQ(ParseBytes("1000").ValueOrDie(), 1000);
}

TEST(UnitsTest, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "MiB", "64mib", "-1", "1e30", "nan", "12 parsecs", "1 2"}) {
    const auto bytes = ParseBytes(text);
    ASSERT_FALSE(bytes.ok()) << text;
    EXPECT_THAT(ErrorText(bytes.status()), HasSubstr("64MiB")) << text;
  }
}

TEST(UnitsTest, ParsesTimes) {
  EXPECT_EQ(ParseDuration("250ms").ValueOrDie(), std::chrono::milliseconds(250));
  EXPECT_EQ(ParseDuration("10min").ValueOrDie(), std::chrono::minutes(10));
  EXPECT_EQ(ParseDuration("3d").ValueOrDie(), std::chrono::hours(72));
  EXPECT_FALSE(ParseDuration("10").ok());
  EXPECT_FALSE(ParseDuration("10 m").ok());
}

TEST(UnitsTest, FormatsForPeople) {
  EXPECT_EQ(FormatBytes(512), "512 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(1023 * 1024), "1.0 MiB");
  EXPECT_EQ(FormatBytes(128LL << 20), "128 MiB");
  EXPECT_EQ(FormatBytes(5LL << 40), "5.0 TiB");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(336776), "336,776");
  EXPECT_EQ(FormatCount(-1234567), "-1,234,567");
  EXPECT_EQ(FormatDuration(std::chrono::milliseconds(1250)), "1.2 s");
  EXPECT_EQ(FormatDuration(std::chrono::seconds(200)), "3 min 20 s");
  EXPECT_EQ(FormatDuration(std::chrono::minutes(125)), "2 h 5 min");
  EXPECT_EQ(FormatCounted(1, "row"), "1 row");
  EXPECT_EQ(FormatCounted(0, "row"), "0 rows");
  EXPECT_EQ(FormatCounted(1234, "file"), "1,234 files");
  EXPECT_EQ(FormatRate(3000, "rows", std::chrono::seconds(2)), "1,500 rows/s");
  EXPECT_EQ(FormatRate(0, "rows", Duration(0)), "0 rows/s");
}

}  // namespace
}  // namespace firn::cli
