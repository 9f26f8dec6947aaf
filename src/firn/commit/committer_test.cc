#include "firn/commit/committer.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kCommitProperty = fmt::format("firn.commit.{}", TestWal());

Status OnceIn(int& calls, const Status& status) {
  return ++calls == 1 ? status : Status::OK();
}

class CommitterTest : public testing::Test {
 protected:
  /// The first commit fails before it is applied, or after.
  void FailFirstCommitBefore(ErrorKind kind) {
    table_.script().before_commit = [this, kind](const auto&) {
      return OnceIn(commits_, MakeError(kind, "scripted"));
    };
  }
  void FailFirstCommitAfter(ErrorKind kind) {
    table_.script().after_commit = [this, kind] {
      return OnceIn(commits_, MakeError(kind, "scripted"));
    };
  }
  /// Something happens before the n-th commit is applied.
  void BeforeCommit(int n, std::function<void()> happens) {
    table_.script().before_commit = [this, n, happens = std::move(happens)](const auto&) {
      if (++commits_ == n) happens();
      return Status::OK();
    };
  }

  /// "<last batch's number>: <segments of the test shard>".
  std::string Position() {
    const TablePositions positions = table_.Positions();
    const auto shard = positions.reached.shards.find(TestShard());
    const bool is_absent = shard == positions.reached.shards.end();
    return fmt::format("{}: {}", positions.last_batch.value_or(BatchId("none")),
                       is_absent ? SegmentSequence(0) : shard->second);
  }
  std::string At(int batch, int segments) {
    return fmt::format("{}: {}", TestBatchId(batch), segments);
  }

  Committer NewCommitter(const StopSource& stop) {
    return Committer(table_.catalog(), table_.io(), table_.runtime(),
                     {.table = table_.identifier(),
                      .table_uuid = table_.Load().table_uuid,
                      .wal = TestWal(),
                      .stop = stop.token()});
  }

  std::size_t Snapshots() { return table_.Load().snapshots.size(); }

  TestTable table_;
  int commits_ = 0;
};

TEST_F(CommitterTest, BatchesLandOneAfterAnother) {
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 2)}), "committed");
  EXPECT_EQ(table_.Commit({TestBatch(2, 2, 3)}), "committed");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2", "3"));
  EXPECT_EQ(Position(), At(2, 3));
  EXPECT_EQ(Snapshots(), 2);
}

TEST_F(CommitterTest, WaitingBatchesLandInOneSnapshotThatNamesThem) {
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1), TestBatch(2, 1, 3)}),
            "committed committed");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2", "3"));
  EXPECT_EQ(Position(), At(2, 3));
  ASSERT_EQ(Snapshots(), 1);
  const auto summary = table_.Load().snapshots[0].summary;
  EXPECT_EQ(summary.at(kCommitProperty),
            fmt::format("{},{}", TestBatchId(1), TestBatchId(2)));
  EXPECT_EQ(summary.at(fmt::format("firn.wal.{}", TestWal())),
            fmt::format("{}:0-3", TestShard()));
  EXPECT_EQ(summary.at("added-data-files"), "3");
}

TEST_F(CommitterTest, OutcomeNamesTheSnapshot) {
  const auto outcomes = table_.NewCommitter().Commit({TestBatch(1, 0, 1)});
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ(outcomes->front().snapshot, table_.Load().current_snapshot_id);
  EXPECT_EQ(table_.Positions().snapshot, table_.Load().current_snapshot_id);
  EXPECT_EQ(table_.Positions().sequence, table_.Load().last_sequence_number);
}

TEST_F(CommitterTest, ABatchWithoutFilesMovesPositions) {
  Batch batch = TestBatch(1, 0, 5);
  batch.files.clear();
  EXPECT_EQ(table_.Commit({batch}), "committed");
  EXPECT_THAT(table_.LiveFiles(), IsEmpty());
  EXPECT_EQ(Position(), At(1, 5));
  EXPECT_EQ(Snapshots(), 1);
}

TEST_F(CommitterTest, PositionsThatAreOverLeaveTheProperties) {
  Batch batch = TestBatch(1, 0, 1);
  batch.sources["load:x:0"] = {.first = 0, .next = 7};
  EXPECT_EQ(table_.Commit({batch}), "committed");
  Batch next = TestBatch(2, 0, 1);
  next.shards = {{TestShard(2), {.after = {}, .through = SegmentSequence(1)}}};
  next.retired = {.shards = {TestShard()}, .sources = {"load:x:0"}};
  EXPECT_EQ(table_.Commit({next}), "committed");
  const auto properties = table_.Load().properties;
  EXPECT_FALSE(properties.contains("firn.load.x"));
  EXPECT_EQ(properties.at(fmt::format("firn.wal.{}", TestWal())),
            fmt::format("{}:1", TestShard(2)));
}

TEST_F(CommitterTest, AForeignCommitInBetweenCostsOneMoreManifestList) {
  BeforeCommit(1, [this] { table_.AppendForeignFile("foreign"); });
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "foreign"));
  EXPECT_EQ(commits_, 2);
  EXPECT_EQ(table_.StoredFiles("-m0.avro").size(), 2) << "ours, and the foreign one";
  EXPECT_EQ(table_.StoredFiles("snap-").size(), 3) << "two of ours, and the foreign one";
}

TEST_F(CommitterTest, AppliedButUnansweredLandsOnce) {
  FailFirstCommitAfter(ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1), TestBatch(2, 1, 2)}),
            "committed committed");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2"));
  EXPECT_EQ(commits_, 1);
}

TEST_F(CommitterTest, UnansweredAndNotAppliedIsTriedAgain) {
  FailFirstCommitBefore(ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1"));
  EXPECT_EQ(commits_, 2);
  EXPECT_EQ(Snapshots(), 1);
}

TEST_F(CommitterTest, ARequestThatArrivesLateDoesNotLandTwice) {
  ScriptedCatalog::CommitCall late;
  table_.script().before_commit = [&](const ScriptedCatalog::CommitCall& call) {
    if (++commits_ == 1) {
      late = call;
      return MakeError(ErrorKind::kOutcomeUnknown, "timed out");
    }
    return table_.Apply(late);
  };
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1"));
  EXPECT_EQ(commits_, 2) << "the second was a conflict, resolved by reading";
}

TEST_F(CommitterTest, UnansweredAndBuiltUponIsFoundInTheHistory) {
  table_.script().after_commit = [&] {
    table_.script().after_commit = nullptr;
    EXPECT_EQ(table_.Commit({TestBatch(2, 1, 2)}), "committed");
    return MakeError(ErrorKind::kOutcomeUnknown, "timed out");
  };
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2"));
}

TEST_F(CommitterTest, ForgottenByExpiryNeverLandsTwice) {
  table_.script().after_commit = [&] {
    table_.script().after_commit = nullptr;
    EXPECT_EQ(table_.Commit({TestBatch(2, 1, 2)}), "committed");
    table_.script().shown = [](iceberg::TableMetadata& metadata) {
      metadata.snapshots.Erase(0);
    };
    return MakeError(ErrorKind::kOutcomeUnknown, "timed out");
  };
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "superseded");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2"));
}

TEST_F(CommitterTest, ExpiryOfTheLastCommitHindersNothing) {
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  table_.AppendForeignFile("foreign");
  table_.script().shown = [](iceberg::TableMetadata& metadata) {
    metadata.snapshots.EraseIf([&](const iceberg::Snapshot& snapshot) {
      return snapshot.snapshot_id != metadata.current_snapshot_id;
    });
  };
  EXPECT_EQ(table_.Commit({TestBatch(2, 1, 2)}), "committed");
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "superseded");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2", "foreign"));
}

TEST_F(CommitterTest, CommittedAndExpiredHasNoSnapshot) {
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  table_.AppendForeignFile("foreign");
  table_.script().shown = [](iceberg::TableMetadata& metadata) {
    metadata.snapshots.Erase(0);
  };
  const auto outcomes = table_.NewCommitter().Commit({TestBatch(1, 0, 1)});
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ(outcomes->front(), BatchOutcome());
}

TEST_F(CommitterTest, ABatchWhoseFilesAreOldIsSupersededUnlessItLanded) {
  Batch first = TestBatch(1, 0, 1), second = TestBatch(2, 1, 2);
  first.begun = table_.runtime().SinceBoot();
  EXPECT_EQ(table_.Commit({first}), "committed");
  second.begun = table_.runtime().SinceBoot();
  table_.runtime().Advance(kBatchAgeMax + Duration(1));
  Batch third = TestBatch(3, 2, 3);
  third.begun = table_.runtime().SinceBoot();
  EXPECT_EQ(table_.Commit({first, second, third}), "committed superseded superseded");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1"));
}

TEST_F(CommitterTest, ASecondPlannerIsSupersededWithAllThatFollows) {
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  Batch rival = TestBatch(11, 0, 1);
  rival.parent.reset();
  Batch follower = TestBatch(12, 1, 2);
  EXPECT_EQ(table_.Commit({rival, follower}), "superseded superseded");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1"));
  EXPECT_EQ(Position(), At(1, 1));
}

TEST_F(CommitterTest, SupersededBetweenTwoAttempts) {
  BeforeCommit(1, [this] {
    Batch rival = TestBatch(11, 0, 1);
    rival.parent.reset();
    EXPECT_EQ(table_.Commit({rival}), "committed");
  });
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "superseded");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1"));
  EXPECT_EQ(Position(), At(11, 1));
}

TEST_F(CommitterTest, WhatLandedBeforeIsNotLandedAgain) {
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1), TestBatch(2, 1, 2)}),
            "committed committed");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2"));
}

TEST_F(CommitterTest, AWrongStartIsSuperseded) {
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_EQ(table_.Commit({TestBatch(2, 2, 3)}), "superseded");
  EXPECT_EQ(table_.Commit({TestBatch(2, 0, 3)}), "superseded");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1"));
}

TEST_F(CommitterTest, TwoWalsFeedOneTable) {
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  Batch other = TestBatch(21, 1, 2);
  other.parent.reset();
  other.shards = {{TestShard(2), {.after = {}, .through = SegmentSequence(1)}}};
  EXPECT_EQ(table_.Commit({other}, TestWal(2)), "committed");
  EXPECT_EQ(table_.Commit({TestBatch(2, 1, 2)}), "committed");
  EXPECT_EQ(Position(), At(2, 2));
  EXPECT_EQ(table_.Positions(TestWal(2)).last_batch, TestBatchId(21));
}

TEST_F(CommitterTest, PropertiesCopiedFromAnotherTableAreReplaced) {
  table_.SetProperties({{"firn.table-uuid", "00000000-0000-4000-8000-000000000000"},
                        {"firn.snapshot", "1"},
                        {"firn.sequence", "99"},
                        {"firn.load.x", "0:7"},
                        {kCommitProperty, TestBatchId(9).value()}});
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_EQ(Position(), At(1, 1));
  EXPECT_FALSE(table_.Load().properties.contains("firn.load.x"));
}

TEST_F(CommitterTest, ATableMadeAnewIsAnotherTable) {
  Committer committer = table_.NewCommitter();
  table_.DropAndCreateAnew();
  const auto outcomes = committer.Commit({TestBatch(1, 0, 1)});
  EXPECT_TRUE(IsError(outcomes.status(), ErrorKind::kNotFound));
  EXPECT_THAT(ErrorText(outcomes.status()), HasSubstr("made anew"));
}

TEST_F(CommitterTest, StopsWhenRolledBack) {
  table_.AppendForeignFile("foreign");
  const SnapshotId before = *table_.Load().current_snapshot_id;
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  table_.MoveMainTo(before);
  EXPECT_THAT(table_.Commit({TestBatch(2, 1, 2)}),
              AllOf(HasSubstr("rolled back"), HasSubstr("demo.events")));
  EXPECT_THAT(table_.Commit({TestBatch(1, 0, 1)}), HasSubstr("rolled back"))
      << "the property still names batch 1";
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("foreign"));
}

TEST_F(CommitterTest, StopsAtACatalogThatDropsProperties) {
  table_.script().shown = [](iceberg::TableMetadata& metadata) {
    std::erase_if(metadata.properties,
                  [](const auto& entry) { return entry.first.starts_with("firn."); });
  };
  EXPECT_THAT(table_.Commit({TestBatch(1, 0, 1)}),
              AllOf(HasSubstr("demo.events"), HasSubstr("did not keep")));
  EXPECT_THAT(table_.Commit({TestBatch(1, 0, 1)}),
              HasSubstr("firn.table-uuid is missing"));
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1"));
}

TEST_F(CommitterTest, APermanentFailureIsNotRetried) {
  table_.script().before_commit = [this](const auto&) {
    ++commits_;
    return InvalidError("no such right");
  };
  EXPECT_THAT(table_.Commit({TestBatch(1, 0, 1)}),
              AllOf(HasSubstr("demo.events"), HasSubstr("no such right")));
  EXPECT_EQ(commits_, 1);
}

/// What a server says to a request that a proxy, having lost the first answer, sent
/// again.
TEST_F(CommitterTest, ARefusalOfWhatWasAppliedIsResolvedByReading) {
  table_.script().after_commit = [this] {
    table_.script().after_commit = nullptr;
    return ++commits_ == 1 ? InvalidError("400: requirements are not met") : Status::OK();
  };
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_EQ(commits_, 1);
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1"));
}

TEST_F(CommitterTest, GivesUpAfterTheLastAttemptAndSaysWhetherItIsKnown) {
  for (const ErrorKind kind :
       {ErrorKind::kConflict, ErrorKind::kUnavailable, ErrorKind::kOutcomeUnknown}) {
    commits_ = 0;
    table_.script().before_commit = [&](const auto&) {
      ++commits_;
      return MakeError(kind, "scripted");
    };
    const auto outcomes = table_.NewCommitter().Commit({TestBatch(1, 0, 1)});
    EXPECT_TRUE(IsError(outcomes.status(), kind)) << outcomes.status().ToString();
    EXPECT_EQ(commits_, kCommitAttemptsMax);
  }
  EXPECT_THAT(table_.LiveFiles(), IsEmpty());
}

TEST_F(CommitterTest, ACatalogThatStaysLockedIsAskedForAMinute) {
  table_.script().before_commit = [this](const auto&) {
    ++commits_;
    table_.runtime().Sleep(std::chrono::seconds(10));
    return MakeError(ErrorKind::kUnavailable, "catalog.db stays locked");
  };
  const WallTime start = table_.runtime().Now();
  EXPECT_THAT(table_.Commit({TestBatch(1, 0, 1)}),
              AllOf(HasSubstr("gave up after"), HasSubstr("catalog.db stays locked")));
  EXPECT_LT(table_.runtime().Now() - start, std::chrono::seconds(80));
  EXPECT_LT(commits_, 8);
}

TEST_F(CommitterTest, OnceUnknownStaysUnknown) {
  table_.script().before_commit = [this](const auto&) {
    const bool is_first = ++commits_ == 1;
    return MakeError(is_first ? ErrorKind::kOutcomeUnknown : ErrorKind::kConflict, "no");
  };
  const auto outcomes = table_.NewCommitter().Commit({TestBatch(1, 0, 1)});
  EXPECT_TRUE(IsError(outcomes.status(), ErrorKind::kOutcomeUnknown));
}

TEST_F(CommitterTest, TheLastAttemptIsResolvedByReadingToo) {
  table_.script().before_commit = [this](const auto&) {
    const bool is_last = ++commits_ == kCommitAttemptsMax;
    return is_last ? Status::OK() : MakeError(ErrorKind::kConflict, "scripted");
  };
  table_.script().after_commit = [] {
    return MakeError(ErrorKind::kOutcomeUnknown, "timed out");
  };
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1"));
}

TEST_F(CommitterTest, AnUnavailableCatalogIsTriedAgain) {
  int loads = 0;
  table_.script().before_load = [&] {
    return OnceIn(loads, MakeError(ErrorKind::kUnavailable, "scripted"));
  };
  FailFirstCommitBefore(ErrorKind::kUnavailable);
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_EQ(loads, 3);
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1"));
}

TEST_F(CommitterTest, AFileThatMayHaveBeenWrittenIsWrittenUnderAnotherName) {
  for (const int put : {1, 2}) {
    TestTable table;
    table.store_faults() = storage::FailNth(storage::StoreOperation::kPutWhole, put,
                                            storage::kApplyThenUnknown);
    EXPECT_EQ(table.Commit({TestBatch(1, 0, 1)}), "committed");
    EXPECT_THAT(table.LiveFiles(), ElementsAre("1"));
  }
}

bool ReadsManifestList(const storage::StoreCall& call) {
  const bool reads = call.operation == storage::StoreOperation::kGetWhole ||
                     call.operation == storage::StoreOperation::kGetRange;
  return reads && call.key.find("snap-") != std::string::npos;
}

constexpr storage::Fault kGone = {.when = storage::Fault::When::kBefore,
                                  .kind = ErrorKind::kNotFound};

TEST_F(CommitterTest, AManifestListThatWasExpiredSinceTheLoadIsAConflict) {
  table_.AppendForeignFile("foreign");
  bool has_struck = false;
  table_.store_faults() = [&](const storage::StoreCall& call) {
    if (has_struck || !ReadsManifestList(call)) return storage::kPass;
    has_struck = true;
    // Another engine commits, and expires what was main.
    table_.AppendForeignFile("later");
    return kGone;
  };
  metrics::Registry registry(table_.runtime());
  CommitMetrics metrics(registry, "demo.events");
  Committer committer(table_.catalog(), table_.io(), table_.runtime(),
                      {.table = table_.identifier(),
                       .table_uuid = table_.Load().table_uuid,
                       .wal = TestWal(),
                       .metrics = &metrics});
  const auto outcomes = committer.Commit({TestBatch(1, 0, 1)});
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  EXPECT_TRUE(has_struck);
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "foreign", "later"));
  EXPECT_THAT(registry.Text(),
              HasSubstr("outcome=\"conflict\",table=\"demo.events\"} 1\n"));
}

TEST_F(CommitterTest, AManifestListThatIsGoneThoughNothingChangedIsDamage) {
  table_.AppendForeignFile("foreign");
  int reads = 0;
  table_.store_faults() = [&](const storage::StoreCall& call) {
    if (!ReadsManifestList(call)) return storage::kPass;
    ++reads;
    return kGone;
  };
  const auto outcomes = table_.NewCommitter().Commit({TestBatch(1, 0, 1)});
  EXPECT_TRUE(IsError(outcomes.status(), ErrorKind::kCorruption)) << outcomes.status();
  EXPECT_THAT(ErrorText(outcomes.status()), HasSubstr("snap-"));
  EXPECT_EQ(reads, 2);
}

TEST_F(CommitterTest, AStopEndsTheAttempts) {
  for (const ErrorKind kind : {ErrorKind::kUnavailable, ErrorKind::kOutcomeUnknown}) {
    StopSource stop;
    int commits = 0;
    table_.script().before_commit = [&](const auto&) {
      ++commits;
      stop.RequestStop();
      return MakeError(kind, "no answer");
    };
    const auto outcomes = NewCommitter(stop).Commit({TestBatch(1, 0, 1)});
    EXPECT_EQ(commits, 1);
    EXPECT_TRUE(IsError(outcomes.status(), kind == ErrorKind::kUnavailable
                                               ? ErrorKind::kCancelled
                                               : ErrorKind::kOutcomeUnknown))
        << outcomes.status();
    EXPECT_THAT(ErrorText(outcomes.status()), HasSubstr("no answer"));
  }
}

TEST_F(CommitterTest, WhatWasAppliedBeforeAStopIsKnown) {
  StopSource stop;
  table_.script().after_commit = [&] {
    stop.RequestStop();
    return MakeError(ErrorKind::kOutcomeUnknown, "no answer");
  };
  const auto outcomes = NewCommitter(stop).Commit({TestBatch(1, 0, 1)});
  ASSERT_TRUE(outcomes.ok()) << outcomes.status();
  EXPECT_EQ(outcomes->front().state, BatchState::kCommitted);
}

TEST_F(CommitterTest, WaitsBetweenAttempts) {
  FailFirstCommitBefore(ErrorKind::kConflict);
  const WallTime start = table_.runtime().Now();
  EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
  EXPECT_GT(table_.runtime().Now(), start);
  EXPECT_LT(table_.runtime().Now(), start + kCommitBackoffFirst);
}

TEST_F(CommitterTest, RefusesBatchesOutOfOrder) {
  EXPECT_THAT(table_.Commit({TestBatch(2, 1, 2), TestBatch(1, 0, 1)}),
              HasSubstr("names another parent"));
  EXPECT_EQ(table_.Commit({}), "");
}

}  // namespace
}  // namespace firn::commit
