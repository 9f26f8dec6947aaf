#include "firn/commit/merge_manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

using testing::ElementsAre;

/// Three batches in a table that merges three manifests.
class MergeManifestsTest : public testing::Test {
 protected:
  MergeManifestsTest() {
    table_.SetProperties({{"commit.manifest.min-count-to-merge", "3"}});
    for (int n = 1; n <= 3; ++n) {
      const auto segment = static_cast<std::uint64_t>(n);
      EXPECT_EQ(table_.Commit({TestBatch(n, segment - 1, segment)}), "committed");
    }
  }

  Result<std::int64_t> Merge() {
    return MergeManifests(table_.catalog(), table_.io(), table_.runtime(),
                          table_.identifier(), table_.Load().table_uuid);
  }

  TestTable table_;
};

TEST_F(MergeManifestsTest, BatchesGoOnOnTopOfIt) {
  EXPECT_EQ(*Merge(), 3);
  EXPECT_EQ(*Merge(), 0);
  EXPECT_EQ(table_.Commit({TestBatch(4, 3, 4)}), "committed");
  EXPECT_EQ(table_.Commit({TestBatch(3, 2, 3)}), "committed") << "long ago";
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2", "3", "4"));
}

TEST_F(MergeManifestsTest, GivesWayToAnotherCommit) {
  table_.script().before_commit = [this](const auto&) {
    table_.AppendForeignFile("foreign");
    return Status::OK();
  };
  EXPECT_EQ(*Merge(), 0);
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2", "3", "foreign"));
}

TEST_F(MergeManifestsTest, AnUnknownOutcomeHarmsNothing) {
  table_.script().after_commit = [] {
    return MakeError(ErrorKind::kOutcomeUnknown, "timed out");
  };
  EXPECT_EQ(*Merge(), 0);
  EXPECT_EQ(*Merge(), 0) << "it was applied";
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2", "3"));
}

TEST_F(MergeManifestsTest, ARefusalOfWhatWasAppliedIsResolvedByReading) {
  table_.script().after_commit = [] { return InvalidError("404: no such table"); };
  EXPECT_EQ(*Merge(), 3);
}

TEST_F(MergeManifestsTest, ARefusalOfWhatWasNotAppliedIsAnError) {
  table_.script().before_commit = [](const auto&) { return InvalidError("403"); };
  EXPECT_EQ(ErrorText(Merge().status()), "403");
}

}  // namespace
}  // namespace firn::commit
