#include "firn/storage/mounted_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/storage/memory_store.h"

namespace firn::storage {
namespace {

class MountedStoreTest : public testing::Test {
 protected:
  static std::shared_ptr<MemoryStore> NewStore() {
    return std::make_shared<MemoryStore>(SystemRuntime());
  }
  static bool Has(ObjectStore& store, std::string_view key) {
    return store.GetWhole(key).ok();
  }

  const std::shared_ptr<MemoryStore> base_ = NewStore();
  const std::shared_ptr<MemoryStore> table_ = NewStore();
  const std::shared_ptr<MemoryStore> inner_ = NewStore();
  MountedStore store_{SystemRuntime(), base_};
};

TEST_F(MountedStoreTest, TheLongestFolderTakesTheKeyAsItIs) {
  store_.Mount("lake/t", table_);
  store_.Mount("lake/t/inner", inner_);
  for (const char* key : {"lake/t/a", "lake/t/inner/a", "lake/tt", "lake/x", "other"}) {
    ASSERT_TRUE(store_.PutWhole(key, "x").ok());
  }
  EXPECT_TRUE(Has(*table_, "lake/t/a"));
  EXPECT_TRUE(Has(*inner_, "lake/t/inner/a"));
  EXPECT_TRUE(Has(*base_, "lake/tt"));
  EXPECT_TRUE(Has(*base_, "lake/x"));
  EXPECT_TRUE(Has(*base_, "other"));
  EXPECT_TRUE(Has(store_, "lake/t/inner/a"));
  EXPECT_EQ(store_.List("lake/t/").ValueOrDie().size(), 1u);
}

TEST_F(MountedStoreTest, WhatIsMountedFirstStays) {
  EXPECT_FALSE(store_.IsMounted("lake/t"));
  store_.Mount("lake/t", table_);
  EXPECT_TRUE(store_.IsMounted("lake/t"));
  store_.Mount("lake/t", inner_);
  ASSERT_TRUE(store_.PutWhole("lake/t/a", "x").ok());
  EXPECT_TRUE(Has(*table_, "lake/t/a"));
}

}  // namespace
}  // namespace firn::storage
