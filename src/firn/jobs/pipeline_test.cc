#include "firn/jobs/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "firn/jobs/test_pipeline.h"

namespace firn::jobs {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kAccepted = R"(200 {"accepted":1,"dead_lettered":0})";

class PipelineTest : public ::testing::Test {
 protected:
  /// Commits take as long as `fails_` is set.
  void HoldCommits() {
    test_.catalog_script().before_commit = [this](const auto&) {
      if (fails_) is_held_ = true;
      while (fails_) SystemRuntime().Sleep(milliseconds(1));
      return Status::OK();
    };
  }

  // Of the faults that the pipeline's threads meet until it ends.
  std::atomic<bool> fails_ = true;
  std::atomic<int> failures_ = 0;
  std::atomic<bool> is_held_ = false;
  std::atomic<int> loads_meanwhile_ = 0;
  TestPipeline test_;
};

TEST_F(PipelineTest, WhatIsAnsweredIsDurableAndLands) {
  test_.Start();
  EXPECT_EQ(test_.Post("{\"id\":1}\n{\"id\":2,\"name\":\"b\"}\n"),
            R"(200 {"accepted":2,"dead_lettered":0})");
  EXPECT_GE(test_.Segments(), 1U);
  EXPECT_TRUE(test_.EventuallyHasRows(2));
}

TEST_F(PipelineTest, RequestsThatComeTogetherShareASegment) {
  test_.options().buffer.flush_age = hours(1);
  test_.Start();
  ASSERT_TRUE(test_.Eventually([&] { return test_.pipeline().is_ready(); }));
  std::vector<std::function<std::string()>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(test_.PostLater(R"({"id":1})"));
  test_.Close();
  for (const auto& answer : answers) EXPECT_EQ(answer(), kAccepted);
  EXPECT_EQ(test_.Segments(), 1U);
}

TEST_F(PipelineTest, TheRestOfABodyWithBadRecordsIsTaken) {
  test_.Start();
  const std::string answer = test_.Post("{\"id\":1}\n{\"id\":\"x\"}\nnonsense\n");
  EXPECT_THAT(answer, StartsWith(R"(200 {"accepted":1,"dead_lettered":2,)"));
  EXPECT_THAT(answer, HasSubstr(R"({"line":2,"reason":"column 'id': )"));
  EXPECT_THAT(answer, HasSubstr(R"({"line":3,"reason":"not JSON)"));
  EXPECT_TRUE(test_.EventuallyHasRows(1));
  EXPECT_TRUE(test_.EventuallyHasRows(2, "db.t__dead_letters"));
}

TEST_F(PipelineTest, ClosingFlushesAndTakesNoMore) {
  test_.options().buffer.flush_age = hours(1);
  test_.Start();
  ASSERT_TRUE(test_.Eventually([&] { return test_.pipeline().is_ready(); }));
  const auto answer = test_.PostLater(R"({"id":1})");
  test_.Close();
  EXPECT_EQ(answer(), kAccepted);
  EXPECT_THAT(test_.Post(R"({"id":2})"), StartsWith("503 "));
}

TEST_F(PipelineTest, WhatAnEarlierProcessLeftIsShiftedWithoutARequest) {
  test_.options().trigger = {.start_bytes = 1LL << 40, .max_age = hours(1)};
  test_.Start();
  EXPECT_EQ(test_.Post(R"({"id":1})"), kAccepted);
  EXPECT_EQ(test_.Snapshots(), 0);
  test_.options().trigger.start_bytes = 1;
  test_.Start();
  EXPECT_TRUE(test_.EventuallyHasRows(1));
}

TEST_F(PipelineTest, DrainedSegmentsAreDeletedThoughNothingMoreIsShifted) {
  test_.options().trigger.tidy_interval = milliseconds(20);
  test_.options().shift_options = [](const std::string&) {
    return shift::TableShiftOptions{.retention = milliseconds(300)};
  };
  test_.Start();
  EXPECT_EQ(test_.Post(R"({"id":1})"), kAccepted);
  EXPECT_EQ(test_.Post(R"({"id":2})"), kAccepted);
  EXPECT_TRUE(test_.EventuallyHasRows(2));
  // The last one of a shard that is open stays.
  EXPECT_TRUE(test_.Eventually([&] { return test_.Segments() == 1; }));
}

TEST_F(PipelineTest, AStoreThatFailsRefusesAndIsTriedAgain) {
  test_.wal_faults() = [&](const storage::StoreCall& call) {
    const bool is_put = call.operation == storage::StoreOperation::kPutWhole;
    return fails_ && is_put ? storage::kFailBefore : storage::kPass;
  };
  test_.Start();
  EXPECT_THAT(test_.Post(R"({"id":1})"), StartsWith("503 "));
  fails_ = false;
  ASSERT_TRUE(test_.Eventually([&] { return test_.Post(R"({"id":2})") == kAccepted; }));
  EXPECT_TRUE(test_.EventuallyHasRows(1));
}

TEST_F(PipelineTest, ACommitThatFailsIsTriedAgain) {
  test_.catalog_script().before_commit = [&](const auto&) {
    return ++failures_ == 1 ? Status::IOError("no") : Status::OK();
  };
  test_.Start();
  EXPECT_EQ(test_.Post(R"({"id":1})"), kAccepted);
  EXPECT_TRUE(test_.EventuallyHasRows(1));
  EXPECT_GE(failures_, 2);
}

TEST_F(PipelineTest, TheNextShiftGoesOnWhileACommitIsSlow) {
  test_.catalog_script().before_load = [&] {
    loads_meanwhile_ += is_held_ ? 1 : 0;
    return Status::OK();
  };
  HoldCommits();
  test_.Start();
  EXPECT_EQ(test_.Post(R"({"id":1})"), kAccepted);
  ASSERT_TRUE(test_.Eventually([&] { return is_held_.load(); }));
  EXPECT_EQ(test_.Post(R"({"id":2})"), kAccepted);
  // Of a plan each. One found nothing behind the first, perhaps before that was held; so
  // two are what took the second, and one of its neighbours.
  EXPECT_TRUE(test_.Eventually([&] { return loads_meanwhile_ >= 2; }));
  EXPECT_EQ(test_.Snapshots(), 0);
  fails_ = false;
  EXPECT_TRUE(test_.EventuallyHasRows(2));
}

TEST_F(PipelineTest, AStopCommitsWhatIsInFlight) {
  HoldCommits();
  test_.Start();
  EXPECT_EQ(test_.Post(R"({"id":1})"), kAccepted);
  ASSERT_TRUE(test_.Eventually([&] { return is_held_.load(); }));
  Thread closer(SystemRuntime(), "closer", [&] { test_.Close(); });
  fails_ = false;
  closer.Join();
  EXPECT_EQ(test_.RowsOf(), 1);
}

TEST_F(PipelineTest, RecordsAreRefusedWithoutMemory) {
  test_.Start();
  const auto all = test_.buffer_memory().TryReserve(test_.buffer_memory().limit_bytes());
  const std::string answer = test_.Post(R"({"id":1})");
  EXPECT_THAT(answer, StartsWith("503 "));
  EXPECT_THAT(answer, HasSubstr("memory"));
}

TEST_F(PipelineTest, RecordsAreRefusedWhileTheWalHoldsTooMuch) {
  test_.catalog_script().before_commit = [&](const auto&) {
    return fails_ ? Status::IOError("no") : Status::OK();
  };
  test_.options().uncommitted_bytes_max = 1;
  test_.Start();
  EXPECT_EQ(test_.Post(R"({"id":1})"), kAccepted);
  // The segment counts shortly after its records are answered.
  ASSERT_TRUE(test_.Eventually([&] {
    return test_.Post(R"({"id":2})").find("wal.max_uncommitted_bytes") !=
           std::string::npos;
  }));
  fails_ = false;
  ASSERT_TRUE(test_.Eventually([&] { return test_.Post(R"({"id":3})") == kAccepted; }));
}

TEST_F(PipelineTest, AColumnThatOthersAddIsTakenSoon) {
  test_.Start();
  EXPECT_EQ(test_.Post(R"({"id":1})"), kAccepted);
  test_.AddColumn("extra");
  ASSERT_TRUE(test_.Eventually(
      [&] { return test_.Post(R"({"id":2,"extra":"x"})") == kAccepted; }));
}

TEST_F(PipelineTest, ATableThatWasDroppedIsMissingUntilItIsMadeAgain) {
  test_.Start();
  EXPECT_EQ(test_.Post(R"({"id":1})"), kAccepted);
  const iceberg::TableIdentifier name = {.namespace_name = "db", .name = "t"};
  const auto schema = CurrentSchema(test_.catalog().LoadTable(name)->metadata);
  ASSERT_TRUE(test_.catalog().DropTable(name).ok());
  ASSERT_TRUE(
      test_.Eventually([&] { return test_.Post(R"({"id":2})").starts_with("404 "); }));
  ASSERT_TRUE(test_.catalog().CreateTable(name, {.schema = schema}).ok());
  ASSERT_TRUE(test_.Eventually([&] { return test_.Post(R"({"id":3})") == kAccepted; }));
  EXPECT_TRUE(test_.EventuallyHasRows(1));
}

}  // namespace
}  // namespace firn::jobs
