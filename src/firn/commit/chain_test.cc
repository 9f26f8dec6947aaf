#include "firn/commit/chain.h"

#include <gtest/gtest.h>

#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

/// Judges the batches 1 (segment 1), 2 (segment 2) and 3 (segment 3).
class ChainTest : public testing::Test {
 protected:
  /// Somebody's commit of the given batches; the last is the table's.
  void Landed(const std::vector<int>& batches, std::uint64_t through) {
    iceberg::Snapshot snapshot;
    snapshot.snapshot_id = SnapshotId(static_cast<std::int64_t>(through));
    snapshot.parent_snapshot_id = metadata_.current_snapshot_id;
    std::vector<BatchId> ids;
    for (const int batch : batches) ids.push_back(TestBatchId(batch));
    snapshot.summary = SummaryEntries(TestWal(), ids, Batch()).ValueOrDie();
    metadata_.snapshots.push_back(snapshot);
    metadata_.current_snapshot_id = snapshot.snapshot_id;
    positions_.last_batch = ids.back();
    positions_.reached.shards[TestShard()] = SegmentSequence(through);
  }

  void ExpireAllSnapshots() { metadata_.snapshots.clear(); }

  /// One letter a batch: Landed, Ready, Superseded.
  std::string Judge() {
    const ChainVerdict verdict = JudgeChain(metadata_, TestWal(), positions_, batches_);
    const std::size_t superseded = batches_.size() - verdict.landed - verdict.ready;
    return std::string(verdict.landed, 'L') + std::string(verdict.ready, 'R') +
           std::string(superseded, 'S');
  }

  iceberg::TableMetadata metadata_;
  TablePositions positions_;
  std::vector<Batch> batches_ = {TestBatch(1, 0, 1), TestBatch(2, 1, 2),
                                 TestBatch(3, 2, 3)};
};

TEST_F(ChainTest, AnEmptyTableTakesAChainWithoutParent) { EXPECT_EQ(Judge(), "RRR"); }

TEST_F(ChainTest, AParentIsMissing) {
  batches_.erase(batches_.begin());
  EXPECT_EQ(Judge(), "SS");
}

TEST_F(ChainTest, AnotherBatchHasTheSameParent) {
  Landed({9}, 1);
  EXPECT_EQ(Judge(), "SSS");
}

TEST_F(ChainTest, TheFirstTwoLanded) {
  Landed({1, 2}, 2);
  EXPECT_EQ(Judge(), "LLR");
}

TEST_F(ChainTest, AllLanded) {
  Landed({1, 2, 3}, 3);
  EXPECT_EQ(Judge(), "LLL");
}

TEST_F(ChainTest, AllLandedAndAnotherWentOn) {
  Landed({1, 2, 3}, 3);
  Landed({9}, 4);
  EXPECT_EQ(Judge(), "LLL");
}

TEST_F(ChainTest, SomeLandedAndAnotherWentOnFromThere) {
  Landed({1}, 1);
  Landed({9}, 2);
  EXPECT_EQ(Judge(), "LSS");
}

TEST_F(ChainTest, LandedIsKnownFromThePropertyAfterExpiry) {
  Landed({1, 2}, 2);
  ExpireAllSnapshots();
  EXPECT_EQ(Judge(), "LLR");
}

TEST_F(ChainTest, ForgottenByExpiryIsSupersededNotRepeated) {
  Landed({1, 2, 3}, 3);
  Landed({9}, 4);
  ExpireAllSnapshots();
  EXPECT_EQ(Judge(), "SSS");
}

TEST_F(ChainTest, RangesDoNotStartAtThePositions) {
  Landed({1}, 2);
  EXPECT_EQ(Judge(), "LSS");
}

TEST_F(ChainTest, AGapBetweenBatchesEndsTheChain) {
  batches_[1] = TestBatch(2, 2, 3);
  EXPECT_EQ(Judge(), "RSS");
}

TEST_F(ChainTest, ASourceThatStandsElsewhereEndsTheChain) {
  positions_.reached.sources["load:x:0"] = 5;
  batches_[2].sources["load:x:0"] = {.first = 4, .next = 6};
  EXPECT_EQ(Judge(), "RRS");
}

}  // namespace
}  // namespace firn::commit
