#include "firn/shift/task_memory.h"

#include <algorithm>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>
#include <gtest/gtest.h>

#include "firn/shift/test_warehouse.h"
#include "firn/storage/upload_buffer.h"

namespace firn::shift {
namespace {

class TaskMemoryTest : public testing::Test {
 protected:
  static std::vector<std::int64_t> Estimates(TestWarehouse& warehouse,
                                             std::int64_t upload_buffer_bytes = 0) {
    const PlannedIteration& planned = warehouse.Plan();
    std::vector<std::int64_t> estimates;
    const auto& writer = warehouse.options().iteration.writer;
    for (const Task& task : MakeTasks(planned.input, planned.plan.chunks,
                                      warehouse.options().iteration.limits)) {
      const TaskMemory memory(
          planned.input, planned.plan.chunks, planned.segments, task,
          {.writer = writer, .upload_buffer_bytes = upload_buffer_bytes});
      estimates.push_back(memory.BytesWith(writer.max_open_runs));
    }
    return estimates;
  }

  /// Of four runs, each `distance` behind the one before.
  static std::int64_t OfRunsApart(std::int64_t distance, const std::string& sort_by,
                                  std::int64_t max_open_runs = 1024) {
    TestWarehouse warehouse({.sort_by = sort_by});
    warehouse.options().iteration.writer.max_open_runs = max_open_runs;
    for (int i = 0; i < 4; ++i) warehouse.Write(NumberedRows(distance * i, 20'000));
    return Estimates(warehouse).at(0);
  }
};

TEST_F(TaskMemoryTest, OnlyRunsOverOneKeyAreOpenTogether) {
  const std::int64_t overlapping = OfRunsApart(1, "key");
  const std::int64_t in_pairs = OfRunsApart(15'000, "key");
  const std::int64_t disjoint = OfRunsApart(20'000, "key");
  EXPECT_GT(overlapping, in_pairs * 3 / 2);
  EXPECT_GT(in_pairs, disjoint * 5 / 4);
}

TEST_F(TaskMemoryTest, UnsortedRunsAreReadOneAfterTheOther) {
  EXPECT_LT(OfRunsApart(1, ""), OfRunsApart(15'000, "key"));
}

TEST_F(TaskMemoryTest, NoMoreRunsAreOpenThanMayBe) {
  EXPECT_LT(OfRunsApart(1, "key", 2) * 3 / 2, OfRunsApart(1, "key"));
}

TEST_F(TaskMemoryTest, AsManyRunsAreOpenAsFit) {
  TestWarehouse warehouse({.sort_by = "key"});
  for (int i = 0; i < 8; ++i) warehouse.Write(NumberedRows(i, 20'000));
  const PlannedIteration& planned = warehouse.Plan();
  const auto& writer = warehouse.options().iteration.writer;
  const Task task =
      MakeTasks(planned.input, planned.plan.chunks, warehouse.options().iteration.limits)
          .at(0);
  const TaskMemory memory(planned.input, planned.plan.chunks, planned.segments, task,
                          {.writer = writer});
  for (const std::int64_t open_runs : {2, 3, 5, 7}) {
    EXPECT_EQ(memory.OpenRunsWithin(memory.BytesWith(open_runs)), open_runs);
    EXPECT_EQ(memory.OpenRunsWithin(memory.BytesWith(open_runs + 1) - 1), open_runs);
  }
  EXPECT_EQ(memory.OpenRunsWithin(memory.BytesWith(8)), writer.max_open_runs);
  EXPECT_EQ(memory.OpenRunsWithin(0), kOpenRunsLeast);
}

/// Rows of a few long texts: a dictionary makes almost nothing of them.
std::vector<TestRow> RowsOfLongTexts(std::int64_t first, std::int64_t count) {
  std::vector<TestRow> rows = NumberedRows(first, count);
  for (TestRow& row : rows) {
    row.tenant = std::string(8192, static_cast<char>('a' + row.number % 4));
  }
  return rows;
}

TEST_F(TaskMemoryTest, DecodedTextsAreCountedNotTheirDictionary) {
  TestWarehouse warehouse({.sort_by = "key"});
  for (int i = 0; i < 4; ++i) warehouse.Write(RowsOfLongTexts(i, 3000));
  const PlannedIteration& planned = warehouse.Plan();
  const types::Schema schema = CurrentSchema(planned.start.metadata);
  std::int64_t batches_bytes = 0;
  for (const auto& segment : planned.segments) {
    const BatchShape& shape = segment->batch_shapes.at(0);
    EXPECT_LT(shape.bytes, 2 * kRunBatchBytes);
    const auto rows =
        ReadRowGroup(segment->RowGroup(0), schema, 0, shape.rows, shape.rows)
            .ValueOrDie();
    const auto batch = rows->Next().ValueOrDie();
    EXPECT_LE(arrow::util::ReferencedBufferSize(*batch).ValueOrDie(), shape.bytes);
    batches_bytes += shape.bytes;
  }
  EXPECT_GT(Estimates(warehouse).at(0), 2 * batches_bytes);
}

/// Beside what is there at the start, whenever `run` reads or writes.
std::int64_t MostAllocated(TestWarehouse& warehouse, const std::function<void()>& run) {
  const arrow::MemoryPool& pool = *arrow::default_memory_pool();
  const std::int64_t before = pool.bytes_allocated();
  std::int64_t most = 0;
  const auto look = [&](const storage::StoreCall&) {
    most = std::max(most, pool.bytes_allocated() - before);
    return storage::kPass;
  };
  warehouse.wal_faults() = look;
  warehouse.data_faults() = look;
  run();
  return most;
}

TEST_F(TaskMemoryTest, LongTextsStayWithinTheLimit) {
  constexpr std::int64_t kLimit = 48LL << 20;
  TestWarehouse warehouse({.sort_by = "key", .memory_limit = kLimit});
  // Decoded, ten times the limit.
  for (int i = 0; i < 30; ++i) warehouse.Write(RowsOfLongTexts(i, 2000));
  const std::int64_t most = MostAllocated(warehouse, [&] { warehouse.Shift(); });
  EXPECT_LE(most, kLimit);
  EXPECT_EQ(warehouse.FileRows().at(0).size(), 60'000U);
}

TEST_F(TaskMemoryTest, WhatTheStoreHoldsOfAFileIsCounted) {
  TestWarehouse warehouse;
  warehouse.Write("a1");
  const std::int64_t part = storage::UploadBufferBytes("s3://bucket/table");
  EXPECT_GE(part, 5 << 20);
  EXPECT_EQ(Estimates(warehouse, part).at(0), Estimates(warehouse).at(0) + part);
  EXPECT_EQ(storage::UploadBufferBytes("file:///table"), 0);
}

TEST_F(TaskMemoryTest, ATaskIsNeverThoughtToNeedNothing) {
  TestWarehouse warehouse;
  warehouse.Write("a1");
  EXPECT_GT(Estimates(warehouse).at(0), 0);
}

TEST_F(TaskMemoryTest, TasksThatDoNotFitTogetherWaitForEachOther) {
  TestWarehouse warehouse({.partition_by = "tenant", .memory_limit = 1});
  auto& iteration = warehouse.options().iteration;
  iteration.limits.lower_bound_input_bytes_per_task = 1;
  iteration.limits.upper_bound_input_bytes_per_task = 1 << 20;
  iteration.workers = 4;
  for (const char* tenant : {"P", "Q", "R", "S", "T", "U"}) {
    std::vector<TestRow> rows = NumberedRows(0, 3000);
    for (TestRow& row : rows) row.tenant = tenant;
    warehouse.Write(rows);
  }
  const std::vector<std::int64_t> estimates = Estimates(warehouse);
  ASSERT_EQ(estimates.size(), 6U);
  const std::int64_t most = std::ranges::max(estimates);
  warehouse.observer().on_chunk = [&] {
    const std::int64_t used = warehouse.memory().used_bytes();
    EXPECT_GT(used, 0);
    EXPECT_LE(used, most);
  };
  EXPECT_EQ(warehouse.Shift().figures.files(), 6);
  EXPECT_EQ(warehouse.memory().used_bytes(), 0);
}

TEST_F(TaskMemoryTest, AStopEndsTheWaitForMemory) {
  TestWarehouse warehouse({.memory_limit = 1});
  warehouse.Write("a1");
  const MemoryReservation held = warehouse.memory().Reserve(1, StopToken()).ValueOrDie();
  StopSource stop;
  Thread stopper;
  warehouse.observer().on_planned = [&](const PlannedIteration&) {
    stopper = Thread(warehouse.runtime(), "stopper", [&] { stop.RequestStop(); });
  };
  EXPECT_TRUE(IsError(warehouse.TryShift(stop.token()).status(), ErrorKind::kCancelled));
  EXPECT_EQ(warehouse.Snapshots(), 0);
}

}  // namespace
}  // namespace firn::shift
