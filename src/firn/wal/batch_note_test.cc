#include "firn/wal/batch_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/memory_store.h"
#include "firn/wal/wal_root.h"

namespace firn::wal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TableUuid kTable("8c2e5a54-6a4e-4b3b-9d0c-0a51b6a9a001");
const BatchId kFirst("01J00000000000000000000001");
const BatchId kSecond("01J00000000000000000000002");

class BatchNoteTest : public testing::Test {
 protected:
  std::vector<NotedBatch> Noted() {
    return ListNotedBatches(store_, kTable).ValueOrDie();
  }

  FakeRuntime runtime_;
  storage::MemoryStore store_{runtime_};
};

TEST_F(BatchNoteTest, HoldsPrefixesOfAnyBytesUntilItIsForgotten) {
  const BatchNote note = {.owner = "db.t",
                          .prefixes = {"file:///a b/k=%2F\n\xc3\xbc/x-", "s3://y"}};
  const WallTime noted = runtime_.Now();
  ASSERT_TRUE(NoteBatch(store_, kTable, kSecond, note).ok());
  ASSERT_TRUE(NoteBatch(store_, kTable, kFirst, {.owner = "a", .prefixes = {}}).ok());
  EXPECT_EQ(ReadBatchNote(store_, kTable, kSecond).ValueOrDie(), note);
  EXPECT_THAT(ReadBatchNote(store_, kTable, kFirst).ValueOrDie().prefixes, IsEmpty());
  EXPECT_THAT(Noted(),
              ElementsAre(NotedBatch{kFirst, noted}, NotedBatch{kSecond, noted}));
  ASSERT_TRUE(ForgetBatch(store_, kTable, kFirst).ok());
  ASSERT_TRUE(ForgetBatch(store_, kTable, kFirst).ok());
  EXPECT_THAT(Noted(), ElementsAre(NotedBatch{kSecond, noted}));
  EXPECT_THAT(ListNotedBatches(store_, TableUuid("another")).ValueOrDie(), IsEmpty());
  EXPECT_THAT(ListShards(store_, kTable).ValueOrDie(), IsEmpty());
}

TEST_F(BatchNoteTest, AMalformedNoteNamesNothing) {
  for (const char* text : {"", "firn batch 1\n", "firn batch 2\nx\n", "firn batch 1\nx",
                           "firn batch 1\n\n", "firn batch 1\n%4\n"}) {
    const std::string key = fmt::format("batches/{}/{}", kTable, kFirst);
    ASSERT_TRUE(store_.PutWhole(key, text).ok());
    const Status status = ReadBatchNote(store_, kTable, kFirst).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << text;
  }
}

}  // namespace
}  // namespace firn::wal
