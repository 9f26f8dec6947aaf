#include "firn/storage/s3/multipart_upload.h"

#include "firn/storage/s3/s3_store_fixture.h"

namespace firn::storage::s3 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MultipartTest : public S3StoreTest {
 protected:
  MultipartTest() {
    Open([](S3StoreOptions& options) {
      options.single_put_bytes_max = 9;
      options.part_bytes = 4;
    });
  }
  Status Put(PutMode mode = PutMode::kOverwrite) {
    return store_->PutWhole("a", "0123456789", mode);
  }
};

TEST_F(MultipartTest, LargeObjectsArePutInParts) {
  ASSERT_TRUE(Put().ok());
  EXPECT_EQ(s3_.objects.at("/lake/root/a").body, "0123456789");
  EXPECT_THAT(Methods(), ElementsAre("POST", "PUT", "PUT", "PUT", "POST"));
  EXPECT_EQ(server_->Requests()[3].target, "/lake/root/a?partNumber=3&uploadId=u");
}

TEST_F(MultipartTest, OnlyTheLastStepIsConditional) {
  ASSERT_TRUE(Put(PutMode::kIfAbsent).ok());
  for (const ReceivedRequest& request : server_->Requests()) {
    const bool is_last = request.body.starts_with("<CompleteMultipart");
    EXPECT_EQ(http::FindHeader(request.headers, "If-None-Match").has_value(), is_last);
  }
}

TEST_F(MultipartTest, AFailedPartAbortsTheUpload) {
  Next({ok_, ok_, Fail(403, "AccessDenied")});
  EXPECT_THAT(ErrorText(Put()), HasSubstr("AccessDenied"));
  EXPECT_THAT(Methods(), ElementsAre("POST", "PUT", "PUT", "DELETE"));
  EXPECT_TRUE(s3_.objects.empty());
}

TEST_F(MultipartTest, PartsWithoutAnAnswerMakeNoObject) {
  Always(drop_);
  Next({ok_, drop_});
  ExpectKind(Put(), ErrorKind::kUnavailable);
}

TEST_F(MultipartTest, TheLastStepWithoutAnAnswerMayHaveMadeIt) {
  Always(drop_);
  Next({ok_, ok_, ok_, ok_, drop_});
  ExpectKind(Put(), ErrorKind::kOutcomeUnknown);
}

TEST_F(MultipartTest, AnEarlierAttemptOfTheLastStepIsRecognised) {
  Next({ok_, ok_, ok_, ok_, apply_and_drop_});
  EXPECT_TRUE(Put().ok());
  EXPECT_EQ(Methods().back(), "HEAD");
}

TEST_F(MultipartTest, AnErrorWithStatus200IsAnError) {
  Next({ok_, ok_, ok_, ok_, Fail(200, "InternalError")});
  EXPECT_TRUE(Put().ok());
  EXPECT_THAT(Methods(), ElementsAre("POST", "PUT", "PUT", "PUT", "POST", "POST"));
}

TEST_F(MultipartTest, WhatIsThereStays) {
  Next({ok_, ok_, ok_, ok_, Fail(412, "PreconditionFailed")});
  ExpectKind(Put(PutMode::kIfAbsent), ErrorKind::kAlreadyExists);
  EXPECT_EQ(Methods().back(), "DELETE");
}

class PiecesTest : public MultipartTest {
 protected:
  std::unique_ptr<ObjectWriter> Begin(PutMode mode = PutMode::kOverwrite) {
    return store_->PutInPieces("a", mode).ValueOrDie();
  }
};

TEST_F(PiecesTest, GoOutAsTheyCome) {
  const auto writer = Begin();
  ASSERT_TRUE(writer->Append("012345").ok());
  EXPECT_THAT(Methods(), ElementsAre("POST", "PUT"));
  EXPECT_EQ(server_->Requests().back().body, "0123");
  ASSERT_TRUE(writer->Append("67").ok());
  EXPECT_EQ(server_->Requests().size(), 2u) << "more may follow, or nothing";
  ASSERT_TRUE(writer->Append("89").ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(s3_.objects.at("/lake/root/a").body, "0123456789");
  EXPECT_THAT(Methods(), ElementsAre("POST", "PUT", "PUT", "PUT", "POST"));
}

TEST_F(PiecesTest, OfOnePartAreOneRequest) {
  const auto writer = Begin();
  ASSERT_TRUE(writer->Append("01").ok());
  ASSERT_TRUE(writer->Append("23").ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(s3_.objects.at("/lake/root/a").body, "0123");
  EXPECT_THAT(Methods(), ElementsAre("PUT"));
}

TEST_F(PiecesTest, WithoutAnEndAreAborted) {
  ASSERT_TRUE(Begin()->Append("012345").ok());
  EXPECT_THAT(Methods(), ElementsAre("POST", "PUT", "DELETE"));
  EXPECT_EQ(server_->Requests().back().target, "/lake/root/a?uploadId=u");
  EXPECT_TRUE(s3_.objects.empty());
}

TEST_F(PiecesTest, OfWhichOneFailsAreAborted) {
  Next({ok_, ok_, Fail(403, "AccessDenied")});
  {
    const auto writer = Begin();
    ASSERT_TRUE(writer->Append("01234567").ok());
    EXPECT_THAT(ErrorText(writer->Append("8")), HasSubstr("AccessDenied"));
  }
  EXPECT_THAT(Methods(), ElementsAre("POST", "PUT", "PUT", "DELETE"));
  EXPECT_TRUE(s3_.objects.empty());
}

TEST_F(PiecesTest, KeepWhatIsThere) {
  ASSERT_TRUE(store_->PutWhole("a", "first").ok());
  Next({ok_, ok_, ok_, Fail(412, "PreconditionFailed")});
  const auto writer = Begin(PutMode::kIfAbsent);
  ASSERT_TRUE(writer->Append("012345").ok());
  ExpectKind(writer->Finish(), ErrorKind::kAlreadyExists);
  EXPECT_EQ(Methods().back(), "DELETE");
  EXPECT_EQ(s3_.objects.at("/lake/root/a").body, "first");
}

TEST_F(PiecesTest, OfWhichTheEndGotNoAnswerMayBeThere) {
  Always(drop_);
  Next({ok_, ok_, ok_, drop_});
  const auto writer = Begin();
  ASSERT_TRUE(writer->Append("012345").ok());
  ExpectKind(writer->Finish(), ErrorKind::kOutcomeUnknown);
}

TEST_F(PiecesTest, OfWhichTheEndGotNoAnswerButWasMadeAreRecognised) {
  Next({ok_, ok_, ok_, apply_and_drop_});
  const auto writer = Begin(PutMode::kIfAbsent);
  ASSERT_TRUE(writer->Append("012345").ok());
  EXPECT_TRUE(writer->Finish().ok());
  EXPECT_EQ(Methods().back(), "HEAD");
}

TEST_F(PiecesTest, AreAbortedOnceMoreAfterAStop) {
  StopSource stop;
  Open([&](S3StoreOptions& options) {
    options.part_bytes = 4;
    options.client.stop = stop.token();
  });
  const auto busy = Fail(503, "SlowDown");
  Next({ok_, [&](const ReceivedRequest& request) {
          stop.RequestStop();
          return busy(request);
        }});
  ExpectKind(Begin()->Append("012345"), ErrorKind::kCancelled);
  EXPECT_THAT(Methods(), ElementsAre("POST", "PUT", "DELETE"));
}

}  // namespace
}  // namespace firn::storage::s3
