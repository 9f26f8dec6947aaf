#include "firn/iceberg/io/named_files.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/iceberg/update/append.h"
#include "firn/iceberg/update/remove_files.h"

namespace firn::iceberg {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kOldMetadata = "memory:///flights/metadata/00000-a.metadata.json";
const WallTime kNow = WallTime(std::chrono::seconds(5));

class NamedFilesTest : public testing::Test {
 protected:
  void Commit(const PreparedSnapshot& prepared) {
    metadata_ = Apply(metadata_, "base", prepared.updates, kNow).ValueOrDie();
    metadata_.metadata_log.clear();
  }

  void Append(const std::string& file, std::int64_t id) {
    const auto written =
        WriteManifests(files_.io(), metadata_, {FlightsFile(file, 1, "UA")},
                       SnapshotId(id), fmt::format("uuid{}", id));
    Commit(PrepareAppend(files_.io(), metadata_, written.ValueOrDie(), {}, kNow)
               .ValueOrDie());
  }

  void MoveMain(std::int64_t id) {
    metadata_.current_snapshot_id = SnapshotId(id);
    metadata_.refs["main"].snapshot_id = SnapshotId(id);
  }

  void Forget(std::int64_t id) {
    metadata_.snapshots.EraseIf(
        [&](const Snapshot& snapshot) { return snapshot.snapshot_id == SnapshotId(id); });
  }

  /// The metadata as it is, as a file of the log.
  void Log() {
    ASSERT_TRUE(WriteTableMetadata(files_.io(), kOldMetadata, metadata_).ok());
    metadata_.metadata_log = {{.timestamp_ms = 1, .metadata_file = kOldMetadata}};
  }

  std::string ListOf(std::int64_t id) {
    return FindSnapshot(metadata_, SnapshotId(id))->manifest_list;
  }

  void Delete(const std::string& location) {
    ASSERT_TRUE(files_.io().Delete(location).ok());
  }

  void Damage(const std::string& location) {
    const auto object = files_.io().Locate(location).ValueOrDie();
    ASSERT_TRUE(object.store->PutWhole(object.key, "Obj?").ok());
  }

  Status Visit(const StopToken& stop = {}) {
    seen_.clear();
    return VisitNamedFiles(files_.io(), metadata_, stop, [&](const DataFile& file) {
      seen_.insert(file.file_path);
      return file.file_path != last_;
    });
  }

  std::set<std::string> Named() {
    EXPECT_TRUE(Visit().ok());
    return seen_;
  }

  MemoryFiles files_;
  TableMetadata metadata_ = FlightsMetadata();
  std::set<std::string> seen_;
  /// The walk ends behind it.
  std::string last_;
};

TEST_F(NamedFilesTest, NothingIsNamedByATableWithoutSnapshots) {
  EXPECT_THAT(Named(), IsEmpty());
}

TEST_F(NamedFilesTest, EverySnapshotCountsWhateverRefNamesIt) {
  Append("a", 11);
  Append("b", 12);
  MoveMain(11);
  Append("c", 13);
  EXPECT_THAT(Named(), ElementsAre("a", "b", "c")) << "12 is on no branch";
  const auto removed = PrepareRemoval(
      files_.io(), metadata_,
      {.paths = {"c"}, .snapshot_id = SnapshotId(14), .commit_uuid = "uuid14"}, kNow);
  Commit(*removed.ValueOrDie());
  Forget(13);
  EXPECT_THAT(Named(), ElementsAre("a", "b", "c")) << "c is listed as deleted";
}

TEST_F(NamedFilesTest, MetadataOfTheLogCounts) {
  Append("a", 11);
  Log();
  Forget(11);
  EXPECT_THAT(Named(), ElementsAre("a"));
}

TEST_F(NamedFilesTest, WhatExpiryHasDeletedNamesNothing) {
  Append("a", 11);
  Append("b", 12);
  Log();
  Delete(ListOf(11));
  Forget(11);
  EXPECT_THAT(Named(), ElementsAre("a", "b")) << "12 lists a too";
  Delete(ListOf(12));
  EXPECT_TRUE(IsError(Visit(), ErrorKind::kNotFound)) << "12 is not expired";
  Forget(12);
  EXPECT_THAT(Named(), IsEmpty());
  Delete(kOldMetadata);
  EXPECT_THAT(Named(), IsEmpty());
}

TEST_F(NamedFilesTest, WhatCannotBeReadIsAnError) {
  Append("a", 11);
  Log();
  const std::string list = ListOf(11);
  Forget(11);
  Damage(list);
  EXPECT_TRUE(IsError(Visit(), ErrorKind::kCorruption));
  Damage(kOldMetadata);
  EXPECT_TRUE(IsError(Visit(), ErrorKind::kCorruption));
  metadata_.metadata_log = {{.timestamp_ms = 1, .metadata_file = "s3://elsewhere/x"}};
  EXPECT_FALSE(Visit().ok()) << "no store is mounted there";
}

TEST_F(NamedFilesTest, AnUnreadableManifestIsAnError) {
  Append("a", 11);
  Append("b", 12);
  Delete("memory:///flights/metadata/uuid11-m0.avro");
  EXPECT_TRUE(IsError(Visit(), ErrorKind::kNotFound));
  Damage("memory:///flights/metadata/uuid11-m0.avro");
  EXPECT_TRUE(IsError(Visit(), ErrorKind::kCorruption));
}

TEST_F(NamedFilesTest, EndsWhenItIsToldTo) {
  Append("a", 11);
  Append("b", 12);
  last_ = "b";
  EXPECT_THAT(Named(), ElementsAre("b")) << "the newest snapshot goes first";
  StopSource stop;
  stop.RequestStop();
  EXPECT_TRUE(IsError(Visit(stop.token()), ErrorKind::kCancelled));
}

}  // namespace
}  // namespace firn::iceberg
