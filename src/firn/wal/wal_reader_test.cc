#include "firn/wal/wal_reader.h"

#include <atomic>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/core/test_seed.h"
#include "firn/storage/counting_store.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/memory_store.h"
#include "firn/wal/segment_rows_fixture.h"
#include "firn/wal/shard_writer.h"

namespace firn::wal {
namespace {

class WalReaderTest : public testing::Test {
 protected:
  SegmentName Write(const std::vector<TestRow>& rows,
                    std::vector<SourceRange> ranges = {}) {
    const FrozenSegment segment =
        builder_.Build({WithoutSource(rows)}, std::move(ranges), "s").ValueOrDie();
    size_bytes_ = segment.bytes->size();
    return writer_.Write(std::string_view(*segment.bytes)).ValueOrDie();
  }

  /// What statistics say of `tenant` in the only row group.
  ExtractedValue Tenant(const std::vector<TestRow>& rows) {
    const std::string key = SegmentKey(Write(rows));
    return reader_.Extract(key, size_bytes_, {{7, ColumnSingleton{1}}})
        .ValueOrDie()
        .at(0)
        .at(7);
  }

  FakeRuntime runtime_;
  storage::MemoryStore memory_{runtime_};
  storage::CountingStore store_{memory_};
  SegmentBuilder builder_ = SegmentBuilder::Make(TestLayout(), {}).ValueOrDie();
  ShardWriter writer_ =
      ShardWriter::Open(runtime_, store_, TestLayout().uuid, {.node = "n"}).ValueOrDie();
  WalReader reader_{runtime_, store_};
  std::int64_t size_bytes_ = 0;
};

TEST_F(WalReaderTest, AStringColumnOfOneValueIsASingleton) {
  EXPECT_EQ(Tenant({{"a", "x", 1}, {"a", "y", 2}}), ExtractedValue("a"));
  EXPECT_EQ(Tenant({{"", "x", 1}}), ExtractedValue(""));
  EXPECT_EQ(Tenant({{std::nullopt, "x", 1}, {std::nullopt, "y", 1}}),
            ExtractedValue(AllNull()));
  EXPECT_EQ(Tenant({{"a", "x", 1}, {"b", "y", 2}}), ExtractedValue(NotSingleton()));
  EXPECT_EQ(Tenant({{"a", "x", 1}, {std::nullopt, "y", 2}}),
            ExtractedValue(NotSingleton()));
}

TEST_F(WalReaderTest, WhatIsNoStringOrNotThereIsToldApart) {
  const std::string key = SegmentKey(Write({{"a", "x", 1}}));
  const auto values = reader_
                          .Extract(key, size_bytes_,
                                   {{1, ColumnSingleton{3}},
                                    {2, ColumnSingleton{99}},
                                    {3, KeyValuePayload{"firn.table-uuid"}},
                                    {4, KeyValuePayload{"no such key"}}})
                          .ValueOrDie()
                          .at(0);
  EXPECT_EQ(values.at(1), ExtractedValue(NotSingleton()));
  EXPECT_EQ(values.at(2), ExtractedValue(Missing()));
  EXPECT_EQ(values.at(3), ExtractedValue(TestLayout().uuid.value()));
  EXPECT_EQ(values.at(4), ExtractedValue(Missing()));
}

TEST_F(WalReaderTest, APayloadMayBelongToARowGroup) {
  builder_ = SegmentBuilder::Make(TestLayout(), {.row_group_bytes = 100}).ValueOrDie();
  const std::string key = SegmentKey(
      Write({{"a", std::string(500, 'x'), 1}, {"a", std::string(500, 'y'), 1}}));
  const auto row_groups =
      reader_.Extract(key, size_bytes_, {{5, KeyValuePayload{"firn.rg.{}"}}})
          .ValueOrDie();
  ASSERT_EQ(row_groups.size(), 2U);
  EXPECT_NE(row_groups[0].at(5), ExtractedValue(Missing()));
  EXPECT_NE(row_groups[0].at(5), row_groups[1].at(5));
}

TEST_F(WalReaderTest, OneRequestPerSegmentAndNoneForAKnownOne) {
  const std::string key = SegmentKey(Write({{"a", "x", 1}}));
  ASSERT_TRUE(reader_.Extract(key, size_bytes_, {}).ok());
  ASSERT_TRUE(reader_.ReadSegmentFooter(key, size_bytes_).ok());
  ASSERT_TRUE(reader_.ReadSegmentFooter(key, size_bytes_).ok());
  EXPECT_EQ(store_.counts().gets, 1);
}

TEST_F(WalReaderTest, ListsWhatIsAboveThePositions) {
  const SegmentName first = Write({{"a", "x", 1}}, {{"S", 0, 4}});
  const SegmentName second = Write({{"a", "x", 1}}, {{"S", 4, 5}});
  const auto listing =
      reader_.ListSegments(TestLayout().uuid, {.shards = {{first.shard, first.sequence}}})
          .ValueOrDie();
  ASSERT_EQ(listing.size(), 1U);
  EXPECT_EQ(listing[0].name, second);
  EXPECT_EQ(listing[0].size_bytes, size_bytes_);
  EXPECT_EQ(listing[0].ranges, (std::vector<SourceRange>{{"S", 4, 5}}));
  EXPECT_EQ(store_.counts().lists, 1);
  EXPECT_EQ(store_.counts().gets, 1);
}

TEST_F(WalReaderTest, ASegmentOfAnotherTableIsCorrupt) {
  const std::string key = SegmentKey(Write({{"a", "x", 1}}));
  const std::string bytes = memory_.GetWhole(key).ValueOrDie();
  ASSERT_TRUE(memory_.PutWhole("other/n-1/00000000000000000001.parquet", bytes).ok());
  const Status status = reader_.ListSegments(TableUuid("other"), {}).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
}

/// Copies of one segment, as many as take all threads of a reader.
class ManyFootersTest : public WalReaderTest {
 protected:
  static constexpr std::uint64_t kSegments = 200;

  ManyFootersTest() {
    const std::string key = SegmentKey(Write({{"a", "x", 1}}));
    bytes_ = memory_.GetWhole(key).ValueOrDie();
    EXPECT_TRUE(memory_.Delete(key).ok());
    for (std::uint64_t n = 1; n <= kSegments; ++n) Put(n, bytes_);
  }

  static std::string KeyOf(std::uint64_t number) {
    return SegmentKey({.table_uuid = TestLayout().uuid,
                       .shard = ShardId("n-1"),
                       .sequence = SegmentSequence(number)});
  }

  void Put(std::uint64_t number, const std::string& bytes) {
    EXPECT_TRUE(memory_.PutWhole(KeyOf(number), bytes).ok());
  }

  Result<std::vector<ListedSegment>> Read(storage::ObjectStore& store,
                                          const StopToken& stop = {}) {
    const auto shards = ListShards(memory_, TestLayout().uuid).ValueOrDie();
    WalReader reader(runtime_, store);
    return reader.ReadRanges(TestLayout().uuid, SegmentsAbove({}, shards), stop);
  }

  std::string bytes_;
};

/// Answers nobody before so many ask.
class MeetingStore : public storage::CountingStore {
 public:
  MeetingStore(storage::ObjectStore& inner, std::int64_t askers)
      : CountingStore(inner), askers_(askers) {}

  Result<std::string> GetRange(std::string_view key, std::int64_t offset,
                               std::int64_t length) override {
    ++asked_;
    while (asked_ < askers_) SystemRuntime().Sleep(Duration(100));
    return CountingStore::GetRange(key, offset, length);
  }

 private:
  const std::int64_t askers_;
  std::atomic<std::int64_t> asked_ = 0;
};

TEST_F(ManyFootersTest, AreReadSeveralAtATimeAndEachOnce) {
  MeetingStore meeting(memory_, kFooterReadsAtOnce);
  const auto listing = Read(meeting).ValueOrDie();
  ASSERT_EQ(listing.size(), kSegments);
  for (std::uint64_t i = 0; i < kSegments; ++i) {
    EXPECT_EQ(listing[i].name.sequence, SegmentSequence(i + 1));
  }
  EXPECT_EQ(meeting.counts().gets, static_cast<std::int64_t>(kSegments));
}

TEST_F(ManyFootersTest, TheFirstDamagedOneInOrderIsNamed) {
  for (const std::uint64_t n : {47, 48, 60, 199}) {
    Put(n, std::string(bytes_.size(), 'x'));
  }
  for (int i = 0; i < 20; ++i) {
    const Status status = Read(memory_).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
    EXPECT_THAT(status.message(), testing::HasSubstr(KeyOf(47)));
  }
}

TEST_F(ManyFootersTest, AStopEndsTheReading) {
  StopSource stop;
  std::atomic<std::int64_t> reads = 0;
  storage::FaultyStore faulty(runtime_, memory_, [&](const storage::StoreCall&) {
    ++reads;
    stop.RequestStop();
    return storage::kPass;
  });
  EXPECT_TRUE(IsError(Read(faulty, stop.token()).status(), ErrorKind::kCancelled));
  EXPECT_LE(reads, static_cast<std::int64_t>(kFooterReadsAtOnce));
}

TEST_F(WalReaderTest, WhatIsNoSegmentIsCorruptAndNamed) {
  for (const std::string& bytes : {std::string("PAR1"), std::string(100, 'x')}) {
    ASSERT_TRUE(memory_.PutWhole("u/n-1/00000000000000000001.parquet", bytes).ok());
    const Status status = reader_
                              .ReadSegmentFooter("u/n-1/00000000000000000001.parquet",
                                                 static_cast<std::int64_t>(bytes.size()))
                              .status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
    EXPECT_THAT(status.message(), testing::HasSubstr("00000000000000000001.parquet"));
  }
}

/// Damage outside of the footer is not seen here: only the tail is read.
TEST_F(WalReaderTest, DamagedFilesAreRefusedOrRead) {
  const SegmentName name = Write({{"a", "x", 1}, {"b", "y", 2}}, {{"S", 0, 2}});
  const std::string whole = memory_.GetWhole(SegmentKey(name)).ValueOrDie();
  std::mt19937_64 random(TestSeed());
  int refused = 0;
  for (int i = 0; i < 5'000; ++i) {
    std::string bytes = whole;
    for (int n = 0; n < 3; ++n) {
      bytes[bytes.size() / 4 + random() % (bytes.size() * 3 / 4)] =
          static_cast<char>(random());
    }
    ASSERT_TRUE(memory_.PutWhole("damaged", bytes).ok());
    WalReader reader(runtime_, memory_);
    const Status extracted =
        reader.Extract("damaged", size_bytes_, {{7, ColumnSingleton{1}}}).status();
    const Status read = reader.ReadSegmentFooter("damaged", size_bytes_).status();
    refused += read.ok() ? 0 : 1;
    for (const Status& status : {extracted, read}) {
      ASSERT_TRUE(status.ok() || status.message().find("damaged") != std::string::npos)
          << status;
    }
  }
  EXPECT_GT(refused, 1'000);
}

}  // namespace
}  // namespace firn::wal
