#include "firn/shift/shift_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

using testing::HasSubstr;

class ShiftFiguresTest : public testing::Test {
 protected:
  void ExpectMetric(const std::string& name, std::int64_t value) {
    EXPECT_THAT(warehouse_.metrics().Text(),
                HasSubstr(fmt::format("firn_shift_{}{{table=\"demo.events\"}} {}\n", name,
                                      value)));
  }

  void ExpectMetrics(const ShiftFigures& figures) {
    ExpectMetric("commits_total", figures.commits);
    ExpectMetric("segments_total", figures.segments);
    ExpectMetric("input_bytes_total", figures.input_bytes);
    ExpectMetric("rows_total", figures.rows);
    ExpectMetric("output_bytes_total", figures.output_bytes);
    ExpectMetric("verbatim_bytes_total", figures.verbatim_bytes);
    ExpectMetric("failover_rolls_total", figures.failover_rolls);
    ExpectMetric("planner_clusters_total", figures.clusters);
    ExpectMetric("planner_oversized_clusters_total", figures.oversized_clusters);
    ExpectMetric("planner_uncut_parts_total", figures.uncut_parts);
    ExpectMetric("planner_tail_merges_total", figures.tail_merges);
    ExpectMetric("planner_overlap_depth", figures.overlap_depth_max.value_or(0));
    ExpectMetric("file_bytes_count", figures.files());
    ExpectMetric("file_bytes_sum", figures.output_bytes);
  }

  TestWarehouse warehouse_;
};

TEST_F(ShiftFiguresTest, AreThoseOfThePlanAndOfTheFiles) {
  auto& limits = warehouse_.options().iteration.limits;
  limits.lower_bound_input_bytes_per_task = 10'000;
  limits.upper_bound_input_bytes_per_task = 20'000;
  warehouse_.UseSmallRowGroups();
  for (int i = 0; i < 3; ++i) warehouse_.Write(NumberedRows(i, 5000));
  warehouse_.Write(NumberedRows(10'000, 1));
  const planner::Stats stats = warehouse_.Plan().plan.stats;
  const ShiftFigures figures = warehouse_.Shift().figures;
  EXPECT_EQ(figures.oversized_clusters, 1);
  EXPECT_EQ(figures.clusters, 2);
  EXPECT_EQ(figures.tail_merges, stats.tail_merges);
  EXPECT_EQ(figures.overlap_depth_max, 1);
  EXPECT_EQ(figures.rows, 15'001);
  EXPECT_EQ(figures.files(), static_cast<std::int64_t>(warehouse_.DataFiles().size()));
  ExpectMetrics(figures);
}

TEST_F(ShiftFiguresTest, MetricsAddUpOverShifts) {
  warehouse_.Write("a1 b2");
  ShiftFigures sum = warehouse_.Shift().figures;
  warehouse_.Write("a3");
  Add(warehouse_.Shift().figures, sum);
  EXPECT_EQ(sum.rows, 3);
  EXPECT_EQ(sum.commits, 2);
  ExpectMetrics(sum);
}

TEST_F(ShiftFiguresTest, FailoverRollsAndVerbatimBytesAreCounted) {
  warehouse_.options().iteration.writer.writer_max_parquet_bytes = 1000;
  warehouse_.Write(NumberedRows(0, 70'000));
  warehouse_.Write(NumberedRows(100'000, 20'000));
  const ShiftFigures figures = warehouse_.Shift().figures;
  EXPECT_GT(figures.verbatim_bytes, 0);
  EXPECT_GE(figures.failover_rolls, 1);
  ExpectMetrics(figures);
}

TEST_F(ShiftFiguresTest, SupersededIterationsAreCountedApart) {
  warehouse_.Write("a1");
  warehouse_.observer().on_planned = [&](const PlannedIteration&) {
    warehouse_.observer().on_planned = nullptr;
    TestObserver other;
    EXPECT_TRUE(warehouse_.NewShift().Run(StopToken(), other).ok());
  };
  warehouse_.Shift();
  ExpectMetric("superseded_total", 1);
  ExpectMetric("rows_total", 1);
}

}  // namespace
}  // namespace firn::shift
