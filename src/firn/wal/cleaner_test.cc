#include "firn/wal/cleaner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/memory_store.h"
#include "firn/wal/quarantine.h"
#include "firn/wal/shard_writer.h"

namespace firn::wal {
namespace {

using std::chrono::minutes;

/// Shards a and b with segments 1 to 4 each; a snapshot took a2 and a3, and minutes pass.
class CleanerTest : public testing::Test {
 protected:
  CleanerTest() {
    for (const char* shard : {"a", "b"}) {
      for (std::uint64_t sequence = 1; sequence <= 4; ++sequence) {
        const SegmentName name = {TableUuid("u"), ShardId(shard),
                                  SegmentSequence(sequence)};
        EXPECT_TRUE(store_.PutWhole(SegmentKey(name), "bytes").ok());
      }
    }
    committed_.push_back({.shard = ShardId("a"),
                          .after = SegmentSequence(1),
                          .through = SegmentSequence(3),
                          .committed = runtime_.Now()});
  }

  std::vector<SegmentObject> Find(Duration retention) {
    return DrainedSegments(ListShards(store_, TableUuid("u")).ValueOrDie(), positions_,
                           committed_, runtime_.Now(), {.retention = retention});
  }

  /// "a1 a2": what may be deleted with a retention of one hour.
  std::string Drained() {
    std::string text;
    for (const SegmentObject& segment : Find(minutes(60))) {
      text += fmt::format("{}{} ", segment.name.shard, segment.name.sequence);
    }
    return text;
  }

  FakeRuntime runtime_;
  storage::MemoryStore store_{runtime_};
  Positions positions_ = {.shards = {{ShardId("a"), SegmentSequence(3)}}};
  std::vector<CommittedRange> committed_;
};

TEST_F(CleanerTest, KeepsWhatASnapshotTookForTheRetention) {
  EXPECT_EQ(Drained(), "a1 ");
  runtime_.Advance(minutes(59));
  EXPECT_EQ(Drained(), "a1 ");
  runtime_.Advance(minutes(1));
  EXPECT_EQ(Drained(), "a1 a2 a3 ");
}

TEST_F(CleanerTest, WhatIsInQuarantineStays) {
  const SegmentName name = {TableUuid("u"), ShardId("a"), SegmentSequence(2)};
  ASSERT_TRUE(WriteQuarantine(store_, name, {}).ok());
  runtime_.Advance(minutes(60));
  EXPECT_EQ(Drained(), "a1 a3 ");
}

TEST_F(CleanerTest, WhatAnExpiredSnapshotTookGoesAtOnce) {
  committed_.clear();
  EXPECT_EQ(Drained(), "a1 a2 a3 ");
}

TEST_F(CleanerTest, NeverTouchesWhatThePositionHasNotPassed) {
  positions_.shards.clear();
  runtime_.Advance(minutes(600));
  EXPECT_EQ(Drained(), "");
}

TEST_F(CleanerTest, TheLastSegmentOfAShardStaysUntilItIsClosedOrOver) {
  committed_.clear();
  positions_.shards[ShardId("a")] = SegmentSequence(4);
  EXPECT_EQ(Drained(), "a1 a2 a3 ");
  runtime_.Advance(std::chrono::hours(48));
  EXPECT_EQ(Drained(), "a1 a2 a3 a4 ");
  positions_.shards = {{ShardId("b"), SegmentSequence(4)}};
  ASSERT_TRUE(store_.PutWhole(ClosedMarkerKey(TableUuid("u"), ShardId("b")), "4").ok());
  EXPECT_EQ(Drained(), "b1 b2 b3 b4 ");
}

TEST_F(CleanerTest, DeletesWhatItIsToldAndNothingElse) {
  runtime_.Advance(minutes(60));
  EXPECT_EQ(DeleteSegments(store_, Find(minutes(60))).ValueOrDie(), 3);
  EXPECT_EQ(Drained(), "");
  EXPECT_EQ(store_.List("u/").ValueOrDie().size(), 5U);
}

TEST_F(CleanerTest, AStopLeavesTheRestToTheNextCleaning) {
  runtime_.Advance(minutes(60));
  StopSource stop;
  storage::FaultyStore stopping(runtime_, store_, [&](const storage::StoreCall&) {
    stop.RequestStop();
    return storage::kPass;
  });
  EXPECT_EQ(DeleteSegments(stopping, Find(minutes(60)), stop.token()).ValueOrDie(), 1);
  EXPECT_EQ(Drained(), "a2 a3 ");
}

}  // namespace
}  // namespace firn::wal
