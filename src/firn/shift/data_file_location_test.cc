#include "firn/shift/data_file_location.h"

#include <gtest/gtest.h>

namespace firn::shift {
namespace {

using types::Type;
using types::TypeKind;
using Properties = std::map<std::string, std::string>;

/// Where the file "a" of the partition name=`name` goes, or of no partition.
std::string Location(Properties properties, std::optional<std::string> name = {}) {
  iceberg::TableMetadata metadata;
  metadata.location = "s3://b/db/t";
  metadata.schemas = {
      {.fields = {{.id = 1, .name = "name", .type = Type(TypeKind::kString)}}}};
  metadata.properties = std::move(properties);
  types::PartitionSpec spec;
  types::PartitionTuple partition;
  if (name) {
    spec.fields = {{.source_id = 1, .field_id = 1000, .name = "name"}};
    partition = {*name};
  }
  return DataFileLocation(metadata, spec, partition, "a").ValueOrDie();
}

Properties Spread(Properties others = {}) {
  others["write.object-storage.enabled"] = "true";
  return others;
}

TEST(DataFileLocationTest, PartitionsHaveFolders) {
  EXPECT_EQ(Location({}), "s3://b/db/t/data/a");
  EXPECT_EQ(Location({}, "x/y"), "s3://b/db/t/data/name=x%2Fy/a");
  EXPECT_EQ(Location({{"write.object-storage.enabled", "no"}}), "s3://b/db/t/data/a");
}

TEST(DataFileLocationTest, AFolderMayBeChosen) {
  EXPECT_EQ(Location({{"write.data.path", "s3://c/d//"}}, "x"), "s3://c/d/name=x/a");
  EXPECT_EQ(Location({{"write.folder-storage.path", "s3://c/e"}}), "s3://c/e/a");
  EXPECT_EQ(Location({{"write.folder-storage.path", "s3://c/e"},
                      {"write.data.path", "s3://c/d"}}),
            "s3://c/d/a");
  EXPECT_EQ(Location({{"write.object-storage.path", "s3://c/e"}}), "s3://b/db/t/data/a");
}

std::string FolderProperty(Properties properties) {
  iceberg::TableMetadata metadata;
  metadata.properties = std::move(properties);
  const char* property = DataFolderProperty(metadata);
  return property == nullptr ? "none" : property;
}

TEST(DataFileLocationTest, SaysWhichPropertyChoseTheFolder) {
  EXPECT_EQ(FolderProperty({{"write.object-storage.path", "s3://c/e"}}), "none");
  EXPECT_EQ(FolderProperty(Spread({{"write.data.path", ""}})), "none");
  const Properties deprecated = {{"write.object-storage.path", "s3://c/e"},
                                 {"write.folder-storage.path", "s3://c/f"}};
  EXPECT_EQ(FolderProperty(deprecated), "write.folder-storage.path");
  EXPECT_EQ(FolderProperty(Spread(deprecated)), "write.object-storage.path");
  EXPECT_EQ(FolderProperty(Spread({{"write.data.path", "s3://c/d"},
                                   {"write.object-storage.path", "s3://c/e"}})),
            "write.data.path");
}

// Hashes as PyIceberg's and Java's location providers compute them.
TEST(DataFileLocationTest, FilesAreSpreadByTheHashOfPartitionAndName) {
  EXPECT_EQ(Location(Spread()), "s3://b/db/t/data/0101/0110/1001/10110010/a");
  EXPECT_EQ(Location(Spread(), "x"), "s3://b/db/t/data/0000/1000/0111/01101001/name=x/a");
}

TEST(DataFileLocationTest, WithoutPartitionPathsTheNameStartsWithTheHash) {
  const Properties properties =
      Spread({{"write.object-storage.partitioned-paths", "false"}});
  EXPECT_EQ(Location(properties), "s3://b/db/t/data/0101/0110/1001/10110010-a");
  EXPECT_EQ(Location(properties, "x"), "s3://b/db/t/data/0101/0110/1001/10110010-a");
}

TEST(DataFileLocationTest, ElsewhereTheTablesNameFollowsTheHash) {
  EXPECT_EQ(Location(Spread({{"write.data.path", "s3://c"}})),
            "s3://c/0101/0110/1001/10110010/db/t/a");
  EXPECT_EQ(Location(Spread({{"write.object-storage.path", "s3://c/d/"}})),
            "s3://c/d/0101/0110/1001/10110010/db/t/a");
  EXPECT_EQ(Location(Spread({{"write.data.path", "s3://b/db/t/elsewhere"}})),
            "s3://b/db/t/elsewhere/0101/0110/1001/10110010/a");
}

}  // namespace
}  // namespace firn::shift
