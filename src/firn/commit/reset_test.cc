#include "firn/commit/reset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/positions.h"
#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr ResetKind kToTable = ResetKind::kToTable;
constexpr ResetKind kKeep = ResetKind::kKeep;

/// A table with a foreign snapshot, to which somebody rolls back over Firn's commits.
class ResetTest : public testing::Test {
 protected:
  ResetTest() {
    table_.AppendForeignFile("foreign");
    base_ = *table_.Load().current_snapshot_id;
  }

  void Commit(const Batch& batch, const WalId& wal = TestWal()) {
    EXPECT_EQ(table_.Commit({batch}, wal), "committed");
  }
  void RollBack() { table_.MoveMainTo(base_); }

  auto Plan(ResetKind kind) { return PlanReset(table_.Load(), TestWal(), kind); }
  std::string PlanError(ResetKind kind) { return ErrorText(Plan(kind).status()); }

  Result<SnapshotId> Apply(ResetKind kind, const PlannedReset& planned) {
    return ResetPositions(table_.catalog(), table_.io(), table_.runtime(),
                          {.table = table_.identifier(),
                           .table_uuid = table_.Load().table_uuid,
                           .wal = TestWal(),
                           .kind = kind,
                           .planned = planned});
  }
  void Reset(ResetKind kind) {
    const auto planned = Plan(kind);
    ASSERT_TRUE(planned.ok() && planned->has_value()) << planned.status();
    const auto reset = Apply(kind, **planned);
    ASSERT_TRUE(reset.ok()) << reset.status();
    EXPECT_EQ(table_.Positions().snapshot, *reset);
    EXPECT_EQ(*Plan(kind), std::nullopt);
  }

  /// The test shard's position.
  std::uint64_t Reached(const WalId& wal = TestWal(),
                        const ShardId& shard = TestShard()) {
    const auto shards = table_.Positions(wal).reached.shards;
    return shards.contains(shard) ? shards.at(shard).value() : 0;
  }

  /// A batch that follows what the table holds now.
  Batch Next(int number, std::uint64_t after, std::uint64_t through) {
    Batch batch = TestBatch(number, after, through);
    batch.parent = table_.Positions().last_batch;
    return batch;
  }

  TestTable table_;
  SnapshotId base_;
};

TEST_F(ResetTest, WithoutARollbackThereIsNothingToDo) {
  Commit(TestBatch(1, 0, 1));
  EXPECT_EQ(*Plan(kToTable), std::nullopt);
  EXPECT_EQ(*Plan(kKeep), std::nullopt);
}

TEST_F(ResetTest, ToTableTakesTheRowsAgain) {
  Commit(TestBatch(1, 0, 2));
  Commit(TestBatch(2, 2, 5));
  RollBack();
  Reset(kToTable);
  EXPECT_EQ(Reached(), 0);
  Commit(Next(3, 0, 5));
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2", "3", "4", "5", "foreign"));
}

TEST_F(ResetTest, ToTableGoesBackOnlyAsFarAsMain) {
  Commit(TestBatch(1, 0, 2));
  base_ = *table_.Load().current_snapshot_id;
  Commit(TestBatch(2, 2, 5));
  RollBack();
  Reset(kToTable);
  EXPECT_EQ(Reached(), 2);
  Commit(Next(3, 2, 5));
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2", "3", "4", "5", "foreign"));
}

TEST_F(ResetTest, KeepLeavesTheRowsOut) {
  Commit(TestBatch(1, 0, 2));
  RollBack();
  table_.AppendForeignFile("foreign2");
  Reset(kKeep);
  EXPECT_EQ(Reached(), 2);
  Commit(Next(3, 2, 3));
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("3", "foreign", "foreign2"));
}

TEST_F(ResetTest, SourcesGoBackToo) {
  Batch batch = TestBatch(1, 0, 1);
  batch.sources["load:x:0"] = {.first = 10, .next = 30};
  Commit(batch);
  RollBack();
  Reset(kToTable);
  EXPECT_EQ(table_.Positions().reached.sources.at("load:x:0"), 10);
}

TEST_F(ResetTest, WhatWasPlannedBeforeIsSuperseded) {
  Commit(TestBatch(1, 0, 1));
  RollBack();
  Reset(kKeep);
  EXPECT_EQ(table_.Commit({TestBatch(2, 1, 2)}), "superseded");
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "superseded");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("foreign"));
}

TEST_F(ResetTest, AfterASecondRollbackOnlyWhatWasLostThenIsTakenAgain) {
  Commit(TestBatch(1, 0, 2));
  RollBack();
  Reset(kKeep);
  Commit(Next(3, 2, 4));
  RollBack();
  Reset(kToTable);
  EXPECT_EQ(Reached(), 2);
}

TEST_F(ResetTest, AllWalsOfTheTableGoBack) {
  Commit(TestBatch(1, 0, 2));
  Batch other = TestBatch(21, 3, 4);
  other.parent.reset();
  other.shards = {{TestShard(2), {.after = {}, .through = SegmentSequence(1)}}};
  Commit(other, TestWal(2));
  RollBack();
  Reset(kToTable);
  EXPECT_EQ(Reached(), 0);
  EXPECT_EQ(Reached(TestWal(2), TestShard(2)), 0);
}

TEST_F(ResetTest, ThePlanNamesWhatMainLost) {
  Commit(TestBatch(1, 0, 2));
  const SnapshotId lost = *table_.Load().current_snapshot_id;
  RollBack();
  const PlannedReset planned = **Plan(kToTable);
  EXPECT_THAT(planned.reason, HasSubstr("in the place of"));
  EXPECT_THAT(planned.abandoned,
              ElementsAre(AbandonedSnapshot{.id = lost, .added_records = 2}));
  const PositionMove<SegmentSequence> move = {.from = SegmentSequence(2), .to = {}};
  EXPECT_EQ(planned.shards.at(TestWal()).at(TestShard()), move);
}

TEST_F(ResetTest, ToTableNeedsTheAbandonedSnapshots) {
  Commit(TestBatch(1, 0, 1));
  Commit(TestBatch(2, 1, 2));
  iceberg::TableMetadata metadata = table_.Load();
  metadata.snapshots.Erase(1);
  metadata.current_snapshot_id = base_;
  const auto planned = PlanReset(metadata, TestWal(), kToTable);
  EXPECT_THAT(ErrorText(planned.status()),
              AllOf(HasSubstr("expired"), HasSubstr("--keep")));
  EXPECT_TRUE(PlanReset(metadata, TestWal(), kKeep).ok());
}

TEST_F(ResetTest, AChainWhoseMiddleExpiredIsNotWhole) {
  for (int number = 1; number <= 3; ++number)
    Commit(TestBatch(number, number - 1, number));
  iceberg::TableMetadata metadata = table_.Load();
  // As some do who expire a snapshot: its child has no parent then.
  metadata.snapshots.Change(metadata.snapshots.size() - 1,
                            [](auto& snapshot) { snapshot.parent_snapshot_id.reset(); });
  metadata.snapshots.Erase(metadata.snapshots.size() - 2);
  metadata.current_snapshot_id = base_;
  EXPECT_THAT(ErrorText(PlanReset(metadata, TestWal(), kToTable).status()),
              AllOf(HasSubstr("expired"), HasSubstr("--keep")));
}

TEST_F(ResetTest, RowsThatMainTookOnAnotherBranchAreNotTakenTwice) {
  Commit(TestBatch(1, 0, 2));
  const SnapshotId abandoned = *table_.Load().current_snapshot_id;
  RollBack();
  Reset(kToTable);
  table_.MoveMainTo(abandoned);
  for (const ResetKind kind : {kToTable, kKeep}) {
    EXPECT_THAT(PlanError(kind), AllOf(HasSubstr(fmt::format("{}", abandoned)),
                                       HasSubstr(fmt::format("{}", base_))));
  }
  table_.MoveMainTo(base_);
  Reset(kToTable);
  Commit(Next(3, 0, 2));
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2", "foreign"));
}

TEST_F(ResetTest, ToTableNeedsPositionsThatFitTheSnapshots) {
  Commit(TestBatch(1, 0, 2));
  RollBack();
  table_.SetProperties(
      {{fmt::format("firn.wal.{}", TestWal()), fmt::format("{}:7", TestShard())}});
  EXPECT_THAT(PlanError(kToTable),
              AllOf(HasSubstr(TestShard().value()), HasSubstr("--keep")));
}

TEST_F(ResetTest, SegmentsThatAreGoneAreNamed) {
  Batch batch = TestBatch(1, 0, 5);
  batch.sources["load:x:0"] = {.first = 0, .next = 30};
  Commit(batch);
  RollBack();
  const PlannedReset planned = **Plan(kToTable);
  wal::ShardListing listing = {.shard = TestShard()};
  const auto add = [&](std::uint64_t sequence) {
    listing.segments.push_back({.name = {.sequence = SegmentSequence(sequence)}});
  };
  add(2), add(5);
  EXPECT_THAT(
      ErrorText(CheckSegmentsAreThere(planned, TestWal(), {listing})),
      AllOf(HasSubstr("segment 1 of shard"), HasSubstr("segments 3 to 4 of shard"),
            HasSubstr("5 records"), HasSubstr("load:x:0 from 0 to 30")));
  add(1), add(3), add(4);
  EXPECT_TRUE(CheckSegmentsAreThere(planned, TestWal(), {listing}).ok());
}

TEST_F(ResetTest, AForeignCommitInBetweenIsNoHindrance) {
  Commit(TestBatch(1, 0, 2));
  RollBack();
  table_.script().before_commit = [this](const auto&) {
    table_.script().before_commit = nullptr;
    table_.AppendForeignFile("late");
    return Status::OK();
  };
  Reset(kToTable);
  EXPECT_EQ(Reached(), 0);
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("foreign", "late"));
}

TEST_F(ResetTest, AnUnknownOutcomeIsResolvedByReading) {
  Commit(TestBatch(1, 0, 2));
  RollBack();
  table_.script().after_commit = [this] {
    table_.script().after_commit = nullptr;
    return MakeError(ErrorKind::kOutcomeUnknown, "timed out");
  };
  const std::size_t before = table_.Load().snapshots.size();
  Reset(kToTable);
  EXPECT_EQ(table_.Load().snapshots.size(), before + 1);
}

TEST_F(ResetTest, AnUnknownOutcomeUponWhichSomebodyBuiltIsResolvedByReading) {
  Commit(TestBatch(1, 0, 2));
  RollBack();
  SnapshotId ours;
  table_.script().after_commit = [this, &ours] {
    table_.script().after_commit = nullptr;
    ours = *table_.Load().current_snapshot_id;
    Commit(Next(3, 0, 1));
    return MakeError(ErrorKind::kOutcomeUnknown, "timed out");
  };
  const auto reset = Apply(kToTable, **Plan(kToTable));
  ASSERT_TRUE(reset.ok()) << reset.status();
  EXPECT_EQ(*reset, ours);
  EXPECT_EQ(Reached(), 1);
}

TEST_F(ResetTest, ARefusalOfWhatWasAppliedIsResolvedByReading) {
  Commit(TestBatch(1, 0, 2));
  RollBack();
  table_.script().after_commit = [] { return InvalidError("400: not met"); };
  const std::size_t before = table_.Load().snapshots.size();
  Reset(kToTable);
  EXPECT_EQ(table_.Load().snapshots.size(), before + 1);
}

TEST_F(ResetTest, TheLastAttemptIsResolvedByReadingToo) {
  Commit(TestBatch(1, 0, 2));
  RollBack();
  int commits = 0;
  table_.script().before_commit = [&](const auto&) {
    const bool is_last = ++commits == kCommitAttemptsMax;
    return is_last ? Status::OK() : MakeError(ErrorKind::kUnavailable, "not now");
  };
  table_.script().after_commit = [] {
    return MakeError(ErrorKind::kOutcomeUnknown, "timed out");
  };
  const std::size_t before = table_.Load().snapshots.size();
  const auto reset = Apply(kToTable, **Plan(kToTable));
  ASSERT_TRUE(reset.ok()) << reset.status();
  EXPECT_EQ(commits, kCommitAttemptsMax);
  EXPECT_EQ(table_.Load().snapshots.size(), before + 1);
}

TEST_F(ResetTest, MainThatCameBackIsNotReset) {
  Commit(TestBatch(1, 0, 2));
  const SnapshotId ours = *table_.Load().current_snapshot_id;
  RollBack();
  const PlannedReset planned = **Plan(kToTable);
  table_.MoveMainTo(ours);
  EXPECT_THAT(ErrorText(Apply(kToTable, planned).status()), HasSubstr("changed since"));
  EXPECT_EQ(Reached(), 2);
}

}  // namespace
}  // namespace firn::commit
