#include "firn/shift/abandoned_files.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/ulid.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/update/new_snapshot.h"
#include "firn/shift/batch_files.h"
#include "firn/shift/test_warehouse.h"
#include "firn/wal/batch_note.h"

namespace firn::shift {
namespace {

using std::chrono::hours;
using testing::HasSubstr;

class AbandonedFilesTest : public testing::Test {
 protected:
  AbandonedFilesTest() {
    warehouse_.catalog_script().shown = [this](iceberg::TableMetadata& metadata) {
      metadata.snapshots.EraseIf([&](const iceberg::Snapshot& snapshot) {
        return expired_.contains(snapshot.snapshot_id);
      });
      if (!log_.empty()) {
        metadata.metadata_log = {{.timestamp_ms = 1, .metadata_file = log_}};
      }
    };
  }

  Result<std::int64_t> TryDelete() { return warehouse_.NewShift().DeleteAbandoned(); }
  std::int64_t Delete() { return TryDelete().ValueOrDie(); }

  /// A shift writes its files and cannot commit them.
  void Abandon(const TestRows& rows) {
    warehouse_.Write(rows);
    warehouse_.catalog_script().before_commit = [](const auto&) {
      return InvalidError("refused by the test");
    };
    EXPECT_FALSE(warehouse_.TryShift().ok());
    warehouse_.catalog_script().before_commit = nullptr;
  }

  /// A commit of which the note stays, as a crash leaves it.
  void LandAndKeepNote(const TestRows& rows) {
    warehouse_.Write(rows);
    warehouse_.wal_faults() = [](const storage::StoreCall& call) {
      return call.operation == storage::StoreOperation::kDelete ? storage::kFailBefore
                                                                : storage::kPass;
    };
    warehouse_.Shift();
    warehouse_.wal_faults() = nullptr;
    ASSERT_EQ(Notes(), 1U);
  }

  /// Another engine replaces main by a snapshot without files.
  void TruncateMain() {
    const iceberg::TableMetadata metadata = warehouse_.Load();
    warehouse_.Change(iceberg::PrepareSnapshot(
                          warehouse_.io(), metadata,
                          {.id = iceberg::NewSnapshotId(metadata, warehouse_.runtime()),
                           .commit_uuid = NewUuid(warehouse_.runtime()),
                           .manifests = {},
                           .summary = {{"operation", "delete"}}},
                          warehouse_.runtime().Now())
                          .ValueOrDie()
                          .updates);
  }

  /// Until main was moved long after whatever was written so far.
  void MoveOn() {
    warehouse_.runtime().Advance(kAbandonedAfter);
    warehouse_.Write("z9");
    warehouse_.Shift();
    warehouse_.runtime().Advance(hours(1));
  }

  std::size_t Notes() {
    return wal::ListNotedBatches(warehouse_.wal(), warehouse_.Load().table_uuid)
        .ValueOrDie()
        .size();
  }

  storage::ObjectStore& data() {
    return *warehouse_.io().Locate("memory:///x").ValueOrDie().store;
  }

  std::size_t DataFilesStored() {
    return data().List("warehouse/demo/events/data/").ValueOrDie().size();
  }

  SnapshotId Main() { return *warehouse_.Load().current_snapshot_id; }

  TestWarehouse warehouse_{{.partition_by = "tenant"}};
  std::set<SnapshotId> expired_;
  std::string log_;
};

TEST_F(AbandonedFilesTest, GoOnceMainHasMovedLongAfterThem) {
  Abandon("P/a1 Q/b2");
  warehouse_.Shift();
  EXPECT_EQ(DataFilesStored(), 4U);
  EXPECT_EQ(Notes(), 1U) << "of the batch that was not committed";
  MoveOn();
  EXPECT_EQ(Delete(), 2);
  EXPECT_THAT(
      warehouse_.metrics().Text(),
      HasSubstr("firn_shift_abandoned_files_deleted_total{table=\"demo.events\"} 2"));
  EXPECT_EQ(warehouse_.Files(), "tenant=P [P/a1] tenant=Q [Q/b2] tenant=null [z9]");
  EXPECT_EQ(DataFilesStored(), 3U);
  EXPECT_EQ(Notes(), 1U) << "its writer may be suspended, and write another";
  MoveOn();
  EXPECT_EQ(Delete(), 0);
  EXPECT_EQ(Notes(), 0U);
}

TEST_F(AbandonedFilesTest, StayWhileTheyAreYoung) {
  Abandon("P/a1");
  warehouse_.runtime().Advance(kAbandonedAfter - hours(1));
  warehouse_.Shift();
  warehouse_.runtime().Advance(hours(100));
  EXPECT_EQ(Delete(), 0) << "main was moved too early";
}

TEST_F(AbandonedFilesTest, StayWhileMainIsNotMovedOrWasJustNow) {
  warehouse_.Write("P/a1");
  warehouse_.Shift();
  Abandon("P/b2");
  warehouse_.runtime().Advance(hours(1000));
  EXPECT_EQ(Delete(), 0) << "an attempt may still be under way";
  warehouse_.Shift();
  EXPECT_EQ(Delete(), 0) << "main may be rolled back to where that attempt fits";
  warehouse_.runtime().Advance(hours(1));
  EXPECT_EQ(Delete(), 1);
}

TEST_F(AbandonedFilesTest, AFileThatWasWrittenLateIsYoung) {
  Abandon("P/a1");
  warehouse_.Shift();
  MoveOn();
  const auto note = wal::ListNotedBatches(warehouse_.wal(), warehouse_.Load().table_uuid)
                        .ValueOrDie()
                        .front();
  ASSERT_TRUE(
      data()
          .PutWhole(fmt::format("warehouse/demo/events/data/tenant=P/{}",
                                ChunkFileName(ChunkName(note.batch.value(), 1), 0)),
                    "late")
          .ok());
  EXPECT_EQ(Delete(), 1);
  MoveOn();
  EXPECT_EQ(Delete(), 1);
}

TEST_F(AbandonedFilesTest, LiveFilesStayThoughTheirNoteWasLeft) {
  LandAndKeepNote("P/a1");
  MoveOn();
  EXPECT_EQ(Delete(), 0);
  EXPECT_EQ(warehouse_.Files(), "tenant=P [P/a1] tenant=null [z9]");
  EXPECT_EQ(Notes(), 0U);
}

TEST_F(AbandonedFilesTest, FilesOfAnySnapshotStay) {
  LandAndKeepNote("P/a1");
  TruncateMain();
  MoveOn();
  EXPECT_EQ(Delete(), 0);
  EXPECT_EQ(DataFilesStored(), 2U);
}

TEST_F(AbandonedFilesTest, FilesOfABranchOrTagStay) {
  for (const iceberg::RefType type :
       {iceberg::RefType::kBranch, iceberg::RefType::kTag}) {
    LandAndKeepNote("P/a1");
    const SnapshotId landed = Main();
    warehouse_.Change({iceberg::SetSnapshotRef{
        .ref_name = "kept", .ref = {.snapshot_id = landed, .type = type}}});
    TruncateMain();
    const std::size_t stored = DataFilesStored();
    MoveOn();
    EXPECT_EQ(Delete(), 0);
    EXPECT_EQ(DataFilesStored(), stored + 1) << "and the one that moved main";
  }
}

TEST_F(AbandonedFilesTest, FilesOfMetadataThatTheLogListsStay) {
  LandAndKeepNote("P/a1");
  const std::string older =
      "memory:///warehouse/demo/events/metadata/00001-x.metadata.json";
  ASSERT_TRUE(WriteTableMetadata(warehouse_.io(), older, warehouse_.Load()).ok());
  const SnapshotId landed = Main();
  TruncateMain();
  expired_.insert(landed);
  log_ = older;
  MoveOn();
  EXPECT_EQ(Delete(), 0);
  EXPECT_EQ(DataFilesStored(), 2U);
}

TEST_F(AbandonedFilesTest, WhatNothingNamesAnyMoreGoes) {
  LandAndKeepNote("P/a1");
  const SnapshotId landed = Main();
  TruncateMain();
  expired_.insert(landed);
  MoveOn();
  EXPECT_EQ(Delete(), 1);
  EXPECT_EQ(warehouse_.Files(), "tenant=null [z9]");
}

TEST_F(AbandonedFilesTest, FilesOfTheSameTableUnderAnotherNameStay) {
  Abandon("P/a1");
  const TableUuid table = warehouse_.Load().table_uuid;
  const BatchId batch =
      wal::ListNotedBatches(warehouse_.wal(), table).ValueOrDie().front().batch;
  wal::BatchNote note = wal::ReadBatchNote(warehouse_.wal(), table, batch).ValueOrDie();
  note.owner = "demo.other";
  ASSERT_TRUE(wal::NoteBatch(warehouse_.wal(), table, batch, note).ok());
  const std::size_t stored = DataFilesStored();
  MoveOn();
  MoveOn();
  EXPECT_EQ(Delete(), 0);
  EXPECT_GT(DataFilesStored(), stored);
  EXPECT_EQ(Notes(), 1U);
}

TEST_F(AbandonedFilesTest, FilesOfOthersStay) {
  Abandon("P/a1");
  const BatchId batch =
      wal::ListNotedBatches(warehouse_.wal(), warehouse_.Load().table_uuid)
          .ValueOrDie()
          .front()
          .batch;
  for (const std::string& name :
       {batch.value() + "-copy.parquet", batch.value() + "-00000.parquet.crc",
        batch.value() + "-x/00000.parquet", std::string("part-0.parquet"),
        NewUlid(warehouse_.runtime()) + "-00000.parquet"}) {
    const std::string key = "warehouse/demo/events/data/tenant=P/" + name;
    ASSERT_TRUE(data().PutWhole(key, "of others").ok());
  }
  warehouse_.Shift();
  MoveOn();
  EXPECT_EQ(Delete(), 1);
  EXPECT_EQ(DataFilesStored(), 7U);
}

TEST_F(AbandonedFilesTest, NothingGoesIfAnythingCannotBeRead) {
  Abandon("P/a1");
  warehouse_.Shift();
  MoveOn();
  for (const std::string part : {"-m0.avro", "snap-", "data/tenant=P/"}) {
    warehouse_.data_faults() = [&](const storage::StoreCall& call) {
      const bool is_read = call.operation == storage::StoreOperation::kGetWhole ||
                           call.operation == storage::StoreOperation::kGetRange ||
                           call.operation == storage::StoreOperation::kList;
      return is_read && call.key.find(part) != std::string::npos ? storage::kFailBefore
                                                                 : storage::kPass;
    };
    EXPECT_TRUE(IsError(TryDelete().status(), ErrorKind::kUnavailable)) << part;
    EXPECT_EQ(DataFilesStored(), 3U);
  }
  warehouse_.data_faults() = nullptr;
  EXPECT_EQ(Delete(), 1);
}

TEST_F(AbandonedFilesTest, WhatIsInFlightStays) {
  warehouse_.Write("P/a1");
  warehouse_.Shift();
  warehouse_.Write("P/b2");
  warehouse_.observer().on_chunk = [&] {
    warehouse_.runtime().Advance(commit::kBatchAgeMax - hours(2));
    TruncateMain();
    warehouse_.runtime().Advance(hours(1));
    EXPECT_EQ(Delete(), 0);
  };
  EXPECT_EQ(warehouse_.Shift().superseded, 0);
  EXPECT_EQ(warehouse_.Files(), "tenant=P [P/b2]");
}

TEST_F(AbandonedFilesTest, ATableThatWasRolledBackKeepsThem) {
  warehouse_.Write("P/a1");
  warehouse_.Shift();
  const SnapshotId first = Main();
  Abandon("P/b2");
  warehouse_.Shift();
  MoveOn();
  warehouse_.Change(
      {iceberg::SetSnapshotRef{.ref_name = "main", .ref = {.snapshot_id = first}}});
  EXPECT_FALSE(TryDelete().ok());
  EXPECT_EQ(DataFilesStored(), 4U);
}

TEST_F(AbandonedFilesTest, NothingIsReadWithoutALeftover) {
  warehouse_.Write("P/a1");
  warehouse_.Shift();
  MoveOn();
  int calls = 0;
  warehouse_.data_faults() = [&](const storage::StoreCall&) {
    ++calls;
    return storage::kPass;
  };
  EXPECT_EQ(Delete(), 0);
  EXPECT_EQ(calls, 0);
}

TEST_F(AbandonedFilesTest, AProcessLooksOnceInAWhile) {
  TableShift shift = warehouse_.NewShift();
  EXPECT_EQ(shift.DeleteAbandoned().ValueOrDie(), 0);
  Abandon("P/a1");
  warehouse_.Shift();
  MoveOn();
  EXPECT_EQ(shift.DeleteAbandoned().ValueOrDie(), 1);
  Abandon("P/c3");
  warehouse_.Shift();
  EXPECT_EQ(shift.DeleteAbandoned().ValueOrDie(), 0);
}

TEST_F(AbandonedFilesTest, AFullWalDoesNotKeepAShiftFromMakingRoom) {
  warehouse_.Write("P/a1");
  warehouse_.wal_faults() = [](const storage::StoreCall& call) {
    return call.operation == storage::StoreOperation::kPutWhole ? storage::kNoSpaceLeft
                                                                : storage::kPass;
  };
  EXPECT_EQ(warehouse_.Shift().figures.rows, 1);
}

TEST_F(AbandonedFilesTest, AStoppedShiftLeavesNoNote) {
  warehouse_.Write("P/a1 Q/b2");
  StopSource stop;
  warehouse_.observer().on_chunk = [&] { stop.RequestStop(); };
  EXPECT_FALSE(warehouse_.TryShift(stop.token()).ok());
  EXPECT_EQ(DataFilesStored(), 0U);
  EXPECT_EQ(Notes(), 0U);
}

TEST_F(AbandonedFilesTest, AWriteThatMayComeLateKeepsTheNote) {
  warehouse_.Write("P/a1");
  warehouse_.data_faults() =
      FailNth(storage::StoreOperation::kPutWhole, 1, storage::kFailBefore);
  EXPECT_FALSE(warehouse_.TryShift().ok());
  EXPECT_EQ(Notes(), 1U);
}

TEST_F(AbandonedFilesTest, NoFileIsWrittenThatANoteMayNotTellOf) {
  warehouse_.Write("P/a1");
  warehouse_.wal_faults() = [](const storage::StoreCall& call) {
    return call.operation == storage::StoreOperation::kPutWhole
               ? storage::kApplyThenUnknown
               : storage::kPass;
  };
  EXPECT_FALSE(warehouse_.TryShift().ok());
  EXPECT_EQ(DataFilesStored(), 0U);
}

}  // namespace
}  // namespace firn::shift
