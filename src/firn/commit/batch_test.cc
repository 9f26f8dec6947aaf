#include "firn/commit/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

const std::string kSource = "kafka:main:orders:0";

Batch WithSource(Batch batch, std::int64_t first, std::int64_t next) {
  batch.sources[kSource] = {.first = first, .next = next};
  return batch;
}

TEST(BatchTest, AppendedUnitesFilesAndJoinsRanges) {
  const Batch first = WithSource(TestBatch(1, 0, 2), 10, 20);
  Batch next = WithSource(TestBatch(2, 2, 5), 20, 25);
  next.shards[TestShard(2)] = {.after = SegmentSequence(7),
                               .through = SegmentSequence(8)};
  next.sources["load:x:0"] = {.first = 0, .next = 3};

  const Batch both = Appended(first, next);

  EXPECT_EQ(both.id, TestBatchId(2));
  EXPECT_EQ(both.parent, std::nullopt);
  EXPECT_EQ(both.files, TestBatch(1, 0, 5).files);
  const std::map<ShardId, SequenceRange> shards = {
      {TestShard(1), {.after = SegmentSequence(0), .through = SegmentSequence(5)}},
      {TestShard(2), {.after = SegmentSequence(7), .through = SegmentSequence(8)}}};
  EXPECT_EQ(both.shards, shards);
  const std::map<std::string, OffsetRange> sources = {
      {kSource, {.first = 10, .next = 25}}, {"load:x:0", {.first = 0, .next = 3}}};
  EXPECT_EQ(both.sources, sources);
}

TEST(BatchTest, AppendedIsAssociative) {
  const Batch a = TestBatch(1, 0, 2), b = TestBatch(2, 2, 3), c = TestBatch(3, 3, 9);
  EXPECT_EQ(Appended(Appended(a, b), c), Appended(a, Appended(b, c)));
}

TEST(BatchDeathTest, AppendedRefusesAGap) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(Appended(TestBatch(1, 0, 2), TestBatch(2, 3, 4)), "shard");
  EXPECT_DEATH(Appended(WithSource(TestBatch(1, 0, 2), 0, 5),
                        WithSource(TestBatch(2, 2, 4), 6, 7)),
               "source");
  EXPECT_DEATH(Appended(TestBatch(1, 0, 2), TestBatch(3, 2, 4)), "batch");
}

TEST(BatchTest, AnAbsentShardStandsAtZeroAndAnAbsentSourceAnywhere) {
  EXPECT_TRUE(StartsAt(TestBatch(1, 0, 2), {}));
  EXPECT_FALSE(StartsAt(TestBatch(1, 1, 2), {}));
  EXPECT_TRUE(StartsAt(WithSource(TestBatch(1, 0, 2), 77, 78), {}));
}

TEST(BatchTest, RangesStartAtThePositions) {
  wal::Positions positions;
  positions.shards[TestShard()] = SegmentSequence(3);
  positions.sources[kSource] = 10;
  EXPECT_TRUE(StartsAt(WithSource(TestBatch(1, 3, 4), 10, 11), positions));
  EXPECT_FALSE(StartsAt(WithSource(TestBatch(1, 2, 4), 10, 11), positions));
  EXPECT_FALSE(StartsAt(WithSource(TestBatch(1, 4, 5), 10, 11), positions));
  EXPECT_FALSE(StartsAt(WithSource(TestBatch(1, 3, 4), 9, 11), positions));
  EXPECT_FALSE(StartsAt(WithSource(TestBatch(1, 3, 4), 11, 12), positions));
}

TEST(BatchTest, PositionsMoveToTheEndOfTheRanges) {
  wal::Positions start;
  start.shards[TestShard(9)] = SegmentSequence(1);
  const wal::Positions end =
      PositionsAfter(start, WithSource(TestBatch(1, 0, 2), 10, 20));
  EXPECT_EQ(end.shards.at(TestShard(1)), SegmentSequence(2));
  EXPECT_EQ(end.shards.at(TestShard(9)), SegmentSequence(1));
  EXPECT_EQ(end.sources.at(kSource), 20);
}

TEST(BatchTest, AMergedBatchIsAsOldAsItsOldestFile) {
  Batch first = TestBatch(1, 0, 1), next = TestBatch(2, 1, 2);
  next.begun = BootTime(Duration(5));
  EXPECT_EQ(Appended(first, next).begun, BootTime(Duration(5)));
  first.begun = BootTime(Duration(3));
  EXPECT_EQ(Appended(first, next).begun, BootTime(Duration(3)));
}

TEST(BatchTest, PositionsForgetWhatIsRetired) {
  wal::Positions start;
  start.shards[TestShard(9)] = SegmentSequence(1);
  start.sources["load:x:0"] = 7;
  Batch batch = TestBatch(1, 0, 2);
  batch.retired = {.shards = {TestShard(9)}, .sources = {"load:x:0"}};
  wal::Positions end;
  end.shards[TestShard()] = SegmentSequence(2);
  EXPECT_EQ(PositionsAfter(start, batch), end);
}

TEST(BatchTest, WhatTheNextBatchTakesFromIsNotForgotten) {
  Batch first = TestBatch(1, 0, 2);
  first.retired = {.shards = {TestShard(8), TestShard(9)}, .sources = {kSource}};
  Batch next = WithSource(TestBatch(2, 2, 3), 10, 20);
  next.shards[TestShard(9)] = {.after = {}, .through = SegmentSequence(1)};
  next.retired.sources = {"load:x:0"};
  const wal::Retired both = {.shards = {TestShard(8)}, .sources = {"load:x:0"}};
  EXPECT_EQ(Appended(first, next).retired, both);
}

TEST(BatchTest, RefusesWhatIsMalformed) {
  const auto refused = [](auto change) {
    Batch batch = WithSource(TestBatch(2, 0, 2), 10, 20);
    change(batch);
    return ErrorText(CheckBatch(batch));
  };
  using testing::HasSubstr;
  EXPECT_EQ(refused([](Batch&) {}), "");
  EXPECT_THAT(refused([](Batch& b) { b.id = BatchId("x"); }), HasSubstr("no ULID"));
  EXPECT_THAT(refused([](Batch& b) { b.parent = BatchId(""); }), HasSubstr("no ULID"));
  EXPECT_THAT(refused([](Batch& b) { b.parent = b.id; }), HasSubstr("itself"));
  EXPECT_THAT(refused([](Batch& b) { b.shards[TestShard()].after = SegmentSequence(3); }),
              HasSubstr("goes back"));
  EXPECT_THAT(refused([](Batch& b) { b.shards[ShardId("a:b")] = {}; }),
              HasSubstr("'a:b'"));
  EXPECT_THAT(refused([](Batch& b) { b.sources[kSource].next = 9; }),
              HasSubstr("[10, 9)"));
  EXPECT_THAT(refused([](Batch& b) { b.sources["file:x"] = {}; }), HasSubstr("'file:x'"));
  EXPECT_THAT(refused([](Batch& b) { b.retired.shards = {TestShard()}; }),
              HasSubstr("forgets"));
  EXPECT_THAT(refused([](Batch& b) { b.retired.sources = {kSource}; }),
              HasSubstr("forgets"));
}

}  // namespace
}  // namespace firn::commit
