// Manifests of tables that Java made (io/foreign_files_test.cc) are merged: live files
// keep all that was said of them, deleted ones are left out, delete files stay as they
// are.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/iceberg/update/manifest_merge.h"

namespace firn::iceberg {
namespace {

constexpr const char* kFolder = FIRN_SOURCE_DIR "/src/firn/iceberg/testdata/foreign";

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class ForeignMergeTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto folder = std::filesystem::path(kFolder) / GetParam();
    ASSERT_TRUE(
        io_.WriteNew("file:///m.json", ReadFile(folder / "table.metadata.json")).ok());
    metadata_ = ReadTableMetadata(io_, "file:///m.json").ValueOrDie();
    ASSERT_TRUE(CheckWritable(metadata_).ok());
    ASSERT_TRUE(io_.WriteNew(CurrentSnapshot(metadata_)->manifest_list,
                             ReadFile(folder / "manifest_list.avro"))
                    .ok());
    for (const ManifestFile& manifest : Manifests()) {
      const std::filesystem::path name =
          std::filesystem::path(manifest.manifest_path).filename();
      ASSERT_TRUE(io_.WriteNew(manifest.manifest_path, ReadFile(folder / name)).ok());
    }
    metadata_.properties["commit.manifest.min-count-to-merge"] = "2";
  }

  std::vector<ManifestFile> Manifests() {
    return ManifestsOfMain(io_, metadata_).ValueOrDie();
  }

  std::vector<ManifestFile> DeleteManifests() {
    std::vector<ManifestFile> manifests = Manifests();
    std::erase_if(manifests, [](const ManifestFile& manifest) {
      return manifest.content == ManifestContent::kData;
    });
    return manifests;
  }

  /// Of the data files that are live, by path, each as an entry that is not new.
  std::vector<ManifestEntry> LiveEntries() {
    std::vector<ManifestEntry> live;
    for (const ManifestFile& manifest : Manifests()) {
      if (manifest.content != ManifestContent::kData) continue;
      for (ManifestEntry& entry : ReadManifest(io_, metadata_, manifest).ValueOrDie()) {
        if (entry.status == EntryStatus::kDeleted) continue;
        entry.status = EntryStatus::kExisting;
        live.push_back(std::move(entry));
      }
    }
    std::ranges::sort(
        live, {}, [](const ManifestEntry& entry) { return entry.data_file.file_path; });
    return live;
  }

  void Merge() {
    const auto merge = PrepareManifestMerge(io_, metadata_, runtime_).ValueOrDie();
    ASSERT_TRUE(merge.has_value());
    metadata_ =
        Apply(metadata_, "file:///m.json", merge->updates, runtime_.Now()).ValueOrDie();
  }

  FakeRuntime runtime_;
  storage::MemoryStore store_{SystemRuntime()};
  const FileIo io_ =
      FileIo::Make({{.prefix = "file:///", .store = &store_}}).ValueOrDie();
  TableMetadata metadata_;
};

TEST_P(ForeignMergeTest, LiveFilesKeepAllThatWasSaidOfThem) {
  const std::vector<ManifestEntry> before = LiveEntries();
  const std::vector<ManifestFile> deletes_before = DeleteManifests();
  const auto summary_before = CurrentSnapshot(metadata_)->summary;
  ASSERT_EQ(deletes_before.size(), 1U);
  Merge();
  EXPECT_EQ(LiveEntries(), before);
  EXPECT_EQ(DeleteManifests(), deletes_before);
  ASSERT_EQ(Manifests().size(), 2U);
  const ManifestFile merged = Manifests().front();
  EXPECT_EQ(merged.existing_files_count, before.size());
  EXPECT_EQ(merged.deleted_files_count, 0);
  EXPECT_EQ(merged.min_sequence_number, SnapshotSequence(1));
  for (const char* total : {"total-records", "total-data-files", "total-files-size",
                            "total-delete-files", "total-position-deletes"}) {
    EXPECT_EQ(CurrentSnapshot(metadata_)->summary.at(total), summary_before.at(total));
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, ForeignMergeTest, testing::Values("java_v2", "java_v3"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace firn::iceberg
