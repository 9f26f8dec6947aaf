#include "firn/storage/s3/sigv4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/storage/s3/digest.h"
#include "firn/storage/s3/utc_time.h"

namespace firn::storage::s3 {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

WallTime At(std::string_view text) { return ParseUtcTime(text).ValueOrDie(); }

std::string Find(const std::vector<http::Header>& headers, std::string_view name) {
  return std::string(http::FindHeader(headers, name).value_or("(none)"));
}

// The examples of "Signature Calculations for the Authorization Header" in the S3 API
// reference.
class S3ExampleTest : public ::testing::Test {
 protected:
  static constexpr const char* kEmpty =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

  std::string SignatureOf(RequestToSign request) {
    request.headers.push_back({"Host", "examplebucket.s3.amazonaws.com"});
    request.headers.push_back({"x-amz-content-sha256", request.payload_sha256});
    const auto added =
        Sign(request,
             {.time = At("2013-05-24T00:00:00Z"), .region = "us-east-1", .service = "s3"},
             {.access_key_id = "AKIAIOSFODNN7EXAMPLE",
              .secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"});
    EXPECT_EQ(Find(added, "X-Amz-Date"), "20130524T000000Z");
    return Find(added, "Authorization");
  }
};

TEST_F(S3ExampleTest, GetObject) {
  EXPECT_EQ(
      SignatureOf({.method = "GET",
                   .path = "/test.txt",
                   .headers = {{"Range", "bytes=0-9"}},
                   .payload_sha256 = kEmpty}),
      "AWS4-HMAC-SHA256 "
      "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
      " SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
      " Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST_F(S3ExampleTest, PutObject) {
  EXPECT_THAT(
      SignatureOf({.method = "PUT",
                   .path = "/" + EncodeUriPath("test$file.text"),
                   .headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                               {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                   .payload_sha256 = Sha256Hex("Welcome to Amazon S3.")}),
      EndsWith("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST_F(S3ExampleTest, ANameWithoutValue) {
  EXPECT_THAT(
      SignatureOf({.method = "GET",
                   .path = "/",
                   .query = {{"lifecycle", ""}},
                   .payload_sha256 = kEmpty}),
      EndsWith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
}

TEST_F(S3ExampleTest, ListObjects) {
  EXPECT_THAT(
      SignatureOf({.method = "GET",
                   .path = "/",
                   .query = {{"prefix", "J"}, {"max-keys", "2"}},
                   .payload_sha256 = kEmpty}),
      EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

// "get-vanilla" of AWS's test suite for Signature Version 4.
TEST(SignTest, AnotherService) {
  const auto added = Sign(
      {.method = "GET",
       .path = "/",
       .headers = {{"Host", "example.amazonaws.com"}},
       .payload_sha256 = Sha256Hex("")},
      {.time = At("2015-08-30T12:36:00Z"), .region = "us-east-1", .service = "service"},
      {.access_key_id = "AKIDEXAMPLE",
       .secret_access_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"});
  EXPECT_THAT(
      Find(added, "Authorization"),
      EndsWith("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"));
}

TEST(SignTest, ASessionTokenIsSentAndSigned) {
  const auto added = Sign({.method = "GET", .path = "/", .payload_sha256 = Sha256Hex("")},
                          {.region = "r", .service = "s3"},
                          {.access_key_id = "a", .session_token = "t"});
  EXPECT_EQ(Find(added, "X-Amz-Security-Token"), "t");
  EXPECT_THAT(Find(added, "Authorization"), HasSubstr("x-amz-security-token"));
}

TEST(UriTest, EncodesAllButTheUnreserved) {
  EXPECT_EQ(EncodeUriPart("aZ09-._~ /+%ü"), "aZ09-._~%20%2F%2B%25%C3%BC");
  EXPECT_EQ(EncodeUriPath("/a b/c"), "/a%20b/c");
}

TEST(UriTest, QueriesAreInOrderOfTheirEncodedNames) {
  EXPECT_EQ(EncodeQuery({{"b", "2"}, {"a", "x y"}, {"a-b", "&"}}), "a=x%20y&a-b=%26&b=2");
}

TEST(UriTest, Decodes) {
  EXPECT_EQ(*DecodeUri("a+b%2Bc%c3%BC"), "a b+cü");
  for (const char* bad : {"%", "%1", "%1g", "%+1", "a%"}) {
    EXPECT_TRUE(IsError(DecodeUri(bad).status(), ErrorKind::kCorruption)) << bad;
  }
}

TEST(UtcTimeTest, ReadsAndWrites) {
  const WallTime time = At("2013-05-24T01:02:03.456Z");
  EXPECT_EQ(time.time_since_epoch().count(), 1'369'357'323'000'000);
  EXPECT_EQ(CompactTime(time), "20130524T010203Z");
  for (const char* bad :
       {"", "2013-05-24", "2013-05-24T01:02:03", "2013-13-24T01:02:03Z",
        "2013-02-30T01:02:03Z", "2013-05-24T24:02:03Z", "2013-05-24T01:02:03+01:00",
        "2013-05-24T01:02:03.Z", "-013-05-24T01:02:03Z", "2013-05-24 01:02:03Z"}) {
    EXPECT_TRUE(IsError(ParseUtcTime(bad).status(), ErrorKind::kCorruption)) << bad;
  }
}

}  // namespace
}  // namespace firn::storage::s3
