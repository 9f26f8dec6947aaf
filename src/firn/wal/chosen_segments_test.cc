#include "firn/wal/chosen_segments.h"

#include <random>

#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/core/test_seed.h"
#include "firn/storage/counting_store.h"
#include "firn/storage/memory_store.h"
#include "firn/wal/segment_rows_fixture.h"

namespace firn::wal {
namespace {

class ChosenSegmentsTest : public testing::Test {
 protected:
  /// Segment `number` of a shard, later than those before.
  void Put(const std::string& shard, std::uint64_t number,
           const std::vector<SourceRange>& ranges = {}) {
    const SegmentName name = {.table_uuid = TestLayout().uuid,
                              .shard = ShardId(shard),
                              .sequence = SegmentSequence(number)};
    const FrozenSegment segment =
        builder_.Build({WithoutSource({{"a", "x", 1}})}, ranges, "s").ValueOrDie();
    size_bytes_ = segment.bytes->size();
    ASSERT_TRUE(
        memory_.PutWhole(SegmentKey(name), std::string_view(*segment.bytes)).ok());
    runtime_.Advance(Duration(1));
  }

  ChosenSegments Choose(AdmissionLimits limits, const Positions& from = {}) {
    shards_ = ListShards(memory_, TestLayout().uuid).ValueOrDie();
    WalReader reader(runtime_, store_);
    return ChooseSegments(reader,
                          {.table = TestLayout().uuid,
                           .shards = shards_,
                           .from = from,
                           .limits = limits},
                          {})
        .ValueOrDie();
  }

  /// "a1 b1[1]": with so many trims.
  static std::string Text(const ChosenSegments& chosen) {
    std::string text;
    for (const ChosenSegment& segment : chosen.segments) {
      EXPECT_NE(segment.read.parquet, nullptr);
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", segment.name.shard,
                          segment.name.sequence);
      if (!segment.trims.empty()) text += fmt::format("[{}]", segment.trims.size());
    }
    return text;
  }

  FakeRuntime runtime_;
  storage::MemoryStore memory_{runtime_};
  storage::CountingStore store_{memory_};
  SegmentBuilder builder_ = SegmentBuilder::Make(TestLayout(), {}).ValueOrDie();
  std::vector<ShardListing> shards_;
  std::int64_t size_bytes_ = 0;
};

TEST_F(ChosenSegmentsTest, NoMoreFootersAreReadThanSegmentsTaken) {
  for (const char* shard : {"b", "a", "c"}) {
    for (int i = 1; i <= 3; ++i) Put(shard, i);
  }
  EXPECT_EQ(Text(Choose({.segments_max = 4})), "b1 b2 b3 a1");
  EXPECT_EQ(store_.counts().gets, 4);
  EXPECT_EQ(Text(Choose({.bytes_max = 2 * size_bytes_})), "b1 b2");
  EXPECT_EQ(store_.counts().gets, 6);
}

TEST_F(ChosenSegmentsTest, AHoleIsReportedAndNothingBehindItRead) {
  Put("a", 2);
  Put("a", 3);
  Put("b", 1);
  const ChosenSegments chosen = Choose({.segments_max = 1});
  EXPECT_EQ(Text(chosen), "b1");
  EXPECT_EQ(chosen.admission.holes,
            (std::vector<ShardHole>{{ShardId("a"), SegmentSequence(1)}}));
  EXPECT_EQ(store_.counts().gets, 1);
}

TEST_F(ChosenSegmentsTest, ASourceBeginsAtItsSmallestOffsetHoweverFewAreTaken) {
  Put("a", 1, {{"S", 10, 20}});
  Put("b", 1);
  Put("c", 1, {{"S", 0, 10}});
  EXPECT_EQ(Text(Choose({.segments_max = 2})), "b1 c1");
}

TEST_F(ChosenSegmentsTest, WhatAShardWaitsForIsFoundHoweverFewAreTaken) {
  Put("a", 1, {{"S", 10, 20}});
  Put("b", 1);
  Put("c", 1, {{"S", 0, 10}});
  EXPECT_EQ(Text(Choose({.segments_max = 2}, {.sources = {{"S", 4}}})), "b1 c1[1]");
}

TEST_F(ChosenSegmentsTest, ASourceWithAPositionNeedsNoOthersRead) {
  Put("a", 1, {{"S", 0, 10}});
  Put("a", 2, {{"S", 10, 20}});
  EXPECT_EQ(Text(Choose({.segments_max = 1}, {.sources = {{"S", 0}}})), "a1");
  EXPECT_EQ(store_.counts().gets, 1);
}

/// As if all footers had been read before.
TEST_F(ChosenSegmentsTest, ChoosesAsAnAdmissionOfAllDoes) {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](std::uint64_t end) {
    return static_cast<std::int64_t>(random() % end);
  };
  for (int i = 0; i < 200; ++i) {
    for (const auto& object : memory_.List("").ValueOrDie()) {
      ASSERT_TRUE(memory_.Delete(object.key).ok());
    }
    for (int n = 0; n < 8; ++n) {
      std::vector<SourceRange> ranges;
      const std::int64_t first = below(5);
      if (below(2) == 0) ranges.push_back({"S", first, first + 1 + below(3)});
      const std::string shard(1, static_cast<char>('a' + below(3)));
      Put(shard, 1 + below(4), ranges);
    }
    Positions from;
    if (below(2) == 0) from.sources["S"] = below(4);
    const AdmissionLimits limits = {.segments_max = 1 + random() % 5};
    const ChosenSegments chosen = Choose(limits, from);
    WalReader reader(runtime_, memory_);
    const Admission expected =
        Admit(from, reader.ListSegments(TestLayout().uuid, from).ValueOrDie(), limits);
    ASSERT_EQ(chosen.admission.segments, expected.segments) << "case " << i;
    ASSERT_EQ(chosen.admission.next, expected.next) << "case " << i;
    ASSERT_EQ(chosen.admission.holes, expected.holes) << "case " << i;
    // Which shards wait need not be known where enough others go on.
    if (!expected.segments.empty()) continue;
    ASSERT_EQ(chosen.admission.waiting, expected.waiting) << "case " << i;
  }
}

}  // namespace
}  // namespace firn::wal
