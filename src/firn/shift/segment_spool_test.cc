#include "firn/shift/segment_spool.h"

#include <filesystem>

#include <arrow/buffer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/counting_store.h"
#include "firn/storage/local_store.h"
#include "firn/storage/memory_store.h"
#include "firn/storage/temporary_directory.h"

namespace firn::shift {
namespace {

class SegmentSpoolTest : public testing::Test {
 protected:
  std::shared_ptr<SpooledSegment> Open(SegmentSpool& spool, const std::string& bytes) {
    const std::string key = fmt::format("segment{}", ++segments_);
    EXPECT_TRUE(memory_.PutWhole(key, bytes).ok());
    return spool.Open(key, static_cast<std::int64_t>(bytes.size()));
  }

  static std::string Read(SpooledSegment& segment, std::int64_t position,
                          std::int64_t nbytes) {
    const auto bytes = segment.ReadAt(position, nbytes);
    return bytes.ok() ? (*bytes)->ToString() : bytes.status().ToString();
  }

  FakeRuntime runtime_;
  storage::MemoryStore memory_{runtime_};
  storage::CountingStore store_{memory_};
  int segments_ = 0;
};

TEST_F(SegmentSpoolTest, FetchesASegmentOnceWhenItIsFirstRead) {
  SegmentSpool spool(runtime_, store_, 100);
  const auto segment = Open(spool, "0123456789");
  EXPECT_EQ(store_.counts().gets, 0);
  EXPECT_EQ(Read(*segment, 2, 3), "234");
  EXPECT_EQ(Read(*segment, 8, 9), "89");
  EXPECT_EQ(store_.counts().gets, 1);
  EXPECT_EQ(spool.memory_bytes(), 10);
}

TEST_F(SegmentSpoolTest, WhatMemoryDoesNotHoldGoesToTheDisk) {
  SegmentSpool spool(runtime_, store_, 15);
  const auto first = Open(spool, "0123456789");
  const auto second = Open(spool, "abcdefghij");
  const auto third = Open(spool, "xyz");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Read(*first, 0, 2), "01");
    EXPECT_EQ(Read(*second, 4, 2), "ef");
    EXPECT_EQ(Read(*third, 0, 3), "xyz");
  }
  EXPECT_EQ(store_.counts().gets, 3);
  EXPECT_EQ(spool.memory_bytes(), 13);
  EXPECT_EQ(spool.disk_bytes(), 10);
}

TEST_F(SegmentSpoolTest, ReleasingGivesRoomBack) {
  SegmentSpool spool(runtime_, store_, 10);
  const auto first = Open(spool, "0123456789");
  auto second = Open(spool, "abc");
  Read(*first, 0, 1);
  Read(*second, 0, 1);
  first->Release();
  EXPECT_EQ(spool.memory_bytes(), 0);
  EXPECT_EQ(spool.disk_bytes(), 3);
  second = nullptr;
  EXPECT_EQ(spool.disk_bytes(), 0);
  EXPECT_EQ(Read(*first, 1, 1), "1");
  EXPECT_EQ(store_.counts().gets, 3);
}

TEST_F(SegmentSpoolTest, AFetchThatFailedIsTriedAgain) {
  SegmentSpool spool(runtime_, store_, 10);
  const auto segment = spool.Open("later", 3);
  EXPECT_TRUE(IsError(segment->ReadAt(0, 1).status(), ErrorKind::kNotFound));
  ASSERT_TRUE(memory_.PutWhole("later", "abc").ok());
  EXPECT_EQ(Read(*segment, 0, 3), "abc");
}

TEST_F(SegmentSpoolTest, ReadersOfManyThreadsShareOneFetch) {
  SegmentSpool spool(runtime_, store_, 0);
  const auto segment = Open(spool, "0123456789");
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back(runtime_, "reader",
                           [&] { EXPECT_EQ(Read(*segment, 3, 4), "3456"); });
    }
  }
  EXPECT_EQ(store_.counts().gets, 1);
}

TEST_F(SegmentSpoolTest, ALocalStoreIsReadInPlace) {
  const auto directory = storage::TemporaryDirectory::Make().ValueOrDie();
  const auto local = storage::LocalStore::Make(runtime_, directory.path()).ValueOrDie();
  ASSERT_TRUE(local->PutWhole("segment", "0123456789").ok());
  SegmentSpool spool(runtime_, *local, 0);
  EXPECT_EQ(Read(*spool.Open("segment", 10), 2, 3), "234");
  EXPECT_EQ(spool.disk_bytes(), 0);
}

}  // namespace
}  // namespace firn::shift
