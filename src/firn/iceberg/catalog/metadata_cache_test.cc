#include "firn/iceberg/catalog/metadata_cache.h"

#include <gtest/gtest.h>

#include "firn/iceberg/testing/sample_table.h"

namespace firn::iceberg {
namespace {

TableIdentifier Nth(std::size_t n) { return {"demo", fmt::format("t{}", n)}; }

LoadedTable At(const std::string& location) { return {FlightsMetadata(), location}; }

TEST(MetadataCacheTest, KnowsTheLastOfEachTable) {
  MetadataCache cache(SystemRuntime());
  EXPECT_EQ(cache.Find(Nth(1)), std::nullopt);
  cache.Put(Nth(1), At("a"));
  cache.Put(Nth(2), At("a"));
  cache.Put(Nth(1), At("b"));
  EXPECT_EQ(cache.Find(Nth(1)), At("b"));
  EXPECT_EQ(cache.Find(Nth(2)), At("a"));
}

TEST(MetadataCacheTest, ForgetsTheTableThatNobodyAskedForLongest) {
  MetadataCache cache(SystemRuntime());
  for (std::size_t n = 0; n < MetadataCache::kTablesMax; ++n) cache.Put(Nth(n), At("a"));
  EXPECT_TRUE(cache.Find(Nth(0)));
  cache.Put(Nth(MetadataCache::kTablesMax), At("a"));
  EXPECT_TRUE(cache.Find(Nth(0)));
  EXPECT_FALSE(cache.Find(Nth(1)));
  EXPECT_TRUE(cache.Find(Nth(2)));
  EXPECT_TRUE(cache.Find(Nth(MetadataCache::kTablesMax)));
}

}  // namespace
}  // namespace firn::iceberg
