#include "firn/storage/location.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::storage {
namespace {

using testing::HasSubstr;

std::string PathOf(std::string_view location) {
  return LocalPathOf(location).ValueOr("(invalid)");
}

TEST(LocationTest, SpellingsOfOneFileAreOne) {
  for (const char* text : {"/data/x", "file:/data/x", "file:///data/x", "FILE:///data/x",
                           "file://localhost/data/x", "file:////data//x/"}) {
    EXPECT_EQ(PathOf(text), "/data/x") << text;
    EXPECT_EQ(ParseLocation(text).ValueOrDie(), ParseLocation("/data/x").ValueOrDie());
  }
}

TEST(LocationTest, NothingIsDecoded) {
  EXPECT_EQ(PathOf("file:///a b/50%25/c#d?e"), "/a b/50%25/c#d?e");
  EXPECT_EQ(PathOf("/a:b/c"), "/a:b/c");
}

TEST(LocationTest, RootStaysRoot) {
  EXPECT_EQ(PathOf("file:///"), "/");
  EXPECT_EQ(PathOf("/"), "/");
}

TEST(LocationTest, OtherSchemesKeepTheirBucket) {
  EXPECT_EQ(ParseLocation("S3://bucket/a//b").ValueOrDie(),
            (Location{.scheme = "s3", .authority = "bucket", .path = "/a//b"}));
  EXPECT_EQ(ParseLocation("s3://bucket").ValueOrDie(),
            (Location{.scheme = "s3", .authority = "bucket", .path = ""}));
}

TEST(LocationTest, RefusalsSayWhy) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"", "relative"},
      {"data/x", "relative"},
      {"file:data/x", "relative"},
      {"file:", "relative"},
      {"file://server/x", "host 'server'"},
      {"s3://bucket/x", "scheme is 's3'"},
      {"s3:bucket", "relative"}};
  for (const auto& [text, reason] : cases) {
    const Status status = LocalPathOf(text).status();
    EXPECT_TRUE(status.IsInvalid()) << text;
    EXPECT_THAT(ErrorText(status), HasSubstr(reason)) << text;
  }
}

TEST(LocationTest, PathsAreWrittenSoThatPyIcebergReadsThem) {
  EXPECT_EQ(LocationOfLocalPath("/a b/50%"), "file:///a b/50%");
  // Python's urlparse would end the path of a URI at these.
  EXPECT_EQ(LocationOfLocalPath("/a#b"), "/a#b");
  EXPECT_EQ(LocationOfLocalPath("/a?b"), "/a?b");
  for (const char* path : {"/", "/a b/50%", "/a#b", "/x?y\n", "/\xc3\xbc"}) {
    EXPECT_EQ(PathOf(LocationOfLocalPath(path)), path);
  }
}

}  // namespace
}  // namespace firn::storage
