#include "firn/wal/quarantine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/memory_store.h"
#include "firn/wal/load_manifest.h"
#include "firn/wal/wal_root.h"

namespace firn::wal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SegmentName Segment(const std::string& shard, std::uint64_t sequence) {
  return {.table_uuid = TableUuid("t"),
          .shard = ShardId(shard),
          .sequence = SegmentSequence(sequence)};
}

class QuarantineTest : public testing::Test {
 protected:
  void Put(const SegmentName& name) {
    ASSERT_TRUE(store_.PutWhole(SegmentKey(name), "bytes").ok());
  }

  void Quarantine(const SegmentName& name, const std::vector<SourceRange>& ranges = {}) {
    ASSERT_TRUE(WriteQuarantine(store_, name, ranges).ok());
  }

  /// "1 2! 3-": segments of the only shard; in quarantine, and missing, too.
  std::string Listed() {
    std::string text;
    for (const ShardListing& shard : ListShards(store_, TableUuid("t")).ValueOrDie()) {
      for (const SegmentObject& segment : shard.segments) {
        const char* mark = !segment.quarantined      ? ""
                           : segment.size_bytes == 0 ? "-"
                                                     : "!";
        text +=
            fmt::format("{}{}{}", text.empty() ? "" : " ", segment.name.sequence, mark);
      }
    }
    return text;
  }

  FakeRuntime runtime_;
  storage::MemoryStore store_{runtime_};
};

TEST_F(QuarantineTest, MarkersKeepTheirRanges) {
  const std::vector<SourceRange> ranges = {{"load:x:0", 3, 9}, {"kafka:a:b:1", -1, 5}};
  Quarantine(Segment("s", 1), ranges);
  EXPECT_EQ(ReadQuarantine(store_, Segment("s", 1)).ValueOrDie(), ranges);
  Quarantine(Segment("s", 1));
  EXPECT_THAT(ReadQuarantine(store_, Segment("s", 1)).ValueOrDie(), IsEmpty());
}

TEST_F(QuarantineTest, AMalformedMarkerIsNamed) {
  for (const char* text : {"", "firn quarantine 1\n", "firn quarantine 2\nAA==\n",
                           "firn quarantine 1\nAA==", "firn quarantine 1\n!\n"}) {
    ASSERT_TRUE(store_.PutWhole(QuarantineKey(Segment("s", 1)), text).ok());
    const Status status = ReadQuarantine(store_, Segment("s", 1)).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << text;
    EXPECT_THAT(status.message(), testing::HasSubstr(QuarantineKey(Segment("s", 1))));
  }
}

TEST_F(QuarantineTest, NobodyCountsOnAMarkerWhoseReleaseHasBegun) {
  Put(Segment("s", 1));
  Quarantine(Segment("s", 1), {{"load:x:0", 3, 9}});
  for (int time = 0; time < 2; ++time) {
    ASSERT_TRUE(BeginRelease(store_, Segment("s", 1)).ok()) << time;
    EXPECT_EQ(Listed(), "1!");
    const Status status = ReadQuarantine(store_, Segment("s", 1)).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kConflict));
    EXPECT_THAT(status.message(), testing::HasSubstr(SegmentKey(Segment("s", 1))));
  }
  Quarantine(Segment("s", 1));
  EXPECT_TRUE(ReadQuarantine(store_, Segment("s", 1)).ok());
}

TEST_F(QuarantineTest, IsSeenInTheListing) {
  for (const std::uint64_t sequence : {1, 2, 4}) Put(Segment("s", sequence));
  Quarantine(Segment("s", 2));
  Quarantine(Segment("s", 3));
  EXPECT_EQ(Listed(), "1 2! 3- 4");
}

TEST(MissingRangesTest, AreThoseForWhichItsShardWaits) {
  const std::vector<ListedSegment> readable = {
      {.name = Segment("a", 1), .ranges = {{"s", 0, 10}}},
      {.name = Segment("a", 3), .ranges = {{"s", 25, 30}, {"u", 7, 9}}},
      {.name = Segment("b", 1), .ranges = {{"u", 0, 5}}}};
  EXPECT_THAT(FindMissingRanges({}, readable, {Segment("a", 2)}),
              ElementsAre(ElementsAre(SourceRange{"s", 10, 25}, SourceRange{"u", 5, 7})));
}

TEST(MissingRangesTest, WhatAnotherShardHoldsIsNotMissing) {
  const std::vector<ListedSegment> readable = {
      {.name = Segment("a", 1), .ranges = {{"s", 0, 10}}},
      {.name = Segment("a", 3), .ranges = {{"s", 25, 30}}},
      {.name = Segment("b", 1), .ranges = {{"s", 10, 25}}}};
  EXPECT_THAT(FindMissingRanges({}, readable, {Segment("a", 2)}), ElementsAre(IsEmpty()));
}

TEST(MissingRangesTest, ALoadBeginsWithItsFirstRecord) {
  const std::string load = LoadSourceId("x", 0);
  const std::vector<ListedSegment> readable = {
      {.name = Segment("a", 2), .ranges = {{load, 40, 50}, {"s", 7, 9}}}};
  EXPECT_THAT(FindMissingRanges({}, readable, {Segment("a", 1)}),
              ElementsAre(ElementsAre(SourceRange{load, 0, 40})));
}

TEST(MissingRangesTest, BehindTheLastSegmentNothingIsKnown) {
  const std::vector<ListedSegment> readable = {
      {.name = Segment("a", 1), .ranges = {{"s", 0, 10}}}};
  EXPECT_THAT(FindMissingRanges({}, readable, {Segment("a", 2)}), ElementsAre(IsEmpty()));
}

TEST(MissingRangesTest, OfTwoInARowTheLastHasThem) {
  const std::vector<ListedSegment> readable = {
      {.name = Segment("a", 4), .ranges = {{"s", 25, 30}}}};
  const Positions positions = {.shards = {{ShardId("a"), SegmentSequence(1)}},
                               .sources = {{"s", 10}}};
  EXPECT_THAT(FindMissingRanges(positions, readable, {Segment("a", 2), Segment("a", 3)}),
              ElementsAre(IsEmpty(), ElementsAre(SourceRange{"s", 10, 25})));
}

}  // namespace
}  // namespace firn::wal
