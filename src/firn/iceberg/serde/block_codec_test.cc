#include "firn/iceberg/serde/block_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::iceberg {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

constexpr std::size_t kBytesMax = 1000;
constexpr const char* kText = "hello hello hello hello";

/// As python-zstandard writes kText: with its size in front, and without.
const std::string kFrame =
    "\x28\xb5\x2f\xfd\x20\x17\x65\x00\x00\x30hello \x01\x00\x99\x4b\x11"s;
const std::string kFrameWithoutSize =
    "\x28\xb5\x2f\xfd\x00\x00\x65\x00\x00\x30hello \x01\x00\x99\x4b\x11"s;
/// By hand: the size 23, six bytes as they are, 17 from six bytes before, the checksum.
const std::string kSnappy = "\x17\x14hello \x42\x06\x00\x8d\x3d\x51\xe3"s;

std::string MessageOf(const Result<std::string>& result) {
  return result.status().message();
}

TEST(BlockCodecTest, BlocksOfOthersAreRead) {
  EXPECT_EQ(DecompressZstandard(kFrame, kBytesMax).ValueOrDie(), kText);
  EXPECT_EQ(DecompressZstandard(kFrameWithoutSize, kBytesMax).ValueOrDie(), kText);
  EXPECT_EQ(DecompressSnappy(kSnappy, kBytesMax).ValueOrDie(), kText);
}

TEST(BlockCodecTest, BlocksThatHoldTooMuchAreRefused) {
  EXPECT_THAT(MessageOf(DecompressZstandard(kFrame, 22)), HasSubstr("more than 22"));
  EXPECT_THAT(MessageOf(DecompressSnappy(kSnappy, 22)), HasSubstr("more than 22"));
  EXPECT_TRUE(DecompressZstandard(kFrame, 23).ok());
  EXPECT_TRUE(DecompressSnappy(kSnappy, 23).ok());
}

TEST(BlockCodecTest, BlocksThatEndEarlyOrLateAreRefused) {
  for (std::size_t size = 0; size < kFrame.size(); ++size) {
    EXPECT_TRUE(IsError(DecompressZstandard(kFrame.substr(0, size), kBytesMax).status(),
                        ErrorKind::kCorruption));
  }
  for (std::size_t size = 0; size < kSnappy.size(); ++size) {
    EXPECT_TRUE(IsError(DecompressSnappy(kSnappy.substr(0, size), kBytesMax).status(),
                        ErrorKind::kCorruption));
  }
  EXPECT_FALSE(DecompressZstandard(kFrame + "x", kBytesMax).ok());
  EXPECT_FALSE(DecompressSnappy(kSnappy + "x", kBytesMax).ok());
}

TEST(BlockCodecTest, EveryFlippedBitOfSnappyIsSeen) {
  for (std::size_t i = 0; i < kSnappy.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = kSnappy;
      broken[i] = static_cast<char>(broken[i] ^ (1 << bit));
      EXPECT_FALSE(DecompressSnappy(broken, kBytesMax).ok()) << i << " " << bit;
    }
  }
}

}  // namespace
}  // namespace firn::iceberg
