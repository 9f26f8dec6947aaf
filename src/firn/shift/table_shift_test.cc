#include "firn/shift/table_shift.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/shift/plan_input.h"
#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kSource = "load:x:0";

/// Every `step`-th number from `first` on, below `end`.
std::vector<TestRow> EveryNth(std::int64_t first, std::int64_t step, std::int64_t end) {
  std::vector<TestRow> rows;
  for (std::int64_t i = first; i < end; i += step) {
    rows.push_back(NumberedRows(i, 1).front());
  }
  return rows;
}

TEST(TableShiftTest, RowsInAreRowsOutSorted) {
  TestWarehouse warehouse;
  warehouse.Write("b2 a1");
  warehouse.Write("c3 a4");
  const ShiftReport report = warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[a1 a4 b2 c3]");
  EXPECT_EQ(report.figures.rows, 4);
  EXPECT_EQ(report.figures.segments, 2);
  EXPECT_EQ(report.figures.files(), 1);
  EXPECT_EQ(report.figures.commits, 1);
  EXPECT_EQ(report.figures.overlap_depth_max, 1);
  EXPECT_THAT(warehouse.ShardPositions(), ElementsAre(2U));
}

TEST(TableShiftTest, WhatWasShiftedIsNotShiftedAgain) {
  TestWarehouse warehouse;
  warehouse.Write("a1");
  warehouse.Shift();
  EXPECT_EQ(warehouse.Shift().figures.commits, 0);
  warehouse.Write("a2");
  EXPECT_EQ(warehouse.Shift().figures.rows, 1);
  EXPECT_EQ(warehouse.Files(), "[a1] [a2]");
}

TEST(TableShiftTest, AnEmptyWalCommitsNothing) {
  TestWarehouse warehouse;
  EXPECT_EQ(warehouse.Shift().figures.commits, 0);
  EXPECT_EQ(warehouse.Snapshots(), 0);
}

TEST(TableShiftTest, EachPartitionGetsItsFiles) {
  TestWarehouse warehouse({.partition_by = "tenant"});
  warehouse.Write("P/b1 Q/a2 c3");
  warehouse.Write("Q/b4 P/a5");
  warehouse.Shift();
  EXPECT_EQ(warehouse.Files(),
            "tenant=P [P/a5 P/b1] tenant=Q [Q/a2 Q/b4] tenant=null [c3]");
}

TEST(TableShiftTest, TinyPartitionsThatShareRowGroupsAreReadRight) {
  TestWarehouse warehouse({.partition_by = "tenant"});
  warehouse.UseSmallRowGroups();
  constexpr std::int64_t kTenants = 200;
  for (std::int64_t segment = 0; segment < 5; ++segment) {
    std::vector<TestRow> rows = NumberedRows(1000 * segment, 1000);
    // Each segment has other tenants, and starts with others.
    for (TestRow& row : rows) {
      row.tenant = fmt::format("t{:03}", row.number * (segment + 3) % kTenants);
    }
    warehouse.Write(rows);
  }
  const planner::PlanInput& input = warehouse.Plan().input;
  ASSERT_GT(std::ranges::count(input.runs, 0U, &planner::Run::row_group), 50);
  warehouse.Shift();
  EXPECT_EQ(warehouse.DataFiles().size(), static_cast<std::size_t>(kTenants));
  warehouse.ExpectWellShaped();
}

TEST(TableShiftTest, IterationsFollowEachOtherUntilTheWalIsDrained) {
  TestWarehouse warehouse;
  warehouse.options().commit_queue_size = 1;
  warehouse.options().iteration.iteration_bytes = 1;
  for (const char* rows : {"b1", "a2", "c3"}) warehouse.Write(rows);
  EXPECT_EQ(warehouse.Shift().figures.commits, 3);
  EXPECT_EQ(warehouse.Files(), "[a2] [b1] [c3]");
}

TEST(TableShiftTest, AnIterationTakesSoManySegmentsAndTheNextOneTheRest) {
  TestWarehouse warehouse;
  warehouse.options().iteration.iteration_segments = 2;
  warehouse.options().commit_queue_size = 1;
  for (const char* rows : {"b1", "a2", "c3", "e4", "d5"}) warehouse.Write(rows);
  EXPECT_EQ(warehouse.Shift().figures.commits, 3);
  EXPECT_EQ(warehouse.Files(), "[a2 b1] [c3 e4] [d5]");
}

TEST(TableShiftTest, SlicesOfARunAddUpToIt) {
  TestWarehouse warehouse;
  warehouse.options().iteration.limits.lower_bound_input_bytes_per_task = 10'000;
  warehouse.options().iteration.limits.upper_bound_input_bytes_per_task = 20'000;
  warehouse.UseSmallRowGroups();
  for (int first = 0; first < 5; ++first) warehouse.Write(EveryNth(first, 5, 20'000));
  const planner::Plan plan = warehouse.Plan().plan;
  std::map<std::uint32_t, int> chunks_of_run;
  for (const planner::Chunk& chunk : plan.chunks) {
    for (const planner::RunSlice& slice : chunk.runs) ++chunks_of_run[slice.run];
  }
  ASSERT_GE(chunks_of_run[0], 3);
  const ShiftReport report = warehouse.Shift();
  EXPECT_EQ(report.figures.files(), static_cast<std::int64_t>(plan.chunks.size()));
  EXPECT_EQ(report.figures.oversized_clusters, 1);
  EXPECT_EQ(report.figures.overlap_depth_max, 1);
  warehouse.ExpectWellShaped();
}

TEST(TableShiftTest, RowsThatWereLandedBeforeAreTrimmed) {
  TestWarehouse warehouse;
  warehouse.WriteParts({{wal::SourceRange{kSource, 0, 3}, "a0 b1 c2"}});
  warehouse.Shift();
  warehouse.OpenShard();
  warehouse.WriteParts({{wal::SourceRange{kSource, 1, 5}, "c1 c2 a3 e4"}});
  warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[a0 b1 c2] [a3 e4]");
}

TEST(TableShiftTest, TrimmingSparesRowsOfOtherSourcesInTheSegment) {
  TestWarehouse warehouse;
  warehouse.WriteParts({{wal::SourceRange{kSource, 0, 3}, "a0 b1 c2"}});
  warehouse.Shift();
  warehouse.OpenShard();
  warehouse.WriteParts({{wal::SourceRange{"load:y:0", 0, 2}, "b7 c8"},
                        {wal::SourceRange{kSource, 0, 4}, "a0 b1 c2 d3"},
                        {std::nullopt, "b9"}});
  warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[a0 b1 c2] [b7 b9 c8 d3]");
}

TEST(TableShiftTest, ASegmentThatWasLandedWholeMakesNoFile) {
  TestWarehouse warehouse;
  warehouse.WriteParts({{wal::SourceRange{kSource, 0, 2}, "a0 b1"}});
  warehouse.OpenShard();
  warehouse.WriteParts({{wal::SourceRange{kSource, 0, 2}, "a0 b1"}});
  const ShiftReport report = warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[a0 b1]");
  EXPECT_EQ(report.figures.rows, 2);
  EXPECT_THAT(warehouse.ShardPositions(), ElementsAre(1U, 1U));
}

TEST(TableShiftTest, RangesWithoutRowsMovePositionsAlone) {
  TestWarehouse warehouse;
  warehouse.WriteParts({{wal::SourceRange{kSource, 0, 5}, ""}});
  warehouse.Shift();
  EXPECT_EQ(warehouse.Snapshots(), 1);
  EXPECT_EQ(warehouse.Files(), "");
  EXPECT_EQ(warehouse.Load().properties.at("firn.load.x"), "0:5");
}

TEST(TableShiftTest, AShardWaitsForASourceThatIsNotThereYet) {
  TestWarehouse warehouse;
  warehouse.WriteParts({{wal::SourceRange{kSource, 0, 2}, "a0 b1"}});
  warehouse.Shift();
  warehouse.OpenShard();
  warehouse.WriteParts({{wal::SourceRange{kSource, 4, 5}, "e4"}});
  const ShiftReport waits = warehouse.Shift();
  EXPECT_EQ(waits.figures.commits, 0);
  ASSERT_EQ(waits.waiting.size(), 1U);
  EXPECT_EQ(waits.waiting[0].first, 4);
  warehouse.OpenShard();
  warehouse.WriteParts({{wal::SourceRange{kSource, 2, 4}, "c2 d3"}});
  EXPECT_TRUE(warehouse.Shift().waiting.empty());
  EXPECT_EQ(warehouse.Files(), "[a0 b1] [c2 d3 e4]");
}

TEST(TableShiftTest, AnUnsortedTableKeepsTheOrderOfItsRows) {
  TestWarehouse warehouse({.sort_by = ""});
  warehouse.Write("b2 a1");
  warehouse.Write("c3 a4");
  const ShiftReport report = warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[b2 a1 c3 a4]");
  EXPECT_EQ(report.figures.overlap_depth_max, std::nullopt);
}

TEST(TableShiftTest, DescendingKeysAreDescendingInTheFile) {
  TestWarehouse warehouse({.sort_by = "key desc, number"});
  warehouse.Write("a1 c3 c2");
  warehouse.Write("b4");
  warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[c2 c3 b4 a1]");
}

TEST(TableShiftTest, AFileThatGrowsTooLargeRollsAtAChangeOfKey) {
  TestWarehouse warehouse;
  warehouse.options().iteration.writer.writer_max_parquet_bytes = 20'000;
  std::vector<TestRow> rows = EveryNth(0, 2, 120'000);
  for (TestRow& row : rows) row.key = fmt::format("{:09}", row.number / 100);
  warehouse.Write(rows);
  for (TestRow& row : rows) ++row.number;
  warehouse.Write(rows);
  const ShiftReport report = warehouse.Shift();
  EXPECT_GE(report.figures.failover_rolls, 2);
  EXPECT_EQ(report.figures.files(), report.figures.failover_rolls + 1);
  warehouse.ExpectWellShaped();
}

TEST(TableShiftTest, RowsOfAnOlderSchemaGetTheNewColumn) {
  TestWarehouse warehouse;
  warehouse.Write("b1");
  warehouse.Change(
      {iceberg::AddSchema{warehouse.SchemaWith([](types::Schema& schema) {
         schema.fields.push_back(
             {.id = 4, .name = "extra", .type = types::Type(types::TypeKind::kString)});
       })},
       iceberg::SetCurrentSchema{}});
  warehouse.Write("d2");
  warehouse.OpenShard();
  warehouse.Write({{{.key = "a", .number = 3, .extra = "new"}}});
  warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[a3:new b1 d2]");
}

TEST(TableShiftTest, AWidenedSortColumnKeepsItsOrder) {
  TestWarehouse warehouse({.sort_by = "number", .number = types::TypeKind::kInt});
  warehouse.Write("x1 y5");
  warehouse.Change({iceberg::AddSchema{warehouse.SchemaWith([](types::Schema& schema) {
                      schema.fields[2].type = types::Type(types::TypeKind::kLong);
                    })},
                    iceberg::SetCurrentSchema{}});
  warehouse.OpenShard();
  warehouse.Write("z3 z5000000000");
  warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[x1 z3 y5 z5000000000]");
}

TEST(TableShiftTest, RowsOfSeveralSpecsAndOrdersGoToFilesOfTheirOwn) {
  TestWarehouse warehouse({.partition_by = "tenant"});
  warehouse.Write("P/b1 P/a2");
  const types::Schema schema = CurrentSchema(warehouse.Load());
  warehouse.Change(
      {iceberg::AddSpec{types::ParsePartitionSpec("", schema).ValueOrDie()},
       iceberg::SetDefaultSpec{},
       iceberg::AddSortOrder{order::ParseSortOrder("key desc", schema).ValueOrDie()},
       iceberg::SetDefaultSortOrder{}});
  warehouse.OpenShard();
  warehouse.Write("P/b3 Q/c4");
  warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[Q/c4 P/b3] tenant=P [P/a2 P/b1]");
  std::set<std::pair<PartitionSpecId, SortOrderId>> ids;
  for (const iceberg::DataFile& file : warehouse.DataFiles()) {
    ids.emplace(file.partition_spec_id, *file.sort_order_id);
  }
  const iceberg::TableMetadata metadata = warehouse.Load();
  EXPECT_EQ(ids, (std::set<std::pair<PartitionSpecId, SortOrderId>>{
                     {metadata.partition_specs.front().id, metadata.sort_orders[0].id},
                     {metadata.default_spec_id, metadata.default_sort_order_id}}));
}

TEST(TableShiftTest, ColumnsOfAnOldSpecAndOrderMayBeDroppedBeforeTheShift) {
  TestWarehouse warehouse({.partition_by = "tenant", .sort_by = "key"});
  warehouse.Write("P/b1 P/a2 Q/c3");
  const types::Schema schema = CurrentSchema(warehouse.Load());
  warehouse.Change(
      {iceberg::AddSpec{types::ParsePartitionSpec("", schema).ValueOrDie()},
       iceberg::SetDefaultSpec{},
       iceberg::AddSortOrder{order::ParseSortOrder("number", schema).ValueOrDie()},
       iceberg::SetDefaultSortOrder{}});
  for (const std::string column : {"tenant", "key"}) {
    warehouse.Change({iceberg::AddSchema{warehouse.SchemaWith([&](types::Schema& after) {
                        std::erase_if(after.fields, [&](const types::Field& field) {
                          return field.name == column;
                        });
                      })},
                      iceberg::SetCurrentSchema{}});
  }
  warehouse.OpenShard();
  warehouse.Write({{{.number = 5}, {.number = 4}}});
  warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[4 5] tenant=P [2 1] tenant=Q [3]");
}

TEST(TableShiftTest, AFooterThatContradictsTheStatisticsIsCorruption) {
  TestWarehouse warehouse({.partition_by = "tenant"});
  const wal::SegmentName segment = warehouse.Write("P/a1");
  warehouse.Forge(segment, [](wal::SegmentFooter& footer) {
    footer.row_groups[0][0].partition = {std::string("Q")};
  });
  const auto report = warehouse.TryShift();
  EXPECT_TRUE(IsError(report.status(), ErrorKind::kCorruption));
  EXPECT_THAT(report.status().message(), HasSubstr(SegmentKey(segment)));
  EXPECT_THAT(report.status().message(), HasSubstr("disagree about tenant"));
  EXPECT_EQ(warehouse.Snapshots(), 0);
}

TEST(TableShiftTest, APartitionTupleOfAnotherLengthIsCorruption) {
  TestWarehouse warehouse({.partition_by = "tenant"});
  warehouse.Write("P/a1");
  const PlannedIteration& iteration = warehouse.Plan();
  OpenSegment segment = *iteration.segments.front();
  segment.footer.row_groups[0][0].partition.clear();
  const auto input = BuildPlanInput({std::make_shared<const OpenSegment>(segment)},
                                    iteration.start.metadata);
  EXPECT_TRUE(IsError(input.status(), ErrorKind::kCorruption)) << input.status();
}

TEST(TableShiftTest, RowsThatWereNotWrittenAreNotBlamedOnASegment) {
  TestWarehouse warehouse;
  warehouse.Write("a1 b2");
  PlannedIteration iteration = warehouse.Plan();
  ++iteration.input.runs[0].rows;
  const auto written =
      WriteIteration(warehouse.runtime(), warehouse.memory(), iteration,
                     {.io = warehouse.io(), .id = BatchId("batch"), .parent = {}},
                     {.options = warehouse.options().iteration,
                      .stop = {},
                      .done = [](const auto&, const auto&) {}});
  EXPECT_FALSE(IsError(written.status(), ErrorKind::kCorruption));
  EXPECT_THAT(written.status().message(), HasSubstr("2 rows were written of 3"));
}

/// What the metrics of a run say of a column that its statistics do not.
struct WrongMetrics {
  FieldId column;
  void (*change)(parquet_io::ColumnMetrics&);
  const char* error;
};

class WrongMetricsTest : public testing::TestWithParam<WrongMetrics> {};

TEST_P(WrongMetricsTest, AreCorruption) {
  TestWarehouse warehouse;
  const wal::SegmentName segment = warehouse.Write("c1 k2 z3");
  warehouse.Forge(segment, [](wal::SegmentFooter& footer) {
    GetParam().change(footer.row_groups[0][0].metrics.at(GetParam().column));
  });
  const Status status = warehouse.TryShift().status();
  EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
  EXPECT_THAT(status.message(),
              HasSubstr(fmt::format("segment {} row group 0 column {}",
                                    SegmentKey(segment), GetParam().error)));
  EXPECT_THAT(status.message(), HasSubstr("firn wal quarantine"));
  EXPECT_EQ(warehouse.Snapshots(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    , WrongMetricsTest,
    testing::Values(
        WrongMetrics{3, [](auto& metrics) { metrics.value_count = 4; },
                     "number: the footer's key-values say 4 values, the column chunk 3"},
        WrongMetrics{2, [](auto& metrics) { metrics.null_count = 1; },
                     "key: the footer's key-values say 1 nulls, the column statistics 0"},
        WrongMetrics{3, [](auto& metrics) { metrics.lower_bound->at(0) = 2; },
                     "number: the footer's key-values say other bounds"},
        WrongMetrics{3, [](auto& metrics) { metrics.upper_bound->at(0) = 4; },
                     "number: the footer's key-values say other bounds"},
        WrongMetrics{2, [](auto& metrics) { metrics.lower_bound = "d"; },
                     "key: the footer's key-values say other bounds"},
        WrongMetrics{2, [](auto& metrics) { metrics.upper_bound = "y"; },
                     "key: the footer's key-values say other bounds"}));

TEST(TableShiftTest, AKeyBeyondTheFootersBoundsIsCorruption) {
  TestWarehouse warehouse;
  warehouse.Write("m1");
  const wal::SegmentName segment = warehouse.Write("c1 k2 z3");
  warehouse.Forge(segment, [](wal::SegmentFooter& footer) {
    wal::SegmentRun& run = footer.row_groups[0][0];
    std::ranges::replace(*run.last_key, 'z', 'y');
  });
  const auto report = warehouse.TryShift();
  EXPECT_TRUE(IsError(report.status(), ErrorKind::kCorruption)) << report.status();
  EXPECT_EQ(warehouse.Snapshots(), 0);
}

TEST(TableShiftTest, AnEmptyPartitionFieldFailsThePlan) {
  TestWarehouse warehouse({.partition_by = "tenant"});
  warehouse.options().iteration.limits.non_empty_partition_fields = {"tenant"};
  warehouse.Write("P/a1");
  warehouse.Write("a2");
  EXPECT_THAT(warehouse.TryShift().status().message(), HasSubstr("tenant is null in"));
  EXPECT_EQ(warehouse.Snapshots(), 0);
}

TEST(TableShiftTest, AStopBeforeTheCommitCommitsNothing) {
  TestWarehouse warehouse({.partition_by = "tenant"});
  warehouse.Write("P/a1 Q/b2");
  StopSource stop;
  warehouse.observer().on_planned = [&](const PlannedIteration&) { stop.RequestStop(); };
  EXPECT_TRUE(IsError(warehouse.TryShift(stop.token()).status(), ErrorKind::kCancelled));
  EXPECT_EQ(warehouse.Snapshots(), 0);
  EXPECT_EQ(warehouse.Shift().figures.rows, 2);
}

TEST(TableShiftTest, AStopBetweenFootersReadsNoMore) {
  TestWarehouse warehouse;
  for (const char* row : {"a1", "b2", "c3"}) warehouse.Write(row);
  StopSource stop;
  int reads = 0;
  warehouse.wal_faults() = [&](const storage::StoreCall& call) {
    if (call.operation != storage::StoreOperation::kGetRange) return storage::kPass;
    ++reads;
    stop.RequestStop();
    return storage::kPass;
  };
  EXPECT_TRUE(IsError(warehouse.TryShift(stop.token()).status(), ErrorKind::kCancelled));
  EXPECT_EQ(reads, 1);
}

TEST(TableShiftTest, AStopBetweenChunksCommitsNothing) {
  TestWarehouse warehouse({.partition_by = "tenant"});
  warehouse.Write("P/a1 Q/b2");
  warehouse.options().iteration.workers = 1;
  StopSource stop;
  warehouse.observer().on_chunk = [&] { stop.RequestStop(); };
  const std::size_t objects = warehouse.DataObjects();
  const Status stopped = warehouse.TryShift(stop.token()).status();
  EXPECT_TRUE(IsError(stopped, ErrorKind::kCancelled));
  EXPECT_THAT(stopped.message(), HasSubstr("nothing was committed"));
  EXPECT_EQ(warehouse.Snapshots(), 0);
  EXPECT_EQ(warehouse.DataObjects(), objects);
}

TEST(TableShiftTest, AStopBetweenIterationsKeepsWhatWasCommitted) {
  TestWarehouse warehouse;
  warehouse.options().iteration.iteration_bytes = 1;
  warehouse.Write("a1");
  warehouse.Write("a2");
  StopSource stop;
  warehouse.observer().on_planned = [&, plans = 0](const PlannedIteration&) mutable {
    if (++plans == 2) stop.RequestStop();
  };
  const Status stopped = warehouse.TryShift(stop.token()).status();
  EXPECT_TRUE(IsError(stopped, ErrorKind::kCancelled));
  EXPECT_THAT(stopped.message(), HasSubstr("(rows: 1, commits: 1)"));
  EXPECT_EQ(warehouse.Files(), "[a1]");
  warehouse.Shift();
  EXPECT_EQ(warehouse.Files(), "[a1] [a2]");
}

TEST(TableShiftTest, AFileThatCannotBeWrittenFailsTheShift) {
  TestWarehouse warehouse;
  warehouse.Write("a1");
  const std::size_t objects = warehouse.DataObjects();
  std::int64_t puts = 0;
  for (const auto fault : {storage::kFailBefore, storage::kApplyThenUnknown}) {
    warehouse.data_faults() = FailNth(storage::StoreOperation::kPutWhole, ++puts, fault);
    EXPECT_FALSE(warehouse.TryShift().ok());
    EXPECT_EQ(warehouse.Snapshots(), 0);
    EXPECT_EQ(warehouse.DataObjects(), objects);
  }
  EXPECT_EQ(warehouse.Shift().figures.rows, 1);
}

TEST(TableShiftTest, OfTwoPlannersOneLandsARow) {
  TestWarehouse warehouse;
  warehouse.Write("b1");
  warehouse.Write("a2");
  warehouse.observer().on_planned = [&](const PlannedIteration&) {
    warehouse.observer().on_planned = nullptr;
    TestObserver other;
    const auto report = warehouse.NewShift().Run(StopToken(), other);
    ASSERT_TRUE(report.ok()) << report.status();
  };
  const ShiftReport report = warehouse.Shift();
  EXPECT_EQ(report.superseded, 1);
  EXPECT_EQ(report.figures.commits, 0);
  EXPECT_EQ(warehouse.Files(), "[a2 b1]");
}

TEST(TableShiftTest, FilesThatBecameOldBeforeTheCommitAreWrittenAnew) {
  TestWarehouse warehouse;
  warehouse.Write("b1 a2");
  warehouse.observer().on_chunk = [&] {
    warehouse.observer().on_chunk = nullptr;
    warehouse.runtime().Advance(commit::kBatchAgeMax + Duration(1));
  };
  EXPECT_EQ(warehouse.Shift().superseded, 1);
  EXPECT_EQ(warehouse.Files(), "[a2 b1]");
}

TEST(TableShiftTest, RacingShiftsLandEachRowOnce) {
  TestWarehouse warehouse;
  warehouse.options().iteration.iteration_bytes = 4000;
  constexpr int kShards = 4;
  for (int shard = 0; shard < kShards; ++shard) {
    warehouse.OpenShard();
    for (int i = 0; i < 8; ++i) warehouse.Write(NumberedRows(100 * i + shard, 50));
  }
  std::vector<TableShift> shifts;
  for (int i = 0; i < 3; ++i) shifts.push_back(warehouse.NewShift());
  std::atomic<std::int64_t> rows = 0;
  {
    std::vector<Thread> threads;
    for (TableShift& shift : shifts) {
      threads.emplace_back(warehouse.runtime(), "shift", [&] {
        TestObserver observer;
        const auto report = shift.Run(StopToken(), observer);
        ASSERT_TRUE(report.ok()) << report.status();
        rows += report->figures.rows;
      });
    }
  }
  EXPECT_EQ(rows, kShards * 8 * 50);
  std::vector<TestRow> found;
  for (const auto& file : warehouse.FileRows())
    std::ranges::copy(file, std::back_inserter(found));
  EXPECT_EQ(found.size(), static_cast<std::size_t>(kShards * 8 * 50));
}

TEST(TableShiftTest, SegmentsThatAnotherProcessCommittedAndDeletedAreNotMissed) {
  TestWarehouse warehouse;
  warehouse.Write("b1");
  const wal::SegmentName last = warehouse.Write("a2");
  TableShift slow = warehouse.NewShift();
  bool has_listed = false;
  warehouse.wal_faults() = [&](const storage::StoreCall& call) {
    if (call.operation != storage::StoreOperation::kGetRange || has_listed) {
      return storage::kPass;
    }
    has_listed = true;
    wal::WalReader reader(warehouse.runtime(), warehouse.wal());
    TestObserver observer;
    EXPECT_TRUE(
        warehouse.NewShiftOver(warehouse.wal(), reader).Run(StopToken(), observer).ok());
    for (const std::string& key : warehouse.Segments()) {
      EXPECT_TRUE(warehouse.wal().Delete(key).ok());
    }
    return storage::kPass;
  };
  TestObserver observer;
  const auto report = slow.Run(StopToken(), observer);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(has_listed);
  EXPECT_EQ(report->figures.commits, 0);
  EXPECT_EQ(warehouse.Files(), "[a2 b1]");
}

TEST(TableShiftTest, SegmentsThatAreDeletedWhileFilesAreWrittenAreNotMissed) {
  TestWarehouse warehouse;
  warehouse.Write("b1");
  warehouse.Write("a2");
  warehouse.observer().on_planned = [&](const PlannedIteration&) {
    warehouse.observer().on_planned = nullptr;
    TestObserver other;
    EXPECT_TRUE(warehouse.NewShift().Run(StopToken(), other).ok());
    for (const std::string& key : warehouse.Segments()) {
      EXPECT_TRUE(warehouse.wal().Delete(key).ok());
    }
  };
  EXPECT_EQ(warehouse.Shift().figures.commits, 0);
  EXPECT_EQ(warehouse.Files(), "[a2 b1]");
}

TEST(TableShiftTest, EndsThoughSegmentsKeepArriving) {
  TestWarehouse warehouse;
  warehouse.options().commit_queue_size = 1;
  warehouse.options().iteration.iteration_bytes = 1;
  warehouse.Write("a1");
  warehouse.Write("a2");
  warehouse.observer().on_planned = [&](const PlannedIteration&) {
    warehouse.Write("b3");
    warehouse.OpenShard();
    warehouse.Write("b4");
  };
  EXPECT_EQ(warehouse.Shift().figures.commits, 2);
  EXPECT_EQ(warehouse.Files(), "[a1] [a2]");
  warehouse.observer().on_planned = nullptr;
  EXPECT_EQ(warehouse.Shift().figures.rows, 4);
}

/// Segments 1 and 3 of a shard; 2 is missing.
class HoleTest : public testing::Test {
 protected:
  HoleTest() {
    warehouse_.Write("a1");
    missing_ = warehouse_.Write("b2");
    bytes_ = warehouse_.wal().GetWhole(SegmentKey(missing_)).ValueOrDie();
    warehouse_.Write("c3");
    warehouse_.DeleteSegment(missing_);
  }

  void ExpectHole(ShardState state) {
    const JudgedHole hole = {
        .hole = {.shard = missing_.shard, .missing = missing_.sequence},
        .shard_state = state};
    EXPECT_THAT(warehouse_.Shift().holes, ElementsAre(hole));
    EXPECT_EQ(warehouse_.Files(), "[a1]");
    EXPECT_THAT(warehouse_.ShardPositions(), ElementsAre(1U));
  }

  TestWarehouse warehouse_;
  wal::SegmentName missing_;
  std::string bytes_;
};

TEST_F(HoleTest, WaitsInALiveShard) { ExpectHole(ShardState::kLive); }

TEST_F(HoleTest, IsReportedOfADeadShard) {
  warehouse_.runtime().Advance(std::chrono::hours(24));
  ExpectHole(ShardState::kDead);
}

TEST_F(HoleTest, IsReportedOfAClosedShard) {
  warehouse_.CloseShard();
  ExpectHole(ShardState::kClosed);
}

TEST_F(HoleTest, OtherShardsGoOn) {
  warehouse_.OpenShard();
  warehouse_.Write("d4");
  warehouse_.Shift();
  EXPECT_EQ(warehouse_.Files(), "[a1 d4]");
}

TEST_F(HoleTest, IsAskedForByNameTwice) {
  int asked = 0;
  warehouse_.wal_faults() = [&](const storage::StoreCall& call) {
    asked += call.key == SegmentKey(missing_);
    return storage::kPass;
  };
  ExpectHole(ShardState::kLive);
  EXPECT_EQ(asked, 2);
}

TEST_F(HoleTest, IsNoneIfTheSegmentAppearsBetweenTheLooks) {
  int asked = 0;
  warehouse_.wal_faults() = [&](const storage::StoreCall& call) {
    if (call.key == SegmentKey(missing_) && ++asked == 2) {
      EXPECT_TRUE(warehouse_.wal().PutWhole(call.key, bytes_).ok());
    }
    return storage::kPass;
  };
  EXPECT_TRUE(warehouse_.Shift().holes.empty());
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2 c3]");
}

TEST_F(HoleTest, IsNoneOnceAnotherPlannerHasPassedIt) {
  // The other one finds the segment, commits it and deletes it while this one looks.
  warehouse_.options().commit_queue_size = 1;
  int loads = 0;
  warehouse_.catalog_script().before_load = [&] {
    // The first one after the commit is for the next plan, the second for the hole.
    if (warehouse_.Snapshots() != 1 || ++loads != 2) return Status::OK();
    EXPECT_TRUE(warehouse_.wal().PutWhole(SegmentKey(missing_), bytes_).ok());
    TestObserver other;
    EXPECT_TRUE(warehouse_.NewShift().Run(StopToken(), other).ok());
    warehouse_.DeleteSegment(missing_);
    return Status::OK();
  };
  EXPECT_TRUE(warehouse_.Shift().holes.empty());
  EXPECT_GE(loads, 2);
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2 c3]");
}

TEST(TableShiftTest, ATableThatWasRolledBackStops) {
  TestWarehouse warehouse;
  warehouse.Write("a1");
  warehouse.Shift();
  const SnapshotId first = *warehouse.Load().current_snapshot_id;
  warehouse.Write("a2");
  warehouse.Shift();
  warehouse.Change(
      {iceberg::SetSnapshotRef{.ref_name = "main", .ref = {.snapshot_id = first}}});
  warehouse.Write("a3");
  EXPECT_THAT(warehouse.TryShift().status().message(), HasSubstr("was rolled back"));
  EXPECT_EQ(warehouse.Files(), "[a1]");
}

TEST(TableShiftTest, RowsAreNotTakenAgainWhereTheUuidOfThePositionsIsDamaged) {
  TestWarehouse warehouse;
  warehouse.Write("a1");
  warehouse.Shift();
  for (const char* uuid : {"00000000-0000-4000-8000-000000000000", "damaged"}) {
    warehouse.Change({iceberg::SetProperties{.updates = {{"firn.table-uuid", uuid}}}});
    EXPECT_THAT(warehouse.TryShift().status().message(), HasSubstr(uuid));
  }
  EXPECT_EQ(warehouse.Files(), "[a1]");
}

TEST(TableShiftTest, RowsAreNotTakenAgainThoughExpiryTookTheSnapshotsOfDamagedPositions) {
  TestWarehouse warehouse;
  warehouse.Write("a1");
  warehouse.Shift();
  warehouse.catalog_script().shown = [](iceberg::TableMetadata& metadata) {
    metadata.current_snapshot_id.reset();
    metadata.refs.clear();
    metadata.snapshots.Erase(0);
    metadata.properties["firn.table-uuid"] = "00000000-0000-4000-8000-000000000000";
  };
  EXPECT_THAT(warehouse.TryShift().status().message(), HasSubstr("of this table's log"));
}

}  // namespace
}  // namespace firn::shift
