#include "firn/storage/s3/s3_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/storage/s3/s3_answer.h"

namespace firn::storage::s3 {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPage = R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>lake</Name><Prefix>a</Prefix><KeyCount>2</KeyCount>
  <IsTruncated>true</IsTruncated>
  <Contents>
    <Key>a/50%25+%C3%BC%26</Key><LastModified>2024-01-02T03:04:05.000Z</LastModified>
    <ETag>&quot;e&quot;</ETag><Size>7</Size><StorageClass>STANDARD</StorageClass>
  </Contents>
  <Contents>
    <Key>b</Key><LastModified>1970-01-01T00:00:01Z</LastModified><Size>0</Size>
  </Contents>
  <NextContinuationToken>1&amp;2=</NextContinuationToken>
</ListBucketResult>)";

TEST(ListPageTest, ReadsObjectsAndToken) {
  const auto page = ParseListPage(kPage);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(page->objects,
              ElementsAre(ObjectInfo{.key = "a/50% ü&",
                                     .size_bytes = 7,
                                     .modified_us = 1'704'164'645'000'000},
                          ObjectInfo{.key = "b", .modified_us = 1'000'000}));
  EXPECT_EQ(page->next_token, "1&2=");
}

std::string Replaced(std::string_view from, std::string_view to) {
  std::string text = kPage;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ListPageTest, ABrokenPageIsCorruption) {
  for (const std::string& text :
       {std::string(), std::string("<html/>"), std::string(kPage).substr(0, 300),
        Replaced("<Size>7", "<Size>-7"), Replaced("<Size>7", "<Size>x"),
        Replaced("<Size>7</Size>", ""), Replaced("<Key>b</Key>", ""),
        Replaced("%25", "%2"), Replaced("2024-01", "2024-13"),
        Replaced("<IsTruncated>true</IsTruncated>", ""),
        Replaced("<IsTruncated>true", "<IsTruncated>yes"),
        Replaced("1&amp;2=</Next", "</Next"),
        Replaced("<NextContinuationToken>1&amp;2=</NextContinuationToken>", "")}) {
    const Status status = ParseListPage(text).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << text << "\n" << status;
  }
}

TEST(ListPageTest, TheLastPageHasNoToken) {
  const auto page = ParseListPage(Replaced("<IsTruncated>true", "<IsTruncated>false"));
  EXPECT_EQ(page->next_token, "");
}

TEST(UploadTest, ReadsTheId) {
  EXPECT_EQ(*ParseUploadId("<InitiateMultipartUploadResult><UploadId>x</UploadId>"
                           "</InitiateMultipartUploadResult>"),
            "x");
  EXPECT_FALSE(ParseUploadId("<InitiateMultipartUploadResult/>").ok());
}

TEST(UploadTest, OnlyOneAnswerSaysThatItIsComplete) {
  EXPECT_TRUE(SaysComplete("\n<x:CompleteMultipartUploadResult xmlns:x='y'/>"));
  for (const char* other : {"", "<Error/>", "<Complete", "ok"}) {
    EXPECT_FALSE(SaysComplete(other)) << other;
  }
}

TEST(UploadTest, NamesThePartsInOrder) {
  EXPECT_EQ(CompletionText({"\"a\"", "b&"}),
            "<CompleteMultipartUpload>"
            "<Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
            "<Part><PartNumber>2</PartNumber><ETag>b&amp;</ETag></Part>"
            "</CompleteMultipartUpload>");
}

http::Response Answer(int status, const std::string& code, const std::string& message) {
  return {.status = status,
          .headers = {{"x-amz-request-id", "4A5B"}},
          .body = fmt::format("<Error><Code>{}</Code><Message>{}</Message></Error>", code,
                              message)};
}

const Subject kSubject = {.method = "GET", .bucket = "lake", .key = "a/b"};

TEST(FailureTest, AMissingObjectIsNotFound) {
  const Status status = FailureOf(kSubject, Answer(404, "NoSuchKey", "x"));
  EXPECT_TRUE(IsError(status, ErrorKind::kNotFound));
  EXPECT_THAT(ErrorText(status), HasSubstr("s3://lake/a/b"));
  EXPECT_TRUE(
      IsError(FailureOf({"HEAD", "lake", "a"}, {.status = 404}), ErrorKind::kNotFound));
}

TEST(FailureTest, AMissingBucketIsNoMissingObject) {
  for (const http::Response& answer : {Answer(404, "NoSuchBucket", "x"),
                                       http::Response{.status = 404, .body = "<html>"}}) {
    const Status status = FailureOf(kSubject, answer);
    EXPECT_FALSE(IsError(status, ErrorKind::kNotFound)) << status;
    EXPECT_THAT(ErrorText(status), HasSubstr("lake"));
  }
}

TEST(FailureTest, SaysWhatTheServerSaid) {
  const Status status = FailureOf(
      kSubject, Answer(403, "AccessDenied", "User: x\r\n is \x1b[1mnot allowed"));
  EXPECT_THAT(
      ErrorText(status),
      AllOf(HasSubstr("GET s3://lake/a/b: AccessDenied: User: x"),
            HasSubstr("(request 4A5B)"), Not(HasSubstr("\n")), Not(HasSubstr("\x1b"))));
}

TEST(FailureTest, NamesTheRegionOfABucketElsewhere) {
  http::Response answer = Answer(301, "PermanentRedirect", "elsewhere");
  answer.headers.push_back({"x-amz-bucket-region", "eu-west-1"});
  EXPECT_THAT(ErrorText(FailureOf(kSubject, answer)),
              HasSubstr("the bucket is in region eu-west-1: set s3.region"));
}

TEST(JudgeTest, TellsWhatIsWorthAnotherAttempt) {
  EXPECT_EQ(Judge({.status = 200}), Verdict::kFinal);
  EXPECT_EQ(Judge({.status = 429}), Verdict::kThrottled);
  EXPECT_EQ(Judge(Answer(503, "SlowDown", "")), Verdict::kThrottled);
  EXPECT_EQ(Judge(Answer(409, "ConditionalRequestConflict", "")), Verdict::kThrottled);
  EXPECT_EQ(Judge(Answer(400, "RequestTimeout", "")), Verdict::kThrottled);
  EXPECT_EQ(Judge(Answer(500, "InternalError", "")), Verdict::kServerFailed);
  EXPECT_EQ(Judge({.status = 502, .body = "<html>"}), Verdict::kServerFailed);
  EXPECT_EQ(Judge({.status = 503, .body = "<html>"}), Verdict::kServerFailed);
  EXPECT_EQ(Judge(Answer(501, "NotImplemented", "")), Verdict::kFinal);
  EXPECT_EQ(Judge(Answer(400, "ExpiredToken", "")), Verdict::kExpiredCredentials);
  EXPECT_EQ(Judge(Answer(412, "PreconditionFailed", "")), Verdict::kFinal);
  EXPECT_EQ(Judge(Answer(403, "AccessDenied", "")), Verdict::kFinal);
}

}  // namespace
}  // namespace firn::storage::s3
