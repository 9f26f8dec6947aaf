#include "firn/iceberg/update/remove_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/iceberg/update/append.h"

namespace firn::iceberg {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

WallTime At(std::int64_t ms) { return WallTime(std::chrono::milliseconds(ms)); }

class RemoveFilesTest : public testing::Test {
 protected:
  void Commit(const PreparedSnapshot& prepared) {
    ASSERT_TRUE(Check(prepared.requirements, metadata_).ok());
    metadata_ = Apply(metadata_, "base", prepared.updates, At(5'000)).ValueOrDie();
  }

  void Append(const std::vector<DataFile>& files, std::int64_t id) {
    const auto written = WriteManifests(files_.io(), metadata_, files, SnapshotId(id),
                                        fmt::format("uuid{}", id))
                             .ValueOrDie();
    Commit(PrepareAppend(files_.io(), metadata_, written, {}, At(5'000)).ValueOrDie());
  }

  /// False if none was live.
  bool Remove(std::set<std::string> paths, std::int64_t id) {
    const auto prepared = PrepareRemoval(files_.io(), metadata_,
                                         {.paths = std::move(paths),
                                          .snapshot_id = SnapshotId(id),
                                          .commit_uuid = fmt::format("uuid{}", id)},
                                         At(6'000))
                              .ValueOrDie();
    if (prepared) Commit(*prepared);
    return prepared.has_value();
  }

  /// "path status snapshot sequence" of all entries.
  std::vector<std::string> Entries() {
    std::vector<std::string> entries;
    for (const ManifestFile& manifest : Manifests()) {
      for (const auto& entry :
           ReadManifest(files_.io(), metadata_, manifest).ValueOrDie()) {
        entries.push_back(fmt::format("{} {} {} {}", entry.data_file.file_path,
                                      static_cast<int>(entry.status), *entry.snapshot_id,
                                      *entry.sequence_number));
      }
    }
    return entries;
  }

  std::vector<ManifestFile> Manifests() {
    return ReadManifestList(files_.io(), CurrentSnapshot(metadata_)->manifest_list)
        .ValueOrDie();
  }

  MemoryFiles files_;
  TableMetadata metadata_ = FlightsMetadata();
};

TEST_F(RemoveFilesTest, OnlyTheManifestThatHoldsTheFileIsRewritten) {
  Append({FlightsFile("a", 1, "UA", 10), FlightsFile("b", 2, "UA", 5)}, 11);
  Append({FlightsFile("c", 1, "AA", 1)}, 12);
  const std::string untouched = Manifests()[0].manifest_path;
  EXPECT_TRUE(Remove({"a", "elsewhere"}, 13));
  EXPECT_THAT(Entries(), UnorderedElementsAre("a 2 13 1", "b 0 11 1", "c 1 12 2"));
  EXPECT_EQ(Manifests()[0].manifest_path, untouched);
  const ManifestFile rewritten = Manifests()[1];
  EXPECT_EQ(rewritten.deleted_files_count, 1);
  EXPECT_EQ(rewritten.deleted_rows_count, 10);
  EXPECT_EQ(rewritten.existing_rows_count, 5);
  EXPECT_EQ(rewritten.added_files_count, 0);
  EXPECT_EQ(rewritten.sequence_number, SnapshotSequence(3));
  EXPECT_EQ(rewritten.min_sequence_number, SnapshotSequence(1));
}

TEST_F(RemoveFilesTest, TheSummaryTellsWhatLeft) {
  Append({FlightsFile("a", 1, "UA", 10), FlightsFile("b", 1, "UA", 5)}, 11);
  ASSERT_TRUE(Remove({"a"}, 12));
  const auto& summary = CurrentSnapshot(metadata_)->summary;
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"operation", "delete"},
                                          {"deleted-data-files", "1"},
                                          {"deleted-records", "10"},
                                          {"removed-files-size", "1000"},
                                          {"changed-partition-count", "1"},
                                          {"total-data-files", "1"},
                                          {"total-records", "5"},
                                          {"total-files-size", "500"},
                                          {"total-delete-files", "0"}}) {
    EXPECT_THAT(summary, Contains(Pair(key, value)));
  }
}

TEST_F(RemoveFilesTest, AFileThatLeftIsPassedOver) {
  EXPECT_FALSE(Remove({"a"}, 10));
  Append({FlightsFile("a", 1, "UA"), FlightsFile("b", 1, "UA")}, 11);
  EXPECT_TRUE(Remove({"a"}, 12));
  EXPECT_FALSE(Remove({"a"}, 13));
  EXPECT_TRUE(Remove({"b"}, 14));
  EXPECT_THAT(Entries(), ElementsAre("b 2 14 1"));
}

}  // namespace
}  // namespace firn::iceberg
