#include "firn/iceberg/update/append.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <functional>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/storage/counting_store.h"

namespace firn::iceberg {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

WallTime At(std::int64_t ms) { return WallTime(std::chrono::milliseconds(ms)); }

class AppendTest : public testing::Test {
 protected:
  Result<WrittenManifests> Write(const std::vector<DataFile>& files, std::int64_t id) {
    return WriteManifests(io_, metadata_, files, SnapshotId(id),
                          fmt::format("uuid{}", id));
  }

  Result<PreparedSnapshot> Prepare(const WrittenManifests& written,
                                   const AppendAttempt& attempt,
                                   std::int64_t now_ms = 5'000) {
    return PrepareAppend(io_, metadata_, written, attempt, At(now_ms));
  }

  /// What a catalog does.
  void Commit(const PreparedSnapshot& append) {
    ASSERT_TRUE(Check(append.requirements, metadata_).ok());
    metadata_ = Apply(metadata_, "base", append.updates, At(5'000)).ValueOrDie();
  }

  void Append(const std::vector<DataFile>& files, std::int64_t id) {
    Commit(Prepare(Write(files, id).ValueOrDie(), {}).ValueOrDie());
  }

  std::vector<ManifestFile> Manifests() {
    return ReadManifestList(io_, CurrentSnapshot(metadata_)->manifest_list).ValueOrDie();
  }

  std::vector<std::string> LivePaths() {
    std::vector<std::string> paths;
    for (const ManifestFile& manifest : Manifests()) {
      for (const auto& entry : ReadManifest(io_, metadata_, manifest).ValueOrDie()) {
        paths.push_back(entry.data_file.file_path);
      }
    }
    return paths;
  }

  /// "a 10": every live file, and the id of its first row.
  std::vector<std::string> RowIds() {
    std::vector<std::string> ids;
    for (const ManifestFile& manifest : Manifests()) {
      for (const auto& entry : ReadManifest(io_, metadata_, manifest).ValueOrDie()) {
        const auto id = entry.data_file.first_row_id;
        ids.push_back(fmt::format("{} {}", entry.data_file.file_path,
                                  id ? fmt::format("{}", *id) : "-"));
      }
    }
    return ids;
  }

  void ChangeLast(const std::function<void(Snapshot&)>& change) {
    metadata_.snapshots.Change(metadata_.snapshots.size() - 1, change);
  }

  const std::map<std::string, std::string>& Summary() {
    return CurrentSnapshot(metadata_)->summary;
  }

  storage::MemoryStore memory_{SystemRuntime()};
  storage::CountingStore store_{memory_};
  const FileIo io_ =
      FileIo::Make({{.prefix = "memory:///", .store = &store_}}).ValueOrDie();
  TableMetadata metadata_ = [] {
    TableMetadata metadata = FlightsMetadata();
    metadata.last_updated_ms = 1'000;
    return metadata;
  }();
};

TEST_F(AppendTest, FirstAppendStartsTheTotals) {
  Append({FlightsFile("a", 516, "UA", 10), FlightsFile("b", 516, "UA", 5),
          FlightsFile("c", 517, "UA", 1)},
         11);
  EXPECT_THAT(Summary(), ElementsAre(Pair("added-data-files", "3"),         //
                                     Pair("added-files-size", "1600"),      //
                                     Pair("added-records", "16"),           //
                                     Pair("changed-partition-count", "2"),  //
                                     Pair("operation", "append"),           //
                                     Pair("total-data-files", "3"),         //
                                     Pair("total-delete-files", "0"),       //
                                     Pair("total-equality-deletes", "0"),   //
                                     Pair("total-files-size", "1600"),      //
                                     Pair("total-position-deletes", "0"),   //
                                     Pair("total-records", "16")));
  const Snapshot& snapshot = *CurrentSnapshot(metadata_);
  EXPECT_EQ(snapshot.manifest_list, "memory:///flights/metadata/snap-11-1-uuid11.avro");
  EXPECT_EQ(snapshot.schema_id, SchemaId(0));
  EXPECT_EQ(snapshot.timestamp_ms, 5'000);
}

TEST_F(AppendTest, LaterAppendKeepsEarlierManifests) {
  Append({FlightsFile("a", 516, "UA", 10)}, 11);
  Append({FlightsFile("b", 516, "UA", 5)}, 12);
  EXPECT_THAT(LivePaths(), ElementsAre("b", "a"));
  EXPECT_EQ(Manifests()[0].sequence_number, SnapshotSequence(2));
  EXPECT_EQ(Manifests()[1].sequence_number, SnapshotSequence(1));
  EXPECT_THAT(Summary(), Contains(Pair("total-records", "15")));
  EXPECT_THAT(Summary(), Contains(Pair("total-files-size", "1500")));
  EXPECT_EQ(CurrentSnapshot(metadata_)->parent_snapshot_id, SnapshotId(11));
}

TEST_F(AppendTest, TotalsThatTheParentLacksAreCountedOrAbsent) {
  Append({FlightsFile("a", 516, "UA")}, 11);
  ChangeLast([](Snapshot& snapshot) {
    snapshot.summary.erase("total-records");
    snapshot.summary["total-data-files"] = "many";
    snapshot.summary.erase("total-files-size");
  });
  Append({FlightsFile("b", 516, "UA")}, 12);
  EXPECT_THAT(Summary(), Contains(Pair("total-records", "20")));
  EXPECT_THAT(Summary(), Contains(Pair("total-data-files", "2")));
  EXPECT_THAT(Summary(), Not(Contains(Key("total-files-size"))));
}

TEST_F(AppendTest, TotalsThatCannotBeRightAreNotCarriedOn) {
  Append({FlightsFile("a", 516, "UA")}, 11);
  ChangeLast([](Snapshot& snapshot) { snapshot.summary["total-records"] = "-5"; });
  Append({FlightsFile("b", 516, "UA")}, 12);
  EXPECT_THAT(Summary(), Contains(Pair("total-records", "20")));
  ChangeLast([](Snapshot& snapshot) {
    snapshot.summary["total-records"] = "9223372036854775807";
  });
  Append({FlightsFile("c", 516, "UA")}, 13);
  EXPECT_THAT(Summary(), Not(Contains(Key("total-records"))));
}

TEST_F(AppendTest, EmptyAppendAddsASnapshot) {
  Append({FlightsFile("a", 516, "UA")}, 11);
  Append({}, 12);
  EXPECT_THAT(LivePaths(), ElementsAre("a"));
  EXPECT_EQ(metadata_.current_snapshot_id, SnapshotId(12));
  EXPECT_THAT(Summary(), Contains(Pair("changed-partition-count", "0")));
  EXPECT_THAT(Summary(), Contains(Pair("total-records", "10")));
  EXPECT_THAT(Summary(), Not(Contains(Key("added-records"))));
}

TEST_F(AppendTest, EmptyAppendToAnEmptyTableHasAnEmptyManifestList) {
  Append({}, 11);
  EXPECT_THAT(Manifests(), IsEmpty());
}

TEST_F(AppendTest, ExtraSummaryEntriesNeverReplaceTheUsualOnes) {
  const WrittenManifests written = Write({}, 11).ValueOrDie();
  Commit(Prepare(written, {.summary = {{"firn.commit", "x"}, {"operation", "delete"}}})
             .ValueOrDie());
  EXPECT_THAT(Summary(), Contains(Pair("firn.commit", "x")));
  EXPECT_THAT(Summary(), Contains(Pair("operation", "append")));
}

TEST_F(AppendTest, RetryWritesOneManifestListAndNothingElse) {
  const WrittenManifests written = Write({FlightsFile("a", 516, "UA")}, 11).ValueOrDie();
  const PreparedSnapshot lost = Prepare(written, {.number = 1}).ValueOrDie();
  Append({FlightsFile("other", 516, "UA")}, 12);
  EXPECT_TRUE(IsError(Check(lost.requirements, metadata_), ErrorKind::kConflict));
  const storage::RequestCounts before = store_.counts();
  Commit(Prepare(written, {.number = 2}).ValueOrDie());
  EXPECT_EQ(store_.counts().puts, before.puts + 1);
  EXPECT_EQ(store_.counts().gets, before.gets + 1);
  EXPECT_THAT(LivePaths(), ElementsAre("a", "other"));
  EXPECT_EQ(Manifests()[0].sequence_number, SnapshotSequence(2));
  EXPECT_EQ(CurrentSnapshot(metadata_)->manifest_list,
            "memory:///flights/metadata/snap-11-2-uuid11.avro");
}

TEST_F(AppendTest, OneManifestForEachSpec) {
  metadata_ =
      Apply(metadata_, "base", {AddSpec{}, SetDefaultSpec{}}, At(2'000)).ValueOrDie();
  DataFile unpartitioned{.file_path = "u", .partition_spec_id = PartitionSpecId(1)};
  Append({unpartitioned, FlightsFile("a", 516, "UA"), FlightsFile("b", 517, "UA")}, 11);
  EXPECT_THAT(LivePaths(), ElementsAre("a", "b", "u"));
  EXPECT_EQ(Manifests()[1].partition_spec_id, PartitionSpecId(1));
  EXPECT_THAT(*Manifests()[1].partitions, IsEmpty());
  EXPECT_THAT(Summary(), Contains(Pair("changed-partition-count", "3")));
}

TEST_F(AppendTest, NothingIsWrittenWhenOneFileDoesNotFit) {
  DataFile other = FlightsFile("other", 516, "UA");
  other.partition_spec_id = PartitionSpecId(9);
  EXPECT_THAT(Write({FlightsFile("a", 516, "UA"), other}, 11).status().message(),
              HasSubstr("other: table at memory:///flights has no partition spec 9"));
  EXPECT_EQ(store_.counts().puts, 0);
}

TEST_F(AppendTest, OtherFormatVersionsAreRefusedBeforeAByteIsWritten) {
  metadata_.format_version = 1;
  EXPECT_THAT(Write({FlightsFile("a", 516, "UA")}, 11).status().message(),
              HasSubstr("of format version 1, which Firn only reads: upgrade it"));
  EXPECT_FALSE(Prepare({.snapshot_id = SnapshotId(11)}, {}).ok());
  EXPECT_EQ(store_.counts().puts, 0);
}

TEST_F(AppendTest, RowsGetIdsFromFormatVersion3On) {
  metadata_.format_version = 3;
  Append({FlightsFile("a", 516, "UA", 10), FlightsFile("b", 517, "UA", 5)}, 11);
  Append({FlightsFile("c", 516, "UA", 7)}, 12);
  EXPECT_THAT(RowIds(), ElementsAre("c 15", "a 0", "b 10"));
  EXPECT_EQ(CurrentSnapshot(metadata_)->first_row_id, 15);
  EXPECT_EQ(CurrentSnapshot(metadata_)->added_rows, 7);
  EXPECT_EQ(metadata_.next_row_id, 22);
  Append({}, 13);
  EXPECT_EQ(CurrentSnapshot(metadata_)->added_rows, 0);
  EXPECT_THAT(RowIds(), ElementsAre("c 15", "a 0", "b 10"));
}

TEST_F(AppendTest, RowsOfAnUpgradedTableGetIdsWithItsFirstCommit) {
  Append({FlightsFile("a", 516, "UA", 10)}, 11);
  EXPECT_THAT(RowIds(), ElementsAre("a -"));
  EXPECT_EQ(CurrentSnapshot(metadata_)->first_row_id, std::nullopt);
  metadata_.format_version = 3;
  EXPECT_THAT(RowIds(), ElementsAre("a -"));
  Append({FlightsFile("b", 516, "UA", 5)}, 12);
  EXPECT_THAT(RowIds(), ElementsAre("b 0", "a 5"));
  EXPECT_EQ(metadata_.next_row_id, 15);
}

TEST_F(AppendTest, RetryTakesRowIdsBehindThoseOfTheOtherWriter) {
  metadata_.format_version = 3;
  const WrittenManifests written = Write({FlightsFile("a", 516, "UA")}, 11).ValueOrDie();
  const PreparedSnapshot lost = Prepare(written, {.number = 1}).ValueOrDie();
  Append({FlightsFile("other", 516, "UA", 3)}, 12);
  EXPECT_TRUE(IsError(Apply(metadata_, "base", lost.updates, At(5'000)).status(),
                      ErrorKind::kConflict));
  Commit(Prepare(written, {.number = 2}).ValueOrDie());
  EXPECT_THAT(RowIds(), ElementsAre("a 3", "other 0"));
}

TEST_F(AppendTest, SnapshotIsNeverBeforeItsParentOrTheLastUpdate) {
  Append({FlightsFile("a", 516, "UA")}, 11);
  ChangeLast([](Snapshot& snapshot) { snapshot.timestamp_ms = 9'000; });
  const auto next = [&](std::int64_t id) {
    return Prepare(Write({}, id).ValueOrDie(), {}, 7'000).ValueOrDie().snapshot;
  };
  EXPECT_EQ(next(12).timestamp_ms, 9'000);
  metadata_.last_updated_ms = 9'500;
  EXPECT_EQ(next(13).timestamp_ms, 9'500);
}

TEST_F(AppendTest, MainKeepsItsRetentionRules) {
  Append({}, 11);
  metadata_.refs.at("main").min_snapshots_to_keep = 7;
  Append({}, 12);
  EXPECT_EQ(metadata_.refs.at("main").min_snapshots_to_keep, 7);
  EXPECT_EQ(metadata_.refs.at("main").snapshot_id, SnapshotId(12));
}

TEST_F(AppendTest, SnapshotIdsArePositiveAndNew) {
  FakeRuntime first(1), again(1);
  const SnapshotId id = NewSnapshotId(metadata_, first);
  EXPECT_GT(id.value(), 0);
  metadata_.snapshots.push_back({.snapshot_id = id});
  EXPECT_NE(NewSnapshotId(metadata_, again), id);
}

}  // namespace
}  // namespace firn::iceberg
