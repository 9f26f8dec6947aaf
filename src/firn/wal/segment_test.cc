#include "firn/wal/segment.h"

#include <gtest/gtest.h>

namespace firn::wal {
namespace {

TEST(SegmentNameTest, KeyAndBack) {
  const SegmentName name = {.table_uuid = TableUuid("u"),
                            .shard = ShardId("node-1"),
                            .sequence = SegmentSequence(42)};
  EXPECT_EQ(SegmentKey(name), "u/node-1/00000000000000000042.parquet");
  EXPECT_EQ(ParseSegmentKey(SegmentKey(name)), name);
}

TEST(SegmentNameTest, OtherObjectsAreNoSegments) {
  for (const char* key :
       {"", "u/s/closed", "u/s/1.parquet", "u/s/00000000000000000000.parquet",
        "u/s/0000000000000000001x.parquet", "u//00000000000000000001.parquet",
        "/s/00000000000000000001.parquet", "s/00000000000000000001.parquet",
        "u/s/x/00000000000000000001.parquet", "u/s/99999999999999999999.parquet",
        "u/s/00000000000000000001.skip", "u/s/-0000000000000000001.parquet"}) {
    EXPECT_EQ(ParseSegmentKey(key), std::nullopt) << key;
  }
}

}  // namespace
}  // namespace firn::wal
