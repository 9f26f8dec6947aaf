#include "firn/commit/file_removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

using testing::SizeIs;

class FileRemovalTest : public testing::Test {
 protected:
  FileRemovalTest() {
    EXPECT_EQ(table_.Commit({TestBatch(1, 0, 3), TestBatch(2, 3, 6)}),
              "committed committed");
    live_ = table_.LiveFiles();
  }

  TestTable table_;
  std::vector<std::string> live_;
};

TEST_F(FileRemovalTest, IsRetriedOnTopOfWhatOthersCommit) {
  table_.script().before_commit = [&](const auto&) {
    table_.script().before_commit = nullptr;
    EXPECT_EQ(table_.Commit({TestBatch(3, 6, 7)}), "committed");
    return Status::OK();
  };
  ASSERT_TRUE(table_.Remove({live_[0]}).ok());
  EXPECT_THAT(table_.LiveFiles(), SizeIs(live_.size()));
}

TEST_F(FileRemovalTest, AnUnknownOutcomeIsResolvedByReading) {
  int commits = 0;
  table_.script().after_commit = [&] {
    ++commits;
    return Error(ErrorKind::kOutcomeUnknown, "lost");
  };
  ASSERT_TRUE(table_.Remove(live_).ok());
  EXPECT_EQ(commits, 1);
  EXPECT_THAT(table_.LiveFiles(), SizeIs(0));
  EXPECT_EQ(table_.Commit({TestBatch(3, 6, 7)}), "committed");
}

TEST_F(FileRemovalTest, ARefusalOfWhatWasAppliedIsResolvedByReading) {
  table_.script().after_commit = [] { return InvalidError("400: not met"); };
  EXPECT_TRUE(table_.Remove(live_).ok());
  EXPECT_THAT(table_.LiveFiles(), SizeIs(0));
}

TEST_F(FileRemovalTest, TheLastAttemptIsResolvedByReadingToo) {
  int commits = 0;
  table_.script().before_commit = [&](const auto&) {
    const bool is_last = ++commits == kCommitAttemptsMax;
    return is_last ? Status::OK() : MakeError(ErrorKind::kConflict, "scripted");
  };
  table_.script().after_commit = [] {
    return MakeError(ErrorKind::kOutcomeUnknown, "timed out");
  };
  EXPECT_TRUE(table_.Remove(live_).ok());
  EXPECT_EQ(commits, kCommitAttemptsMax);
  EXPECT_THAT(table_.LiveFiles(), SizeIs(0));
}

TEST_F(FileRemovalTest, ACatalogThatStaysLockedIsAskedForAMinute) {
  int commits = 0;
  table_.script().before_commit = [&](const auto&) {
    ++commits;
    table_.runtime().Sleep(std::chrono::seconds(10));
    return MakeError(ErrorKind::kUnavailable, "catalog.db stays locked");
  };
  EXPECT_TRUE(IsError(table_.Remove(live_), ErrorKind::kUnavailable));
  EXPECT_LT(commits, 8);
  EXPECT_THAT(table_.LiveFiles(), SizeIs(live_.size()));
}

}  // namespace
}  // namespace firn::commit
