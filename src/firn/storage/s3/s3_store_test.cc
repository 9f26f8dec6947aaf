// S3Store against a server that does what goes wrong; what goes right is tried on a real
// one by the conformance suite.

#include "firn/storage/s3/s3_store.h"

#include "firn/storage/s3/s3_store_fixture.h"

namespace firn::storage::s3 {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(S3StoreTest, AddressesKeysEscapedBelowBucketAndPrefix) {
  Open();
  ASSERT_TRUE(store_->PutWhole("a b/50%+ü#?", "x").ok());
  EXPECT_EQ(server_->Requests()[0].target, "/lake/root/a%20b/50%25%2B%C3%BC%23%3F");
  EXPECT_EQ(store_->GetWhole("a b/50%+ü#?").ValueOrDie(), "x");
  EXPECT_EQ(store_->Location("a b"), "s3://lake/root/a b");
}

TEST_F(S3StoreTest, WaitsAndRepeatsWhatTheServerPutsOff) {
  Open();
  Next({Fail(503, "SlowDown"), Fail(429, "TooManyRequests"), Fail(500, "InternalError")});
  const WallTime start = runtime_.Now();
  ASSERT_TRUE(store_->PutWhole("a", "bytes").ok());
  EXPECT_EQ(server_->Requests().size(), 4u);
  for (const ReceivedRequest& request : server_->Requests()) {
    EXPECT_EQ(request.body, "bytes");
  }
  EXPECT_GT(runtime_.Now(), start);
  // At most 100, 200 and 400 ms.
  EXPECT_LT(runtime_.Now() - start, std::chrono::milliseconds(700));
}

TEST_F(S3StoreTest, AThrottledPutWasSurelyNotCarriedOut) {
  Open();
  Always(Fail(503, "SlowDown"));
  const Status status = store_->PutWhole("a", "x");
  ExpectKind(status, ErrorKind::kUnavailable);
  EXPECT_THAT(ErrorText(status), AllOf(HasSubstr("PUT s3://lake/root/a: SlowDown"),
                                       HasSubstr("after 6 attempts")));
  EXPECT_EQ(server_->Requests().size(), 6u);
}

TEST_F(S3StoreTest, APutThatNeverArrivesIsUnavailable) {
  Open();
  server_ = nullptr;
  ExpectKind(store_->PutWhole("a", "x"), ErrorKind::kUnavailable);
}

TEST_F(S3StoreTest, APutWithoutAnAnswerMayHaveBeenCarriedOut) {
  Open([](S3StoreOptions& options) {
    options.client.request_timeout = std::chrono::milliseconds(30);
    options.client.attempts_max = 2;
  });
  Always(hang_);
  ExpectKind(store_->PutWhole("a", "x"), ErrorKind::kOutcomeUnknown);
  ExpectKind(store_->Delete("a"), ErrorKind::kOutcomeUnknown);
  ExpectKind(store_->GetRange("a", 0, 4).status(), ErrorKind::kUnavailable);
}

TEST_F(S3StoreTest, ThrottlingDoesNotMakeAnUnknownAttemptUndone) {
  Open();
  Always(Fail(503, "SlowDown"));
  Next({drop_, Fail(503, "SlowDown")});
  ExpectKind(store_->PutWhole("a", "x"), ErrorKind::kOutcomeUnknown);
}

TEST_F(S3StoreTest, ARefusalDoesNotMakeAnUnknownAttemptUndone) {
  Open();
  Next({apply_and_drop_, Fail(403, "AccessDenied")});
  const Status status = store_->PutWhole("a", "x");
  ExpectKind(status, ErrorKind::kOutcomeUnknown);
  EXPECT_THAT(ErrorText(status), HasSubstr("AccessDenied"));
  Next({drop_, Fail(404, "NoSuchKey")});
  EXPECT_TRUE(store_->Delete("a").ok());
}

TEST_F(S3StoreTest, AnOverwriteWhoseAnswerGotLostIsRepeated) {
  Open();
  Next({apply_and_drop_});
  EXPECT_TRUE(store_->PutWhole("a", "x").ok());
  EXPECT_THAT(Methods(), ElementsAre("PUT", "PUT"));
}

TEST_F(S3StoreTest, WhatIsThereIsThereAtTheFirstAttempt) {
  Open();
  ASSERT_TRUE(PutIfAbsent("first").ok());
  ExpectKind(PutIfAbsent("second"), ErrorKind::kAlreadyExists);
  EXPECT_THAT(Methods(), ElementsAre("PUT", "PUT"));
}

TEST_F(S3StoreTest, AnEarlierAttemptOfTheSamePutIsRecognised) {
  Open();
  Next({apply_and_drop_});
  EXPECT_TRUE(PutIfAbsent("x").ok());
  EXPECT_THAT(Methods(), ElementsAre("PUT", "PUT", "HEAD"));
}

TEST_F(S3StoreTest, SomebodyElsesPutOfTheSameBytesIsNotTakenForOnesOwn) {
  Open();
  ASSERT_TRUE(PutIfAbsent("x").ok());
  Next({drop_});
  ExpectKind(PutIfAbsent("x"), ErrorKind::kAlreadyExists);
}

TEST_F(S3StoreTest, AServerThatKeepsNoMarksCannotTell) {
  Open();
  Next({apply_and_drop_, Fail(412, "PreconditionFailed"),
        [](const ReceivedRequest&) { return Reply{}; }});
  ExpectKind(PutIfAbsent("x"), ErrorKind::kOutcomeUnknown);
}

TEST_F(S3StoreTest, ATruncatedAnswerIsFetchedAgain) {
  Open();
  ASSERT_TRUE(store_->PutWhole("a", "0123456789").ok());
  Next({[this](const ReceivedRequest& request) {
    Reply reply = s3_.Apply(request);
    reply.end = Reply::End::kTruncate;
    return reply;
  }});
  EXPECT_EQ(store_->GetWhole("a").ValueOrDie(), "0123456789");
}

Reply RangeReply(const std::string& range, const std::string& body) {
  return {.status = 206, .headers = {{"Content-Range", range}}, .body = body};
}

TEST_F(S3StoreTest, ARangeThatWasNotAskedForIsRefused) {
  Open();
  for (const Reply& reply :
       {RangeReply("bytes 0-3/10", "0123"), RangeReply("bytes 2-6/10", "23456"),
        RangeReply("bytes 2-5/10", "234"), RangeReply("2-5/10", "2345"),
        RangeReply("bytes x-y/z", "2345"), Reply{.status = 200, .body = "2345"},
        Reply{.status = 206, .body = "2345"}}) {
    Next({[reply](const ReceivedRequest&) { return reply; }});
    ExpectKind(store_->GetRange("a", 2, 4).status(), ErrorKind::kUnavailable);
  }
  Next({[](const ReceivedRequest&) { return RangeReply("bytes 2-5/10", "2345"); }});
  EXPECT_EQ(store_->GetRange("a", 2, 4).ValueOrDie(), "2345");
  EXPECT_EQ(http::FindHeader(server_->Requests().back().headers, "Range"), "bytes=2-5");
}

TEST_F(S3StoreTest, AnObjectThatEndsBeforeTheRangeIsCorruption) {
  Open();
  Next({[](const ReceivedRequest&) { return RangeReply("bytes 2-3/4", "23"); },
        Fail(416, "InvalidRange")});
  ExpectKind(store_->GetRange("a", 2, 4).status(), ErrorKind::kCorruption);
  ExpectKind(store_->GetRange("a", 20, 4).status(), ErrorKind::kCorruption);
}

TEST_F(S3StoreTest, ExpiredCredentialsAreRenewedOnce) {
  Open();
  Next({Fail(400, "ExpiredToken")});
  EXPECT_TRUE(store_->PutWhole("a", "x").ok());
  EXPECT_THAT(*http::FindHeader(server_->Requests()[1].headers, "Authorization"),
              HasSubstr("Credential=id1/"));
  Next({Fail(400, "ExpiredToken"), Fail(400, "ExpiredToken")});
  EXPECT_THAT(ErrorText(store_->PutWhole("a", "x")), HasSubstr("ExpiredToken"));
}

TEST_F(S3StoreTest, NothingIsTriedAgainAfterAStop) {
  StopSource stop;
  Open([&](S3StoreOptions& options) { options.client.stop = stop.token(); });
  ASSERT_TRUE(store_->PutWhole("a", "x").ok());
  Always([&](const ReceivedRequest&) {
    stop.RequestStop();
    return ErrorReply(503, "SlowDown");
  });
  const Status status = store_->GetWhole("a").status();
  ExpectKind(status, ErrorKind::kCancelled);
  EXPECT_THAT(ErrorText(status), HasSubstr("SlowDown"));
  EXPECT_EQ(server_->Requests().size(), 2u);
  Always(drop_);
  ExpectKind(store_->PutWhole("a", "x"), ErrorKind::kOutcomeUnknown);
  Always(ok_);
  EXPECT_TRUE(store_->PutWhole("a", "y").ok()) << "a first attempt is made still";
}

TEST_F(S3StoreTest, AMissingBucketIsNamed) {
  Open();
  Always(Fail(404, "NoSuchBucket"));
  const Status status = store_->GetWhole("a").status();
  EXPECT_FALSE(IsError(status, ErrorKind::kNotFound));
  EXPECT_THAT(ErrorText(status), HasSubstr("there is no bucket \"lake\""));
  EXPECT_EQ(server_->Requests().size(), 1u) << "nothing to try again";
}

std::string Page(std::initializer_list<const char*> keys, const std::string& token) {
  std::string text = "<ListBucketResult>";
  for (const char* key : keys) {
    text += fmt::format(
        "<Contents><Key>{}</Key><Size>1</Size>"
        "<LastModified>2024-01-02T03:04:05Z</LastModified></Contents>",
        key);
  }
  text += token.empty() ? "<IsTruncated>false</IsTruncated>"
                        : fmt::format(
                              "<IsTruncated>true</IsTruncated><NextContinuationToken>"
                              "{}</NextContinuationToken>",
                              token);
  return text + "</ListBucketResult>";
}

TEST_F(S3StoreTest, ListsPageByPage) {
  Open();
  Next({[](const ReceivedRequest&) {
          return Reply{.body = Page({"root/a/2", "root/a/"}, "t/1")};
        },
        [](const ReceivedRequest&) { return Reply{.body = Page({"root/a/1"}, "")}; }});
  const auto listed = store_->List("a/");
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ(listed->at(0).key, "a/1");
  EXPECT_EQ(listed->at(1).key, "a/2");
  EXPECT_EQ(server_->Requests()[0].target,
            "/lake/?encoding-type=url&list-type=2&prefix=root%2Fa%2F");
  EXPECT_EQ(server_->Requests()[1].target,
            "/lake/?continuation-token=t%2F1&encoding-type=url&list-type=2"
            "&prefix=root%2Fa%2F");
}

TEST_F(S3StoreTest, WithoutARootTheFirstPartOfAKeyIsTheBucket) {
  Open([](S3StoreOptions& options) { options.root = ""; });
  ASSERT_TRUE(store_->PutWhole("other/a", "x").ok());
  EXPECT_EQ(server_->Requests()[0].target, "/other/a");
  EXPECT_EQ(store_->Location("other/a"), "s3://other/a");
  Next({[](const ReceivedRequest&) { return Reply{.body = Page({"a", "ab"}, "")}; }});
  EXPECT_EQ(store_->List("other/a").ValueOrDie().at(1).key, "other/ab");
  EXPECT_TRUE(store_->List("other").status().IsInvalid());
  // To put it would make a bucket.
  EXPECT_TRUE(store_->PutWhole("other", "x").IsInvalid());
  EXPECT_TRUE(store_->GetWhole("other").status().IsInvalid());
}

TEST_F(S3StoreTest, AListThatCannotBeTrueIsCorruption) {
  Open();
  Always([](const ReceivedRequest&) { return Reply{.body = Page({}, "same")}; });
  ExpectKind(store_->List("").status(), ErrorKind::kCorruption);
  Always([](const ReceivedRequest&) { return Reply{.body = Page({"other/a"}, "")}; });
  ExpectKind(store_->List("").status(), ErrorKind::kCorruption);
  Always([](const ReceivedRequest&) { return Reply{.body = "<html/>"}; });
  ExpectKind(store_->List("").status(), ErrorKind::kCorruption);
}

/// Remembers where requests go.
class RecordingClient : public http::HttpClient {
 public:
  Result<http::Response> Send(const http::Request& request, std::string_view) override {
    requests.push_back(request);
    return http::Response{.status = 200};
  }
  std::vector<http::Request> requests;
};

std::string UrlOf(const S3Endpoint& endpoint) {
  FakeRuntime runtime;
  RecordingClient client;
  StaticCredentials credentials({.access_key_id = "a", .secret_access_key = "b"});
  auto store = S3Store::Make(runtime, client, credentials,
                             {.root = "lake", .client = {.endpoint = endpoint}});
  if (!store.ok()) return ErrorText(store.status());
  EXPECT_TRUE((*store)->GetWhole("k").ok());
  return client.requests.at(0).url;
}

TEST(S3EndpointTest, GivesTheUrl) {
  using enum S3Endpoint::Addressing;
  EXPECT_EQ(UrlOf({.region = "eu-west-1"}), "https://lake.s3.eu-west-1.amazonaws.com/k");
  EXPECT_EQ(UrlOf({.region = "cn-north-1"}),
            "https://lake.s3.cn-north-1.amazonaws.com.cn/k");
  EXPECT_EQ(UrlOf({.addressing = kPath}), "https://s3.us-east-1.amazonaws.com/lake/k");
  EXPECT_EQ(UrlOf({.url = "http://h:9000/", .addressing = kPath}),
            "http://h:9000/lake/k");
  EXPECT_EQ(UrlOf({.url = "https://h/s3"}), "https://lake.h/s3/k");
  for (const char* bad : {"h:9000", "ftp://h", "http://", "http://u:secret@h", "h"}) {
    EXPECT_THAT(UrlOf({.url = bad}),
                AllOf(StartsWith("the S3 endpoint"), Not(HasSubstr("secret"))));
  }
}

}  // namespace
}  // namespace firn::storage::s3
