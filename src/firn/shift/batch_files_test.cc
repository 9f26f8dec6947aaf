#include "firn/shift/batch_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;
using testing::StartsWith;

const BatchId kBatch("01J00000000000000000000001");

std::vector<std::string> PrefixesOf(const TestLayout& layout, const TestRows& rows) {
  TestWarehouse warehouse(layout);
  warehouse.Write(rows);
  const PlannedIteration& plan = warehouse.Plan();
  return BatchFilePrefixes(warehouse.Load(), plan.input, plan.plan.chunks, kBatch)
      .ValueOrDie();
}

TEST(BatchFilesTest, NamesAreKnownAgain) {
  const std::string chunk = ChunkName(kBatch.value(), 7);
  for (const std::string& name :
       {ChunkFileName(chunk, 0), ChunkFileName(chunk, 12),
        "0101-" + ChunkFileName(chunk, 0),
        ChunkFileName(ChunkName(kBatch.value(), 1'234'567), 1)}) {
    EXPECT_TRUE(IsFileNameOf(kBatch, name)) << name;
    EXPECT_EQ(BatchInFileName(name), kBatch.value()) << name;
  }
}

TEST(BatchFilesTest, OtherNamesAreSomebodyElses) {
  const std::string& id = kBatch.value();
  for (const std::string& name :
       {id + ".parquet", id + "-.parquet", id + "-0001.parquet", id + "-00001",
        id + "-00001.parquet.crc", id + "-00001-.parquet", id + "-00001-x.parquet",
        id + "-00001-1-1.parquet", id + "-0000a.parquet", "x-" + id + "-00001.parquet",
        std::string("01J00000000000000000000002-00001.parquet"), std::string()}) {
    EXPECT_FALSE(IsFileNameOf(kBatch, name)) << name;
  }
  for (const char* name : {"", "part-0.parquet", "00000-0-uuid-00001.parquet"}) {
    EXPECT_EQ(BatchInFileName(name), "") << name;
  }
}

TEST(BatchFilesTest, APartitionHasOnePrefix) {
  EXPECT_THAT(
      PrefixesOf({.partition_by = "tenant"}, "P/a1 P/b2 Q/a3"),
      ElementsAre(
          "memory:///warehouse/demo/events/data/tenant=P/" + kBatch.value() + "-",
          "memory:///warehouse/demo/events/data/tenant=Q/" + kBatch.value() + "-"));
}

TEST(BatchFilesTest, WhereFoldersFollowFromNamesEachFileHasAPrefix) {
  const TestLayout layout = {.properties = {{"write.object-storage.enabled", "true"}}};
  EXPECT_THAT(PrefixesOf(layout, "a1 b2"),
              AllOf(SizeIs(kNotedFilesOfChunk),
                    Each(StartsWith("memory:///warehouse/demo/events/data/"))));
}

}  // namespace
}  // namespace firn::shift
