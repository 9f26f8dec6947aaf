#include <gtest/gtest.h>

#include "firn/shift/table_shift.h"
#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

constexpr std::size_t kSegments = 40;

/// Requests to the WAL's store for each segment, planning and shift together, if each
/// segment is read by many tasks.
double RequestsPerSegment(std::int64_t spool_memory_bytes,
                          std::size_t iteration_segments = kIterationSegmentsMax) {
  TestWarehouse warehouse;
  warehouse.options().iteration.iteration_segments = iteration_segments;
  auto& limits = warehouse.options().iteration.limits;
  limits.lower_bound_input_bytes_per_task = 20'000;
  limits.upper_bound_input_bytes_per_task = 40'000;
  warehouse.UseSmallRowGroups();
  warehouse.options().spool_memory_bytes = spool_memory_bytes;
  for (std::size_t i = 0; i < kSegments; ++i) {
    if (i % 10 == 0) warehouse.OpenShard();
    std::vector<TestRow> rows = NumberedRows(i, 2000);
    for (TestRow& row : rows) row.key = fmt::format("{:09}", row.number * 37);
    warehouse.Write(rows);
  }
  const storage::RequestCounts before = warehouse.wal_requests();
  int reads_of_table = 0;
  warehouse.data_faults() = [&](const storage::StoreCall& call) {
    const bool is_read = call.operation == storage::StoreOperation::kGetRange ||
                         call.operation == storage::StoreOperation::kGetWhole ||
                         call.operation == storage::StoreOperation::kList;
    if (is_read) ++reads_of_table;
    return storage::kPass;
  };
  const ShiftFigures figures = warehouse.Shift().figures;
  EXPECT_GE(figures.files(), 10);
  const storage::RequestCounts after = warehouse.wal_requests();
  warehouse.data_faults() = nullptr;
  if (iteration_segments >= kSegments) warehouse.ExpectWellShaped();
  EXPECT_EQ(after.puts - before.puts, figures.commits) << "notes of the batches";
  EXPECT_EQ(after.gets - before.gets, 2 * kSegments) << "a footer and a body each";
  EXPECT_EQ(reads_of_table, 0) << "an own output was read again";
  const double requests =
      static_cast<double>(after.gets + after.lists - before.gets - before.lists);
  fmt::print("requests per segment: {:.2f}\n", requests / kSegments);
  return requests / kSegments;
}

TEST(RequestsTest, ASegmentIsAskedForItsFooterAndItsBodyOnce) {
  EXPECT_LE(RequestsPerSegment(1LL << 30), 2.2);
}

TEST(RequestsTest, AlsoIfIterationsTakeFewSegments) {
  EXPECT_LE(RequestsPerSegment(1LL << 30, kSegments / 2), 2.2);
}

TEST(RequestsTest, AlsoIfTheSpoolGoesToTheDisk) {
  EXPECT_LE(RequestsPerSegment(50'000), 2.2);
  EXPECT_LE(RequestsPerSegment(0), 2.2);
}

}  // namespace
}  // namespace firn::shift
