#include "firn/sources/http/body_decoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arrow/buffer.h>

#include "firn/sources/files/test_compression.h"

namespace firn::sources {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMax = 1000;

TEST(BodyDecodingTest, TakesTheCompressionAway) {
  EXPECT_EQ(DecodeBody("plain", "", kMax), "plain");
  EXPECT_EQ(DecodeBody("plain", "identity", kMax), "plain");
  EXPECT_EQ(DecodeBody("", "", kMax), "");
  EXPECT_EQ(DecodeBody(Gzip("text"), "GZIP", kMax), "text");
  EXPECT_EQ(DecodeBody(Gzip("a") + Gzip("b"), "gzip", kMax), "ab");
  EXPECT_EQ(DecodeBody(Compressed(arrow::Compression::ZSTD, "text"), "zstd", kMax),
            "text");
}

TEST(BodyDecodingTest, TellsCompressionThatNoHeaderNames) {
  EXPECT_EQ(DecodeBody(Gzip("text"), "", kMax), "text");
}

TEST(BodyDecodingTest, StopsAtTheLimit) {
  EXPECT_EQ(DecodeBody(Gzip(std::string(kMax, 'x')), "gzip", kMax)->size(), 1000U);
  for (const std::int64_t bytes : {kMax + 1, std::int64_t{100} << 20}) {
    const auto body = Gzip(std::string(static_cast<std::size_t>(bytes), 'x'));
    const Status status = DecodeBody(body, "gzip", kMax).status();
    EXPECT_TRUE(status.IsCapacityError()) << status;
  }
}

TEST(BodyDecodingTest, RefusesWhatIsDamagedOrNotAsSaid) {
  EXPECT_THAT(ErrorText(DecodeBody("plain", "gzip", kMax).status()),
              HasSubstr("neither gzip nor zstd, though it is said to be gzip"));
  std::string cut = Gzip("some text");
  cut.resize(cut.size() - 5);
  EXPECT_THAT(ErrorText(DecodeBody(cut, "gzip", kMax).status()), HasSubstr("the body"));
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
