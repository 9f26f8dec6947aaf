#include "firn/iceberg/metadata/row_lineage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::iceberg {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

ManifestFile Manifest(std::int64_t added, std::int64_t existing,
                      std::optional<std::int64_t> first_row_id = std::nullopt) {
  return {.manifest_path = "m",
          .added_rows_count = added,
          .existing_rows_count = existing,
          .first_row_id = first_row_id};
}

ManifestEntry Entry(EntryStatus status, std::int64_t records,
                    std::optional<std::int64_t> first_row_id = std::nullopt) {
  return {.status = status,
          .data_file = {.record_count = records, .first_row_id = first_row_id}};
}

using Ids = std::vector<std::optional<std::int64_t>>;

Ids IdsOf(const std::vector<ManifestEntry>& entries) {
  Ids ids;
  for (const ManifestEntry& entry : entries) ids.push_back(entry.data_file.first_row_id);
  return ids;
}

// The example of the spec's section "Row lineage example".
TEST(AssignRowIdsTest, NewManifestsFollowEachOther) {
  std::vector<ManifestFile> manifests = {Manifest(75, 0, 925), Manifest(100, 25),
                                         Manifest(0, 100), Manifest(125, 25)};
  EXPECT_EQ(AssignRowIds(1'000, manifests).ValueOrDie(), 1'375);
  EXPECT_EQ(manifests[0].first_row_id, 925);
  EXPECT_EQ(manifests[1].first_row_id, 1'000);
  EXPECT_EQ(manifests[2].first_row_id, 1'125);
  EXPECT_EQ(manifests[3].first_row_id, 1'225);
}

TEST(AssignRowIdsTest, DeleteManifestsHaveNone) {
  std::vector<ManifestFile> manifests = {Manifest(3, 0), Manifest(4, 0, 1)};
  for (ManifestFile& manifest : manifests) manifest.content = ManifestContent::kDeletes;
  EXPECT_EQ(AssignRowIds(10, manifests).ValueOrDie(), 10);
  EXPECT_EQ(manifests[0].first_row_id, std::nullopt);
  EXPECT_EQ(manifests[1].first_row_id, std::nullopt);
}

TEST(AssignRowIdsTest, NoIdIsGivenOutTwice) {
  const auto problem = [](std::int64_t next, ManifestFile manifest) {
    std::vector<ManifestFile> manifests = {std::move(manifest)};
    return AssignRowIds(next, manifests).status();
  };
  const Status ahead = problem(10, Manifest(1, 0, 11));
  EXPECT_TRUE(IsError(ahead, ErrorKind::kCorruption));
  EXPECT_THAT(ErrorText(ahead), HasSubstr("m: its row ids start at 11"));
  EXPECT_TRUE(IsError(problem(kMax, Manifest(1, 0)), ErrorKind::kCorruption));
  EXPECT_TRUE(IsError(problem(0, Manifest(-1, 5)), ErrorKind::kCorruption));
  ManifestFile uncounted = Manifest(1, 0);
  uncounted.existing_rows_count.reset();
  EXPECT_THAT(ErrorText(problem(0, uncounted)),
              HasSubstr("rewrite the table's manifests"));
}

TEST(InheritRowIdsTest, FilesWithoutAnIdFollowEachOther) {
  std::vector<ManifestEntry> entries = {
      Entry(EntryStatus::kExisting, 25, 800), Entry(EntryStatus::kAdded, 50),
      Entry(EntryStatus::kDeleted, 9), Entry(EntryStatus::kExisting, 50),
      Entry(EntryStatus::kDeleted, 9, 300)};
  ASSERT_TRUE(InheritRowIds(Manifest(50, 75, 1'000), entries).ok());
  EXPECT_EQ(IdsOf(entries), (Ids{800, 1'000, std::nullopt, 1'050, 300}));
}

TEST(InheritRowIdsTest, BeforeTheFirstCommitOfVersion3NobodyHasOne) {
  std::vector<ManifestEntry> entries = {Entry(EntryStatus::kAdded, 5),
                                        Entry(EntryStatus::kExisting, 5, 7)};
  ASSERT_TRUE(InheritRowIds(Manifest(5, 5), entries).ok());
  EXPECT_EQ(IdsOf(entries), (Ids{std::nullopt, std::nullopt}));
}

TEST(InheritRowIdsTest, DamagedCountsAreNamed) {
  std::vector<ManifestEntry> entries = {Entry(EntryStatus::kAdded, -1)};
  EXPECT_TRUE(IsError(InheritRowIds(Manifest(1, 0, 0), entries), ErrorKind::kCorruption));
  entries = {Entry(EntryStatus::kAdded, 1)};
  EXPECT_TRUE(
      IsError(InheritRowIds(Manifest(1, 0, kMax), entries), ErrorKind::kCorruption));
}

}  // namespace
}  // namespace firn::iceberg
