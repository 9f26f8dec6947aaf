#include "firn/commit/rollback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::commit {
namespace {

using testing::HasSubstr;

/// A table's snapshots, their ids being ten times their sequence numbers. The last commit
/// is snapshot 30.
class RollbackTest : public testing::Test {
 protected:
  void Add(std::int64_t sequence, std::int64_t parent) {
    iceberg::Snapshot snapshot;
    snapshot.snapshot_id = SnapshotId(sequence * 10);
    snapshot.sequence_number = SnapshotSequence(sequence);
    if (parent != 0) snapshot.parent_snapshot_id = SnapshotId(parent * 10);
    metadata_.snapshots.push_back(snapshot);
    metadata_.current_snapshot_id = snapshot.snapshot_id;
  }

  void MoveMainTo(std::int64_t sequence) {
    metadata_.current_snapshot_id = SnapshotId(sequence * 10);
  }

  std::string Found() {
    TablePositions positions;
    positions.snapshot = SnapshotId(30);
    positions.sequence = SnapshotSequence(3);
    return FindRollback(metadata_, positions).value_or("fine");
  }

  iceberg::TableMetadata metadata_;
};

TEST_F(RollbackTest, NothingToRollBackBeforeTheFirstCommit) {
  EXPECT_EQ(FindRollback(metadata_, {}), std::nullopt);
}

TEST_F(RollbackTest, MainIsTheLastCommit) {
  Add(2, 0), Add(3, 2);
  EXPECT_EQ(Found(), "fine");
}

TEST_F(RollbackTest, OthersCommittedOnTop) {
  Add(3, 2), Add(4, 3), Add(5, 4);
  EXPECT_EQ(Found(), "fine");
}

TEST_F(RollbackTest, MainIsGone) {
  Add(3, 0);
  metadata_.current_snapshot_id.reset();
  EXPECT_THAT(Found(), HasSubstr("main has no snapshot"));
}

TEST_F(RollbackTest, MainWentBack) {
  Add(2, 0), Add(3, 2);
  MoveMainTo(2);
  EXPECT_THAT(Found(), HasSubstr("main holds snapshot 20"));
}

TEST_F(RollbackTest, MainWentBackAndOn) {
  Add(2, 0), Add(3, 2), Add(4, 2);
  EXPECT_THAT(Found(), HasSubstr("main holds snapshot 20"));
}

TEST_F(RollbackTest, MainWentBackAndTheLastCommitExpired) {
  Add(2, 0), Add(4, 2);
  EXPECT_THAT(Found(), HasSubstr("main holds snapshot 20"));
}

TEST_F(RollbackTest, ExpiryCutTheHistoryBelowMain) {
  Add(4, 3);
  EXPECT_EQ(Found(), "fine");
}

TEST_F(RollbackTest, HistoryIsCutButTheLastCommitIsListed) {
  Add(3, 2), Add(5, 4);
  EXPECT_THAT(Found(), HasSubstr("not in main's history"));
}

TEST_F(RollbackTest, MainStartedAnew) {
  Add(3, 2), Add(4, 0), Add(5, 4);
  EXPECT_THAT(Found(), HasSubstr("not in main's history"));
}

TEST_F(RollbackTest, ExpiryLeftTheOldestSnapshotWithoutAParent) {
  Add(4, 0), Add(5, 4);
  EXPECT_EQ(Found(), "fine");
}

TEST_F(RollbackTest, ParentsInACircleEnd) {
  Add(4, 5), Add(5, 4);
  EXPECT_EQ(Found(), "fine");
}

TEST_F(RollbackTest, TheErrorTellsWhatToDo) {
  TablePositions positions;
  positions.snapshot = SnapshotId(30);
  EXPECT_THAT(ErrorText(CheckNotRolledBack(metadata_, positions, "demo.events")),
              HasSubstr("firn positions reset demo.events --to-table"));
}

}  // namespace
}  // namespace firn::commit
