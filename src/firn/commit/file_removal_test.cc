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

}  // namespace
}  // namespace firn::commit
