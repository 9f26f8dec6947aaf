#include "firn/sources/http/body_decoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arrow/buffer.h>

#include "firn/sources/files/test_compression.h"

namespace firn::sources {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMax = 1000;

Result<std::string> Decode(std::string body, std::string_view encoding,
                           std::int64_t bytes_max) {
  return DecodeBody(std::move(body), encoding, bytes_max,
                    [](std::int64_t) { return Status::OK(); });
}

TEST(BodyDecodingTest, TakesTheCompressionAway) {
  EXPECT_EQ(Decode("plain", "", kMax), "plain");
  EXPECT_EQ(Decode("plain", "identity", kMax), "plain");
  EXPECT_EQ(Decode("", "", kMax), "");
  EXPECT_EQ(Decode(Gzip("text"), "GZIP", kMax), "text");
  EXPECT_EQ(Decode(Gzip("a") + Gzip("b"), "gzip", kMax), "ab");
  EXPECT_EQ(Decode(Compressed(arrow::Compression::ZSTD, "text"), "zstd", kMax), "text");
}

TEST(BodyDecodingTest, TellsCompressionThatNoHeaderNames) {
  EXPECT_EQ(Decode(Gzip("text"), "", kMax), "text");
}

TEST(BodyDecodingTest, StopsAtTheLimit) {
  EXPECT_EQ(Decode(Gzip(std::string(kMax, 'x')), "gzip", kMax)->size(), 1000U);
  for (const std::int64_t bytes : {kMax + 1, std::int64_t{100} << 20}) {
    const auto body = Gzip(std::string(static_cast<std::size_t>(bytes), 'x'));
    const Status status = Decode(body, "gzip", kMax).status();
    EXPECT_TRUE(status.IsCapacityError()) << status;
  }
}

TEST(BodyDecodingTest, ClaimsTheMemoryOfWhatItMakesBeforeItIsMade) {
  constexpr std::int64_t kBytes = 8 << 20;
  const std::string body = Gzip(std::string(kBytes, 'x'));
  std::int64_t claimed = 0;
  const ClaimMemory count = [&](std::int64_t bytes) {
    claimed += bytes;
    return Status::OK();
  };
  ASSERT_EQ(DecodeBody(body, "gzip", kBytes, count)->size(), std::size_t{kBytes});
  EXPECT_GE(claimed, kBytes);
  EXPECT_LE(claimed, 4 * kBytes);
  const ClaimMemory refuse = [](std::int64_t bytes) {
    return bytes > kBytes / 4 ? InvalidError("enough") : Status::OK();
  };
  EXPECT_EQ(ErrorText(DecodeBody(body, "gzip", kBytes, refuse).status()), "enough");
}

TEST(BodyDecodingTest, RefusesWhatIsDamagedOrNotAsSaid) {
  EXPECT_THAT(ErrorText(Decode("plain", "gzip", kMax).status()),
              HasSubstr("neither gzip nor zstd, though it is said to be gzip"));
  std::string cut = Gzip("some text");
  cut.resize(cut.size() - 5);
  EXPECT_THAT(ErrorText(Decode(cut, "gzip", kMax).status()), HasSubstr("the body"));
}

TEST(BodyDecodingTest, KnowsWhatItCanDecode) {
  for (const char* known : {"", "identity", "gzip", "x-gzip", "zstd", "Gzip"}) {
    EXPECT_TRUE(IsKnownEncoding(known)) << known;
  }
  for (const char* unknown : {"br", "deflate", "gzip, zstd"}) {
    EXPECT_FALSE(IsKnownEncoding(unknown)) << unknown;
  }
}

}  // namespace
}  // namespace firn::sources
