#include "firn/commit/position_owner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/positions.h"
#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kOwn = "5fd7ab3f-0b4c-4a5e-9a5b-0c5d2a1f7e11";
const std::string kOther = "00000000-0000-4000-8000-000000000000";
const std::string kCommit = fmt::format("firn.commit.{}", TestWal());
const std::string kWal = fmt::format("firn.wal.{}", TestWal());

/// Main is at the last of the snapshots; each is the parent of the next.
iceberg::TableMetadata TableOf(std::map<std::string, std::string> properties,
                               std::vector<iceberg::Snapshot> snapshots = {}) {
  iceberg::TableMetadata metadata;
  metadata.table_uuid = TableUuid(kOwn);
  metadata.properties = std::move(properties);
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    if (i > 0) snapshots[i].parent_snapshot_id = snapshots[i - 1].snapshot_id;
    metadata.current_snapshot_id = snapshots[i].snapshot_id;
  }
  for (iceberg::Snapshot& snapshot : snapshots) {
    metadata.snapshots.push_back(std::move(snapshot));
  }
  return metadata;
}

iceberg::Snapshot ForeignSnapshot(std::int64_t id) {
  iceberg::Snapshot snapshot;
  snapshot.snapshot_id = SnapshotId(id);
  return snapshot;
}

iceberg::Snapshot OwnSnapshot(std::int64_t id) {
  iceberg::Snapshot snapshot = ForeignSnapshot(id);
  snapshot.summary = {{kCommit, TestBatchId(3).value()}};
  return snapshot;
}

std::map<std::string, std::string> PositionsOf(const std::string& uuid) {
  return {{"firn.table-uuid", uuid},
          {"firn.snapshot", "4711"},
          {"firn.sequence", "9"},
          {kCommit, TestBatchId(3).value()},
          {kWal, fmt::format("{}:7", TestShard(12))}};
}

/// "own", "copied", or the error.
std::string Whose(const iceberg::TableMetadata& metadata) {
  const Result<bool> are_own = PositionsAreOwn(metadata);
  if (are_own.ok()) return *are_own ? "own" : "copied";
  EXPECT_TRUE(IsError(are_own.status(), ErrorKind::kCorruption)) << are_own.status();
  EXPECT_EQ(ReadPositions(metadata, TestWal()).status(), are_own.status());
  return ErrorText(are_own.status());
}

TEST(PositionOwnerTest, IsTheTableThatTheyName) {
  EXPECT_EQ(Whose(TableOf(PositionsOf(kOwn))), "own");
  EXPECT_EQ(Whose(TableOf(PositionsOf(kOwn), {OwnSnapshot(4711)})), "own");
}

TEST(PositionOwnerTest, CopiesOfAnotherTablesAreNotOwn) {
  EXPECT_EQ(Whose(TableOf({})), "copied");
  EXPECT_EQ(Whose(TableOf({{"owner", "me"}, {"firn.load.x", "0:7"}})), "copied");
  EXPECT_EQ(Whose(TableOf(PositionsOf(kOther))), "copied");
  EXPECT_EQ(Whose(TableOf(PositionsOf(kOther), {ForeignSnapshot(1)})), "copied");
}

TEST(PositionOwnerTest, AnotherTablesUuidBesideASnapshotOfThisOneIsDamage) {
  const auto message = AllOf(HasSubstr("firn.table-uuid is '" + kOther + "'"),
                             HasSubstr("firn.snapshot names snapshot 4711"),
                             HasSubstr(kOwn), HasSubstr("firn positions show"));
  EXPECT_THAT(Whose(TableOf(PositionsOf(kOther), {OwnSnapshot(4711)})), message);
  // Rolled back: main is elsewhere, and the snapshot is still listed.
  iceberg::TableMetadata rolled_back =
      TableOf(PositionsOf(kOther), {ForeignSnapshot(1), OwnSnapshot(4711)});
  rolled_back.current_snapshot_id = SnapshotId(1);
  EXPECT_THAT(Whose(rolled_back), message);
}

TEST(PositionOwnerTest, AnotherTablesPositionsOverCommitsOfThisOneAreDamage) {
  EXPECT_THAT(Whose(TableOf(PositionsOf(kOther), {OwnSnapshot(5), ForeignSnapshot(6)})),
              AllOf(HasSubstr("firn.table-uuid is '" + kOther + "'"),
                    HasSubstr("snapshot 5 of main is a commit of Firn")));
}

TEST(PositionOwnerTest, PropertiesThatAreGoneAreDamage) {
  EXPECT_THAT(Whose(TableOf({}, {OwnSnapshot(5)})),
              AllOf(HasSubstr("firn.table-uuid is missing"), HasSubstr("snapshot 5")));
}

TEST(PositionOwnerTest, WhatIsNoUuidIsDamage) {
  for (const std::string text :
       {"", "x", "5fd7ab3f0b4c4a5e9a5b0c5d2a1f7e11",
        "5fd7ab3f-0b4c-4a5e-9a5b-0c5d2a1f7e1", "5fd7ab3f-0b4c-4a5e-9a5b-0c5d2a1f7e1g",
        "{5fd7ab3f-0b4c-4a5e-9a5b-0c5d2a1f7e11}"}) {
    EXPECT_THAT(Whose(TableOf(PositionsOf(text))),
                AllOf(HasSubstr("firn.table-uuid is '" + text + "'"), HasSubstr("a UUID"),
                      HasSubstr(kOwn), HasSubstr("firn positions show")));
  }
}

TEST(PositionOwnerTest, PositionsOfNobodyAreDamage) {
  for (const auto& [property, text] : PositionsOf(kOwn)) {
    if (property == "firn.table-uuid") continue;
    EXPECT_THAT(Whose(TableOf({{property, text}})),
                HasSubstr("firn.table-uuid is missing"))
        << property;
  }
}

wal::ShardListing Listed(int shard) {
  wal::ShardListing listed;
  listed.shard = TestShard(shard);
  return listed;
}

TEST(PositionOwnerTest, AShardOfTheLogTellsThatPositionsAreNotCopied) {
  const iceberg::TableMetadata metadata = TableOf(PositionsOf(kOther));
  const auto check = [&](int shard) {
    return CheckAreNotOfShards(metadata, TestWal(), {Listed(shard)});
  };
  EXPECT_THAT(ErrorText(check(12)),
              AllOf(HasSubstr("firn.table-uuid is '" + kOther + "'"), HasSubstr(kWal),
                    HasSubstr(TestShard(12).value())));
  EXPECT_EQ(check(2), Status::OK());
  EXPECT_EQ(check(1), Status::OK());
  EXPECT_EQ(CheckAreNotOfShards(metadata, TestWal(2), {Listed(12)}), Status::OK());
  EXPECT_EQ(CheckAreNotOfShards(TableOf(PositionsOf(kOwn)), TestWal(), {Listed(12)}),
            Status::OK());
}

}  // namespace
}  // namespace firn::commit
