#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/shift/table_shift.h"
#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

using testing::HasSubstr;

/// Sizes of one run with these rows.
std::int64_t RunBytes(const std::vector<TestRow>& rows) {
  TestWarehouse warehouse;
  warehouse.Write(rows);
  return warehouse.Plan().input.runs.at(0).bytes;
}

/// Rows of a service that come one after another.
std::vector<TestRow> RowsOf(const std::string& service, std::int64_t first,
                            std::int64_t count) {
  std::vector<TestRow> rows = NumberedRows(first, count);
  for (TestRow& row : rows) row.key = service + " " + row.key;
  return rows;
}

TEST(WholeShiftTest, ATaskIsAFile) {
  constexpr std::int64_t kRows = 2000;
  const std::int64_t bytes = RunBytes(RowsOf("fat", 0, kRows));
  TestWarehouse warehouse;
  auto& limits = warehouse.options().iteration.limits;
  limits.lower_bound_input_bytes_per_task = bytes * 19 / 2;
  limits.upper_bound_input_bytes_per_task = bytes * 19;
  warehouse.options().iteration.writer.writer_max_parquet_bytes = 2 * bytes * 19;
  for (int i = 0; i < 30; ++i) {
    if (i % 10 == 0) warehouse.OpenShard();
    warehouse.Write(RowsOf("fat", i * kRows, kRows));
  }
  for (const char* service : {"thin1", "thin2", "thin3", "thin4", "thin5"}) {
    warehouse.Write(RowsOf(service, 0, kRows / 3));
  }
  const ShiftFigures figures = warehouse.Shift().figures;
  EXPECT_EQ(figures.clusters, 35);
  EXPECT_EQ(figures.files(), 3);
  EXPECT_EQ(figures.tail_merges, 1);
  EXPECT_EQ(figures.failover_rolls, 0);
  EXPECT_EQ(figures.commits, 1);
  warehouse.ExpectWellShaped();
}

TEST(WholeShiftTest, AFileSomewhatOverTheUpperBoundStaysOne) {
  std::vector<TestRow> rows = NumberedRows(0, 20'000);
  for (TestRow& row : rows) row.key = "one key: nowhere to cut";
  const std::int64_t upper = RunBytes(rows) * 2 / 3;
  TestWarehouse warehouse;
  auto& limits = warehouse.options().iteration.limits;
  limits.lower_bound_input_bytes_per_task = upper / 2;
  limits.upper_bound_input_bytes_per_task = upper;
  warehouse.options().iteration.writer.writer_max_parquet_bytes = 2 * upper;
  warehouse.Write(rows);
  const ShiftFigures figures = warehouse.Shift().figures;
  EXPECT_EQ(figures.oversized_clusters, 1);
  EXPECT_EQ(figures.files(), 1);
  EXPECT_EQ(figures.failover_rolls, 0);
}

TEST(WholeShiftTest, AnEmptyTenantHoldsTheTableUpUntilItIsAllowed) {
  TestWarehouse warehouse({.partition_by = "tenant"});
  auto& fields = warehouse.options().iteration.limits.non_empty_partition_fields;
  fields = {"tenant"};
  warehouse.Write("P/a1");
  warehouse.Write("/b2");
  warehouse.Write("P/c3");
  for (int attempt = 1; attempt <= 2; ++attempt) {
    const Status status = warehouse.TryShift().status();
    EXPECT_THAT(status.message(), HasSubstr("tenant is empty in n-"));
    EXPECT_THAT(status.message(), HasSubstr("/00000000000000000002 row group 0"));
    EXPECT_EQ(warehouse.Snapshots(), 0);
  }
  fields.clear();
  EXPECT_EQ(warehouse.Shift().figures.rows, 3);
  EXPECT_EQ(warehouse.Shift().figures.rows, 0);
}

/// What a shift asks of the table's store, by kind of object.
struct TableRequests {
  int data_puts = 0;
  int metadata_puts = 0;
  int data_gets = 0;
};

TEST(WholeShiftTest, AFileIsWrittenByOneRequestAndNotReadAgain) {
  TestWarehouse warehouse({.partition_by = "tenant"});
  TableRequests requests;
  warehouse.data_faults() = [&](const storage::StoreCall& call) {
    const bool is_data = call.key.find("/data/") != std::string::npos;
    const bool is_put = call.operation == storage::StoreOperation::kPutWhole;
    if (is_put) ++(is_data ? requests.data_puts : requests.metadata_puts);
    const bool is_get = call.operation == storage::StoreOperation::kGetRange ||
                        call.operation == storage::StoreOperation::kGetWhole;
    if (is_get && is_data) ++requests.data_gets;
    return storage::kPass;
  };
  for (const char* rows : {"P/a1 Q/b2 R/c3", "P/d4 Q/e5 R/f6"}) warehouse.Write(rows);
  EXPECT_EQ(warehouse.Shift().figures.files(), 3);
  EXPECT_EQ(requests.data_puts, 3);
  EXPECT_LE(requests.metadata_puts, 3);
  EXPECT_EQ(requests.data_gets, 0);
}

}  // namespace
}  // namespace firn::shift
