#include "firn/merge/key_code.h"

#include <string>

#include <gtest/gtest.h>

#include "firn/merge/fake_input.h"

namespace firn::merge {
namespace {

KeyCode Code(std::string_view key, std::string_view base) {
  return CodeAt(MismatchFrom(0, key, base), key, base);
}

/// A few byte values, so that keys share prefixes, end in zeros, and are prefixes.
std::string RandomKey(SeededRandom& random) {
  static constexpr std::string_view kBytes("\0a\xff", 3);
  std::string key(random() % 3 == 0 ? 0 : random() % 20, 'a');
  for (std::size_t tail = random() % 9; tail > 0; --tail) key += kBytes[random() % 3];
  return key;
}

TEST(KeyCodeTest, MismatchIsTheFirstByteThatDiffers) {
  EXPECT_EQ(MismatchFrom(0, "", ""), 0);
  EXPECT_EQ(MismatchFrom(0, "abc", "abd"), 2);
  EXPECT_EQ(MismatchFrom(0, "abc", "abcd"), 3);
  EXPECT_EQ(MismatchFrom(0, "0123456789abcdefX", "0123456789abcdefY"), 16);
  EXPECT_EQ(MismatchFrom(3, "0123456X", "0123456Y"), 7);
}

TEST(KeyCodeTest, LaterDifferenceIsTheSmallerCode) {
  EXPECT_EQ(Code("abcdefgh", "abcdefgh"), kEqualCode);
  EXPECT_LT(Code("abcdefgi", "abcdefgh"), Code("abcdez", "abcdefgh"));
  EXPECT_LT(Code("abcdefgi", "abcdefgh"), Code("abcdefgj", "abcdefgh"));
  EXPECT_EQ(Code("abcdefghX", "abcdefgh"), CodeOfWord("abcdefghX", 1));
}

TEST(KeyCodeTest, KeyThatOnlyAddsZerosIsFar) {
  EXPECT_EQ(Code(std::string("abc\0", 4), "abc"), kFarCode);
  EXPECT_EQ(Code(std::string("abc\0\0\0\0\1", 8), "abc"),
            CodeOfWord(std::string("abc\0\0\0\0\1", 8), 1));
}

TEST(KeyCodeTest, DifferenceBehindTheLastWordThatCountsIsFar) {
  const std::string prefix(kFirstWordRank * kCodeWordBytes, 'a');
  EXPECT_EQ(Code(prefix + "c", prefix + "b"), kFarCode);
  EXPECT_LT(Code(prefix + "c", prefix + "b"),
            Code(prefix.substr(9) + "bb", prefix + "b"));
}

// The two properties that the tree stands on, for base <= a <= b.
TEST(KeyCodeTest, CodesOrderKeysAndStayWhenTheBaseMovesUp) {
  SeededRandom random;
  for (int i = 0; i < 200'000; ++i) {
    std::string keys[3] = {RandomKey(random), RandomKey(random), RandomKey(random)};
    std::ranges::sort(keys);
    const auto& [base, a, b] = keys;
    ASSERT_LE(Code(a, base), Code(b, base));
    ASSERT_LE(CodeOfWord(a, 0), CodeOfWord(b, 0));
    if (CodeOfWord(a, 0) < CodeOfWord(b, 0)) {
      ASSERT_EQ(Code(b, a), CodeOfWord(b, 0));
    }
    if (Code(a, base) < Code(b, base)) {
      ASSERT_EQ(Code(b, a), Code(b, base));
    } else {
      const std::size_t shared =
          std::min({SharedBytes(Code(a, base)), a.size(), b.size()});
      ASSERT_EQ(a.substr(0, shared), b.substr(0, shared));
    }
  }
}

}  // namespace
}  // namespace firn::merge
