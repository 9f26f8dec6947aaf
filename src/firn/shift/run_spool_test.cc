#include "firn/shift/run_spool.h"

#include <gtest/gtest.h>

#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

/// A table whose merges may have three runs open.
class FewOpenRunsTest : public testing::Test {
 protected:
  FewOpenRunsTest() { warehouse_.options().iteration.writer.max_open_runs = 3; }

  void WriteOverlapping(int segments, std::int64_t rows) {
    for (int i = 0; i < segments; ++i) warehouse_.Write(NumberedRows(i, rows));
  }

  TestWarehouse warehouse_;
};

TEST_F(FewOpenRunsTest, NoRowIsLostAndAllAreInOrder) {
  WriteOverlapping(20, 5000);
  EXPECT_EQ(warehouse_.Shift().figures.rows, 100'000);
  warehouse_.ExpectWellShaped();
}

TEST_F(FewOpenRunsTest, EqualKeysKeepTheOrderOfTheirRuns) {
  std::string wanted;
  for (int i = 0; i < 12; ++i) {
    warehouse_.Write(fmt::format("k{}", i).c_str());
    wanted += fmt::format("{}k{}", i == 0 ? "" : " ", i);
  }
  warehouse_.Shift();
  EXPECT_EQ(warehouse_.Files(), "[" + wanted + "]");
}

TEST_F(FewOpenRunsTest, AlsoIfOneMergeMakesManyFiles) {
  auto& limits = warehouse_.options().iteration.limits;
  limits.lower_bound_input_bytes_per_task = 20'000;
  limits.upper_bound_input_bytes_per_task = 40'000;
  warehouse_.UseSmallRowGroups();
  WriteOverlapping(10, 5000);
  EXPECT_GT(warehouse_.Shift().figures.files(), 4);
  warehouse_.ExpectWellShaped();
}

TEST_F(FewOpenRunsTest, AlsoIfTheirRowsWereLandedBefore) {
  for (int i = 0; i < 8; ++i) {
    warehouse_.OpenShard();
    warehouse_.WriteParts(
        {{.range = wal::SourceRange{"load:x:0", 0, 2}, .rows = "a1 b2"}});
  }
  warehouse_.Shift();
  EXPECT_EQ(warehouse_.Files(), "[a1 b2]");
}

TEST_F(FewOpenRunsTest, RunsThatDoNotOverlapNeedNoFirstPass) {
  for (int i = 0; i < 8; ++i) warehouse_.Write(NumberedRows(i * 100, 100));
  warehouse_.Shift();
  warehouse_.ExpectWellShaped();
}

TEST(DiskRunSpoolTest, AStopEndsTheFirstPass) {
  StopSource stop;
  stop.RequestStop();
  const StopToken token = stop.token();
  DiskRunSpool spool(token);
  merge::SortedMerge rows({}, {});
  EXPECT_TRUE(IsError(spool.Keep(rows).status(), ErrorKind::kCancelled));
}

}  // namespace
}  // namespace firn::shift
