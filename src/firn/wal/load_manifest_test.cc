#include "firn/wal/load_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/memory_store.h"

namespace firn::wal {
namespace {

class LoadManifestTest : public testing::Test {
 protected:
  const TableUuid table_{"u"};
  const LoadManifest manifest_ = {
      {{"/data/a.csv", 7, 99}, {"odd \n%41\r name é.csv", 0, -5}, {"-", 12, 0}},
      {"--delimiter ;", "--null-value a\nb"}};
  FakeRuntime runtime_;
  storage::MemoryStore store_{runtime_};
};

TEST_F(LoadManifestTest, IsFrozenAtTheFirstCall) {
  EXPECT_TRUE(IsError(ReadLoad(store_, table_, "x").status(), ErrorKind::kNotFound));
  EXPECT_EQ(FreezeLoad(store_, table_, "x", manifest_).ValueOrDie(), manifest_);
  EXPECT_EQ(FreezeLoad(store_, table_, "x", {{{"/other", 1, 2}}, {}}).ValueOrDie(),
            manifest_);
  EXPECT_EQ(ReadLoad(store_, table_, "x").ValueOrDie(), manifest_);
}

TEST_F(LoadManifestTest, BelongsToOneTable) {
  ASSERT_TRUE(FreezeLoad(store_, table_, "x", manifest_).ok());
  const TableUuid other("u2");
  EXPECT_EQ(FreezeLoad(store_, other, "x", {}).ValueOrDie(), LoadManifest());
  ASSERT_TRUE(FreezeLoad(store_, table_, "b", manifest_).ok());
  EXPECT_THAT(ListLoads(store_, table_).ValueOrDie(), testing::ElementsAre("b", "x"));
}

TEST_F(LoadManifestTest, ALostAnswerIsResolvedByReading) {
  storage::FaultyStore faulty(runtime_, store_,
                              storage::FailNth(storage::StoreOperation::kPutWhole, 1,
                                               storage::kApplyThenUnknown));
  EXPECT_EQ(FreezeLoad(faulty, table_, "x", manifest_).ValueOrDie(), manifest_);
}

TEST_F(LoadManifestTest, RefusesIdsThatCannotBeNames) {
  for (const std::string& id : {std::string(), std::string(".."), std::string("a/b"),
                                std::string("a b"), std::string(129, 'a')}) {
    EXPECT_FALSE(FreezeLoad(store_, table_, id, manifest_).ok()) << id;
  }
  EXPECT_TRUE(CheckLoadId("Daily.2013-01_a").ok());
}

TEST_F(LoadManifestTest, DamagedListsAreCorrupt) {
  for (const char* text :
       {"", "firn load 1\n", "firn load 2\n1 2 /a", "firn load 2\nx 2 /a\n",
        "firn load 2\n1 /a\n", "firn load 2\n1 2\n", "firn load 2\n1 2 %4\n",
        "firn load 2\noption\n", "firn load 2\noption %\n"}) {
    ASSERT_TRUE(store_.PutWhole("loads/u/x", text).ok());
    const Status status = ReadLoad(store_, table_, "x").status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << text;
  }
}

}  // namespace
}  // namespace firn::wal
