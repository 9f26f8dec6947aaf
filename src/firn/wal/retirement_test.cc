#include "firn/wal/retirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/memory_store.h"
#include "firn/wal/shard_writer.h"

namespace firn::wal {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Shard s, taken through segment 2, and load x, taken through record 7.
class RetirementTest : public testing::Test {
 protected:
  const ShardId shard_{"s"};

  void Put(std::uint64_t sequence) {
    const SegmentName name = {table_, shard_, SegmentSequence(sequence)};
    ASSERT_TRUE(store_.PutWhole(SegmentKey(name), "bytes").ok());
  }
  void Close() {
    ASSERT_TRUE(store_.PutWhole(ClosedMarkerKey(table_, shard_), "2").ok());
  }
  void EndLoadX() { ASSERT_TRUE(EndLoad(store_, table_, "x").ok()); }

  Retired Find() {
    return FindRetired(positions_, ListShards(store_, table_).ValueOrDie(),
                       ListEndedLoads(store_, table_).ValueOrDie(),
                       runtime_.Now() - hours(24));
  }
  std::vector<std::string> KeysAfterCleaning() {
    EXPECT_TRUE(DeleteRetired(store_, table_, positions_,
                              ListShards(store_, table_).ValueOrDie(),
                              ListEndedLoads(store_, table_).ValueOrDie(),
                              runtime_.Now() - hours(24))
                    .ok());
    std::vector<std::string> keys;
    for (const auto& object : store_.List("").ValueOrDie()) keys.push_back(object.key);
    return keys;
  }

  const TableUuid table_{"u"};
  FakeRuntime runtime_;
  storage::MemoryStore store_{runtime_};
  Positions positions_ = {.shards = {{shard_, SegmentSequence(2)}},
                          .sources = {{"load:x:0", 7}, {"load:xy:0", 1}}};
};

TEST_F(RetirementTest, AClosedShardIsForgottenWhenItsMarkerIsOld) {
  Close();
  EXPECT_THAT(Find().shards, IsEmpty());
  runtime_.Advance(hours(24));
  EXPECT_THAT(Find().shards, ElementsAre(shard_));
}

TEST_F(RetirementTest, AShardWithSegmentsIsNot) {
  Close();
  Put(2);
  runtime_.Advance(hours(100));
  EXPECT_THAT(Find().shards, IsEmpty());
}

TEST_F(RetirementTest, AShardOfWhichNothingIsLeftIsForgotten) {
  EXPECT_THAT(Find().shards, ElementsAre(shard_));
}

TEST_F(RetirementTest, ALoadIsForgottenSomeTimeAfterItsEnd) {
  runtime_.Advance(hours(100));
  EXPECT_THAT(Find().sources, IsEmpty()) << "it may go on";
  EndLoadX();
  EXPECT_THAT(Find().sources, IsEmpty());
  runtime_.Advance(hours(24));
  EXPECT_THAT(Find().sources, ElementsAre("load:x:0"));
  EndLoadX();
  EXPECT_THAT(Find().sources, IsEmpty()) << "it was run again";
}

TEST_F(RetirementTest, NoLoadIsForgottenWhileSegmentsWait) {
  EndLoadX();
  Put(3);
  runtime_.Advance(hours(24));
  EXPECT_THAT(Find().sources, IsEmpty());
}

TEST_F(RetirementTest, WhatIsForgottenLeavesNothingBehind) {
  Close();
  ASSERT_TRUE(FreezeLoad(store_, table_, "x", {}).ok());
  EndLoadX();
  runtime_.Advance(hours(24));
  EXPECT_THAT(KeysAfterCleaning(),
              UnorderedElementsAre("ended-loads/u/x", "loads/u/x", "u/s/closed"))
      << "the table still remembers";
  positions_ = {};
  EXPECT_THAT(KeysAfterCleaning(), IsEmpty());
}

TEST_F(RetirementTest, ALoadThatWasNeverShiftedIsKept) {
  positions_ = {};
  Put(1);
  Close();
  ASSERT_TRUE(FreezeLoad(store_, table_, "x", {}).ok());
  EndLoadX();
  runtime_.Advance(hours(24));
  EXPECT_EQ(KeysAfterCleaning().size(), 4U);
}

}  // namespace
}  // namespace firn::wal
