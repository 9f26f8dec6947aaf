#include "firn/wal/shard_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/memory_store.h"
#include "firn/wal/wal_root.h"

namespace firn::wal {
namespace {

using std::chrono::hours;
using storage::Fault;
using storage::StoreCall;

class ShardWriterTest : public testing::Test {
 protected:
  ShardWriter Open() {
    return ShardWriter::Open(runtime_, faulty_, TableUuid("u"), {.node = "n"})
        .ValueOrDie();
  }

  /// "2 closed, 1": how many segments each shard has, oldest shard first.
  std::string Shards() {
    std::string text;
    for (const ShardListing& shard : ListShards(store_, TableUuid("u")).ValueOrDie()) {
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", shard.segments.size(),
                          shard.closed ? " closed" : "");
    }
    return text;
  }

  FakeRuntime runtime_;
  storage::MemoryStore store_{runtime_};
  std::function<Fault(const StoreCall&)> fault_ = [](const StoreCall&) {
    return storage::kPass;
  };
  storage::FaultyStore faulty_{runtime_, store_,
                               [this](const StoreCall& call) { return fault_(call); }};
};

TEST_F(ShardWriterTest, NumbersSegmentsFromOne) {
  ShardWriter writer = Open();
  const SegmentName expected = writer.next_segment();
  EXPECT_EQ(writer.Write("one").ValueOrDie(), expected);
  EXPECT_EQ(expected.sequence, SegmentSequence(1));
  EXPECT_EQ(writer.Write("two").ValueOrDie().sequence, SegmentSequence(2));
  EXPECT_EQ(store_.GetWhole(SegmentKey(expected)).ValueOrDie(), "one");
  EXPECT_THAT(expected.shard.value(), testing::StartsWith("n-"));
}

TEST_F(ShardWriterTest, EveryWriterHasItsOwnShard) {
  EXPECT_NE(Open().next_segment().shard, Open().next_segment().shard);
}

TEST_F(ShardWriterTest, RefusesANodeThatIsNoName) {
  for (const char* node : {"", "a/b", "a b", "\n"}) {
    EXPECT_FALSE(
        ShardWriter::Open(runtime_, store_, TableUuid("u"), {.node = node}).ok());
  }
}

TEST_F(ShardWriterTest, RetriesTheSameBytesUnderTheSameName) {
  std::vector<std::string> keys;
  fault_ = [&](const StoreCall& call) {
    keys.push_back(call.key);
    return call.number < 4 ? storage::kApplyThenUnknown : storage::kPass;
  };
  ShardWriter writer = Open();
  const SegmentName segment = writer.Write("one").ValueOrDie();
  EXPECT_EQ(keys, std::vector<std::string>(4, SegmentKey(segment)));
  EXPECT_EQ(store_.GetWhole(SegmentKey(segment)).ValueOrDie(), "one");
}

TEST_F(ShardWriterTest, GivesUpAndEndsTheShard) {
  fault_ = [](const StoreCall&) { return storage::kFailBefore; };
  ShardWriter writer = Open();
  const Status failed = writer.Write("one").status();
  EXPECT_TRUE(IsError(failed, ErrorKind::kUnavailable));
  EXPECT_THAT(failed.message(), testing::HasSubstr("gave up after 8 attempts"));
  fault_ = [](const StoreCall&) { return storage::kPass; };
  EXPECT_EQ(writer.Write("two").status(), failed);
  ASSERT_TRUE(writer.Close().ok());
  EXPECT_EQ(Shards(), "");
}

TEST_F(ShardWriterTest, SaysWhenTheSegmentMayBeThereAllTheSame) {
  fault_ = [](const StoreCall& call) {
    return call.number == 1 ? storage::kApplyThenUnknown : storage::kFailBefore;
  };
  EXPECT_TRUE(IsError(Open().Write("one").status(), ErrorKind::kOutcomeUnknown));
}

TEST_F(ShardWriterTest, ClosesOnlyAShardThatHasSegments) {
  ShardWriter writer = Open();
  ASSERT_TRUE(writer.Close().ok());
  EXPECT_EQ(Shards(), "");
  ASSERT_TRUE(writer.Write("one").ok());
  ASSERT_TRUE(writer.Close().ok());
  EXPECT_EQ(Shards(), "1 closed");
}

TEST_F(ShardWriterTest, ReplacesAShardThatWasSilent) {
  ShardWriter writer = Open();
  ASSERT_TRUE(writer.Write("one").ok());
  runtime_.Advance(hours(6));
  ASSERT_TRUE(writer.Write("two").ok());
  EXPECT_EQ(Shards(), "2");
  runtime_.Advance(hours(6) + Duration(1));
  EXPECT_EQ(writer.Write("three").ValueOrDie().sequence, SegmentSequence(1));
  EXPECT_EQ(Shards(), "2 closed, 1");
}

TEST_F(ShardWriterTest, DoesNotAcknowledgeWhatTookTooLong) {
  ShardWriter writer = Open();
  ASSERT_TRUE(writer.Write("one").ok());
  fault_ = [&](const StoreCall&) {
    runtime_.Advance(hours(7));
    return storage::kPass;
  };
  EXPECT_TRUE(IsError(writer.Write("two").status(), ErrorKind::kOutcomeUnknown));
  EXPECT_FALSE(writer.Write("three").ok());
  EXPECT_EQ(Shards(), "2");
}

}  // namespace
}  // namespace firn::wal
