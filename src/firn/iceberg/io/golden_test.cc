// Files of one small table, byte by byte: they must be read as long as Firn exists.
//
// FIRN_UPDATE_GOLDEN=1 writes them anew.

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/serde/avro/container.h"
#include "firn/iceberg/serde/manifest_avro.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/iceberg/update/append.h"

namespace firn::iceberg {
namespace {

constexpr const char* kFolder = FIRN_SOURCE_DIR "/src/firn/iceberg/testdata/";
constexpr const char* kMetadataLocation = "memory:///flights/metadata/00001.json";

std::string ReadGolden(const std::string& name) {
  std::ifstream file(kFolder + name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void UpdateGolden(const std::string& name, const std::string& bytes) {
  if (std::getenv("FIRN_UPDATE_GOLDEN") == nullptr) return;
  std::ofstream(kFolder + name, std::ios::binary) << bytes;
}

DataFile GoldenFile() {
  DataFile file = FlightsFile("memory:///flights/data/2013-01-UA.parquet", 516, "UA", 42);
  file.column_sizes = {{1, 100}, {2, 50}, {3, 300}};
  file.value_counts = {{1, 42}, {2, 42}, {3, 42}};
  file.null_value_counts = {{1, 0}, {2, 0}, {3, 2}};
  file.nan_value_counts = {{3, 1}};
  file.lower_bounds = {{2, "UA"}};
  file.upper_bounds = {{2, "UA"}};
  file.split_offsets = {4};
  file.sort_order_id = SortOrderId(1);
  return file;
}

/// The table's first append, written to memory.
class GoldenTest : public testing::Test {
 protected:
  GoldenTest() {
    const TableMetadata base = FlightsMetadata();
    const WallTime now = FakeRuntime().Now();
    const std::vector<DataFile> data_files = {
        GoldenFile(), FlightsFile("memory:///flights/data/null.parquet", {}, {}, 7)};
    written_ = WriteManifests(files_.io(), base, data_files, SnapshotId(4242), "uuid")
                   .ValueOrDie();
    // Depends on the compression.
    written_.manifests.at(0).manifest_length = 1'000;
    const PreparedSnapshot append =
        PrepareAppend(files_.io(), base, written_, {}, now).ValueOrDie();
    metadata_ = Apply(base, "memory:///flights/metadata/00000.json", append.updates, now)
                    .ValueOrDie();
    EXPECT_TRUE(WriteTableMetadata(files_.io(), kMetadataLocation, metadata_).ok());
  }

  std::string Bytes(const std::string& location) {
    return files_.io().Read(location).ValueOrDie();
  }

  std::string ManifestListLocation() const {
    return CurrentSnapshot(metadata_)->manifest_list;
  }

  /// Compression may differ between versions of zlib; header and records may not.
  static void ExpectSameContent(const std::string& golden, const std::string& bytes) {
    const avro::Container expected = avro::ReadContainer(golden).ValueOrDie();
    const avro::Container actual = avro::ReadContainer(bytes).ValueOrDie();
    EXPECT_EQ(actual.metadata, expected.metadata);
    EXPECT_EQ(Encoded(actual), Encoded(expected));
  }

  static std::string Encoded(const avro::Container& container) {
    std::string encoded;
    for (const avro::Value& value : container.values) {
      avro::Encode(*container.schema, value, encoded);
    }
    return encoded;
  }

  MemoryFiles files_;
  WrittenManifests written_;
  TableMetadata metadata_;
};

TEST_F(GoldenTest, Metadata) {
  UpdateGolden("golden.metadata.json", Bytes(kMetadataLocation));
  EXPECT_EQ(Bytes(kMetadataLocation), ReadGolden("golden.metadata.json"));
}

TEST_F(GoldenTest, Manifest) {
  const std::string bytes = Bytes(written_.manifests.at(0).manifest_path);
  UpdateGolden("golden_manifest.avro", bytes);
  const std::string golden = ReadGolden("golden_manifest.avro");
  ExpectSameContent(golden, bytes);
  ASSERT_TRUE(files_.io().WriteNew("memory:///golden", golden).ok());
  ManifestFile manifest = written_.manifests.at(0);
  manifest.manifest_path = "memory:///golden";
  const auto entries = ReadManifest(files_.io(), metadata_, manifest).ValueOrDie();
  EXPECT_EQ(entries.at(0).data_file, GoldenFile());
}

TEST_F(GoldenTest, ManifestSaysWhoseItIs) {
  const ManifestHeader header =
      DecodeManifestHeader(ReadGolden("golden_manifest.avro")).ValueOrDie().value();
  EXPECT_EQ(header.schema, CurrentSchema(metadata_));
  EXPECT_EQ(header.spec, DefaultSpec(metadata_));
  EXPECT_EQ(header.format_version, 2);
  EXPECT_EQ(header.content, ManifestContent::kData);
  EXPECT_EQ(DecodeManifest(ReadGolden("golden_manifest.avro"), header.spec,
                           header.partition_types)
                .ValueOrDie()
                .at(0)
                .data_file.lower_bounds,
            GoldenFile().lower_bounds);
  EXPECT_EQ(DecodeManifestHeader(ReadGolden("golden_manifest_list.avro")).ValueOrDie(),
            std::nullopt);
  EXPECT_TRUE(IsError(DecodeManifestHeader("Obj").status(), ErrorKind::kCorruption));
}

TEST_F(GoldenTest, ManifestList) {
  const std::string bytes = Bytes(ManifestListLocation());
  UpdateGolden("golden_manifest_list.avro", bytes);
  const std::string golden = ReadGolden("golden_manifest_list.avro");
  ExpectSameContent(golden, bytes);
  ASSERT_TRUE(files_.io().WriteNew("memory:///golden", golden).ok());
  ManifestFile manifest = written_.manifests.at(0);
  manifest.sequence_number = manifest.min_sequence_number = SnapshotSequence(1);
  EXPECT_EQ(ReadManifestList(files_.io(), "memory:///golden").ValueOrDie().at(0),
            manifest);
}

}  // namespace
}  // namespace firn::iceberg
