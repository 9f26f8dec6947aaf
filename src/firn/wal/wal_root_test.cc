#include "firn/wal/wal_root.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/memory_store.h"

namespace firn::wal {
namespace {

class WalRootTest : public testing::Test {
 protected:
  void Put(const std::string& key) {
    runtime_.Advance(std::chrono::seconds(1));
    ASSERT_TRUE(store_.PutWhole(key, "bytes").ok());
  }

  /// "a:1,2 b:closed" for the shards of table `u`.
  std::string Shards() {
    std::string text;
    for (const ShardListing& shard : ListShards(store_, TableUuid("u")).ValueOrDie()) {
      text += fmt::format("{}{}:", text.empty() ? "" : " ", shard.shard);
      for (const SegmentObject& segment : shard.segments) {
        text += fmt::format("{},", segment.name.sequence);
      }
      if (shard.closed) text += "closed";
    }
    return text;
  }

  FakeRuntime runtime_;
  storage::MemoryStore store_{runtime_};
};

TEST_F(WalRootTest, KeepsItsIdForGood) {
  EXPECT_TRUE(IsError(ReadWalId(store_).status(), ErrorKind::kNotFound));
  const WalId id = OpenWalRoot(runtime_, store_).ValueOrDie();
  EXPECT_EQ(OpenWalRoot(runtime_, store_).ValueOrDie(), id);
  EXPECT_EQ(ReadWalId(store_).ValueOrDie(), id);
}

TEST_F(WalRootTest, FirstUsersAtOnceAgree) {
  for (const auto operation :
       {storage::StoreOperation::kList, storage::StoreOperation::kPutWhole}) {
    for (const int call : {1, 2}) {
      storage::MemoryStore store(runtime_);
      std::optional<WalId> other;
      storage::FaultyStore interrupted(
          runtime_, store, [&](const storage::StoreCall& now) {
            if (now.operation == operation && now.number == call) {
              runtime_.Advance(std::chrono::seconds(1));
              other = OpenWalRoot(runtime_, store).ValueOrDie();
            }
            return storage::kPass;
          });
      EXPECT_EQ(OpenWalRoot(runtime_, interrupted).ValueOrDie(), other)
          << StoreOperationName(operation) << " " << call;
    }
  }
}

TEST_F(WalRootTest, AClaimThatMayHaveBeenMadeIsRead) {
  storage::FaultyStore faulty(runtime_, store_,
                              storage::FailNth(storage::StoreOperation::kPutWhole, 1,
                                               storage::kApplyThenUnknown));
  const WalId id = OpenWalRoot(runtime_, faulty).ValueOrDie();
  EXPECT_EQ(ReadWalId(store_).ValueOrDie(), id);
}

TEST_F(WalRootTest, TheSmallestIdWins) {
  Put("id-01BX5ZZKBKACTAV9WEVGEMMVRZ");
  Put("id-01ARZ3NDEKTSV4RRFFQ69G5FAV");
  Put("id-0-is-no-ulid");
  EXPECT_EQ(ReadWalId(store_).ValueOrDie(), WalId("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
}

TEST_F(WalRootTest, ListsTheShardsOfATable) {
  Put("u/b-1/00000000000000000002.parquet");
  Put("u/b-1/00000000000000000010.parquet");
  Put("u/b-1/closed");
  Put("u/a-1/00000000000000000001.parquet");
  Put("u/a-1/notes.txt");
  Put("u2/c-1/00000000000000000001.parquet");
  EXPECT_EQ(Shards(), "a-1:1, b-1:2,10,closed");
}

TEST_F(WalRootTest, AShardIsAsYoungAsItsYoungestObject) {
  Put("u/a-1/00000000000000000001.parquet");
  Put("u/a-1/closed");
  const auto shards = ListShards(store_, TableUuid("u")).ValueOrDie();
  EXPECT_EQ(shards[0].modified_us, runtime_.Now().time_since_epoch().count());
  EXPECT_EQ(shards[0].segments[0].size_bytes, 5);
}

TEST(CheckOutsideTableTest, RefusesAWalThatATablesCleanUpWouldEat) {
  struct Case {
    const char* wal;
    const char* table;
    bool ok;
  };
  for (const Case& test :
       std::initializer_list<Case>{{"file:///w/wal", "file:///w/db/t", true},
                                   {"file:///w/wal", "file:///w/wa", true},
                                   {"file:///w/wal", "file:///w/wal/t", true},
                                   {"file:///w/t", "file:///w/t", false},
                                   {"file:///w/t/wal", "/w/t/", false},
                                   {"/w/t/wal", "file:/w/t", false},
                                   {"s3://b/t/wal", "s3://b/t", false},
                                   {"s3://b/t/wal", "s3://c/t", true},
                                   {"s3://b/t/wal", "file:///t", true}}) {
    EXPECT_EQ(CheckOutsideTable(test.wal, test.table).ok(), test.ok)
        << test.wal << " " << test.table;
  }
}

}  // namespace
}  // namespace firn::wal
