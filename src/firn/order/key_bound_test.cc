#include "firn/order/key_bound.h"

#include <gtest/gtest.h>

namespace firn::order {
namespace {

/// The longest key that is not cut, and what comes after it.
std::string FullKey(std::string_view more) {
  std::string key;
  key.append(kKeyBytesMax, 'k').append(more);
  return key;
}

TEST(KeyBoundTest, ShortKeysStayAsTheyAre) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, kKeyBytesMax}) {
    const std::string key(size, 'k');
    EXPECT_EQ(TruncateKeyDown(key), key);
    EXPECT_EQ(TruncateKeyUp(key), key);
  }
}

TEST(KeyBoundTest, LongKeysAreCutAndRaised) {
  EXPECT_EQ(TruncateKeyDown(FullKey("z")), FullKey(""));
  EXPECT_EQ(TruncateKeyUp(FullKey("z")), FullKey("").replace(kKeyBytesMax - 1, 1, "l"));
}

TEST(KeyBoundTest, HighestBytesAreDroppedBeforeRaising) {
  const std::string key = "a" + std::string(kKeyBytesMax, '\xff');
  EXPECT_EQ(TruncateKeyUp(key), "b");
}

TEST(KeyBoundTest, NoByteToRaiseMeansUnbounded) {
  EXPECT_EQ(TruncateKeyUp(std::string(kKeyBytesMax + 1, '\xff')), std::nullopt);
}

}  // namespace
}  // namespace firn::order
