#include "firn/types/bounds.h"

#include <gtest/gtest.h>

namespace firn::types {
namespace {

TEST(BoundsTest, StringsAreCutAtCodePoints) {
  EXPECT_EQ(TruncateLowerString("aü\U0001F9CAz", 3), "aü\U0001F9CA");
  EXPECT_EQ(TruncateLowerString("ab", 3), "ab");
  EXPECT_EQ(TruncateLowerString("", 3), "");
}

TEST(BoundsTest, UpperStringIsRaisedAtItsLastCodePoint) {
  EXPECT_EQ(TruncateUpperString("abcd", 3), "abd");
  EXPECT_EQ(TruncateUpperString("abc", 3), "abc");
  EXPECT_EQ(TruncateUpperString("a\u007fx", 2), "a\u0080");
  EXPECT_EQ(TruncateUpperString("a\u07ffx", 2), "a\u0800");
  EXPECT_EQ(TruncateUpperString("a\uffffx", 2), "a\U00010000");
}

TEST(BoundsTest, UpperStringSkipsSurrogates) {
  EXPECT_EQ(TruncateUpperString("a\ud7ffx", 2), "a\ue000");
}

TEST(BoundsTest, UpperStringDropsTheHighestCodePoint) {
  EXPECT_EQ(TruncateUpperString("a\U0010ffffx", 2), "b");
  EXPECT_EQ(TruncateUpperString("\U0010ffff\U0010ffffx", 2), std::nullopt);
}

TEST(BoundsTest, UpperStringIsLeftOutWhereUtf8IsMalformed) {
  EXPECT_EQ(TruncateUpperString("a\xffzz", 2), std::nullopt);
  EXPECT_EQ(TruncateUpperString("a\xed\xa0\x80zz", 2), std::nullopt);
  EXPECT_EQ(TruncateUpperString("a\xc3zz", 2), std::nullopt);
}

TEST(BoundsTest, BinaryIsCutAndRaisedAtBytes) {
  EXPECT_EQ(TruncateLowerBinary("\x01\x02\x03", 2), "\x01\x02");
  EXPECT_EQ(TruncateUpperBinary("\x01\x02\x03", 2), "\x01\x03");
  EXPECT_EQ(TruncateUpperBinary("\x01\x02", 2), "\x01\x02");
  EXPECT_EQ(TruncateUpperBinary("\x01\xff\x03", 2), "\x02");
  EXPECT_EQ(TruncateUpperBinary("\x7f\xff\x03", 2), "\x80");
  EXPECT_EQ(TruncateUpperBinary("\xff\xff\x03", 2), std::nullopt);
}

}  // namespace
}  // namespace firn::types
