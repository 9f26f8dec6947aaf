#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/shift/table_shift.h"
#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;

class CleanTest : public testing::Test {
 protected:
  std::int64_t Clean() { return warehouse_.NewShift().Clean().ValueOrDie(); }

  TestWarehouse warehouse_;
};

TEST_F(CleanTest, KeepsSegmentsUntilTheirSnapshotIsOldEnough) {
  warehouse_.Write("a1");
  warehouse_.Shift();
  warehouse_.runtime().Advance(minutes(30));
  const wal::SegmentName second = warehouse_.Write("a2");
  warehouse_.CloseShard();
  warehouse_.Shift();
  EXPECT_EQ(Clean(), 0);
  warehouse_.runtime().Advance(minutes(31));
  EXPECT_EQ(Clean(), 1);
  EXPECT_THAT(warehouse_.Segments(), ElementsAre(SegmentKey(second)));
  warehouse_.runtime().Advance(minutes(30));
  EXPECT_EQ(Clean(), 1);
  EXPECT_THAT(warehouse_.Segments(), IsEmpty());
}

TEST_F(CleanTest, DeletesAtOnceWhatAnExpiredSnapshotTook) {
  warehouse_.Write("a1");
  warehouse_.Shift();
  const SnapshotId first = *warehouse_.Load().current_snapshot_id;
  const wal::SegmentName second = warehouse_.Write("a2");
  warehouse_.Shift();
  warehouse_.catalog_script().shown = [&](iceberg::TableMetadata& metadata) {
    metadata.snapshots.EraseIf(
        [&](const iceberg::Snapshot& snapshot) { return snapshot.snapshot_id == first; });
  };
  EXPECT_EQ(Clean(), 1);
  EXPECT_THAT(warehouse_.Segments(), ElementsAre(SegmentKey(second)));
}

TEST_F(CleanTest, KeepsWhatWasNotShiftedAndWhatStandsBehindAHole) {
  warehouse_.Write("a1");
  const wal::SegmentName missing = warehouse_.Write("b2");
  const wal::SegmentName behind = warehouse_.Write("c3");
  warehouse_.DeleteSegment(missing);
  warehouse_.Shift();
  warehouse_.OpenShard();
  const wal::SegmentName new_one = warehouse_.Write("d4");
  warehouse_.runtime().Advance(std::chrono::hours(100));
  EXPECT_EQ(Clean(), 1);
  EXPECT_THAT(warehouse_.Segments(),
              testing::UnorderedElementsAre(SegmentKey(behind), SegmentKey(new_one)));
}

TEST_F(CleanTest, AShiftAfterTheCleaningLandsNothingTwice) {
  warehouse_.Write("a1");
  warehouse_.CloseShard();
  warehouse_.Shift();
  warehouse_.runtime().Advance(minutes(60));
  EXPECT_EQ(Clean(), 1);
  warehouse_.Write("b2");
  EXPECT_EQ(warehouse_.Shift().figures.rows, 1);
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2]");
}

TEST_F(CleanTest, ATableThatWasRolledBackKeepsItsSegments) {
  warehouse_.Write("a1");
  warehouse_.Shift();
  const SnapshotId first = *warehouse_.Load().current_snapshot_id;
  warehouse_.Write("a2");
  warehouse_.Shift();
  warehouse_.Change(
      {iceberg::SetSnapshotRef{.ref_name = "main", .ref = {.snapshot_id = first}}});
  warehouse_.runtime().Advance(std::chrono::hours(100));
  EXPECT_FALSE(warehouse_.NewShift().Clean().ok());
  EXPECT_EQ(warehouse_.Segments().size(), 2U);
}

TEST_F(CleanTest, PositionsForgetShardsAndLoadsThatAreOver) {
  warehouse_.WriteParts({{.range = wal::SourceRange{"load:x:0", 0, 1}, .rows = "a1"}});
  warehouse_.CloseShard();
  ASSERT_TRUE(wal::EndLoad(warehouse_.wal(), warehouse_.Load().table_uuid, "x").ok());
  warehouse_.Shift();
  warehouse_.runtime().Advance(std::chrono::hours(48));
  EXPECT_EQ(Clean(), 1);
  warehouse_.Write("b2");
  warehouse_.CloseShard();
  warehouse_.Shift();
  EXPECT_EQ(warehouse_.Load().properties.count("firn.load.x"), 0U);
  EXPECT_THAT(warehouse_.ShardPositions(), ElementsAre(1)) << "of the new shard";
  Clean();
  EXPECT_EQ(warehouse_.wal().List("").ValueOrDie().size(), 4U)
      << "claim, id, and the new shard's segment and marker";
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2]");
}

/// The writer had no answer and put the segment again: two requests, one of them late.
TEST_F(CleanTest, ARequestThatIsAppliedADayLateLandsNothingTwice) {
  const std::string late = SegmentKey(warehouse_.Write("a1"));
  const std::string bytes = warehouse_.wal().GetWhole(late).ValueOrDie();
  warehouse_.CloseShard();
  warehouse_.Shift();
  warehouse_.runtime().Advance(std::chrono::hours(30));
  EXPECT_EQ(Clean(), 1);
  warehouse_.Write("b2");
  warehouse_.Shift();
  ASSERT_TRUE(warehouse_.wal().PutWhole(late, bytes).ok());
  warehouse_.Shift();
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2]");
}

TEST_F(CleanTest, AZombieOfAForgottenShardLandsNothing) {
  wal::SegmentName zombie = warehouse_.Write("a1");
  const std::string bytes = warehouse_.wal().GetWhole(SegmentKey(zombie)).ValueOrDie();
  warehouse_.Shift();
  warehouse_.runtime().Advance(std::chrono::hours(48));
  EXPECT_EQ(Clean(), 1) << "the shard is over";
  warehouse_.OpenShard();
  warehouse_.Write("b2");
  warehouse_.Shift();
  EXPECT_THAT(warehouse_.ShardPositions(), ElementsAre(1)) << "of the new shard";
  zombie.sequence = SegmentSequence(zombie.sequence.value() + 1);
  ASSERT_TRUE(warehouse_.wal().PutWhole(SegmentKey(zombie), bytes).ok());
  EXPECT_EQ(warehouse_.Shift().holes.size(), 1U);
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2]");
}

TEST_F(CleanTest, WhatCannotBeDeletedIsTriedAgain) {
  warehouse_.Write("a1");
  warehouse_.Write("a2");
  warehouse_.CloseShard();
  warehouse_.Shift();
  warehouse_.runtime().Advance(minutes(60));
  warehouse_.wal_faults() =
      FailNth(storage::StoreOperation::kDelete, 3, storage::kFailBefore);
  EXPECT_FALSE(warehouse_.NewShift().Clean().ok());
  EXPECT_EQ(Clean(), 1);
}

}  // namespace
}  // namespace firn::shift
