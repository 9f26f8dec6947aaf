#include "firn/shift/task.h"

#include <gtest/gtest.h>

#include "firn/planner/notation.h"

namespace firn::shift {
namespace {

/// Plans runs (see planner/notation.h) with bounds 10 and 20, and tells the tasks: "2 1"
/// are two chunks written one after the other, then one; "=3" are three of one merge.
std::string Tasks(std::string_view text) {
  const planner::Runs runs(text);
  const planner::Limits limits = {.lower_bound_input_bytes_per_task = 10,
                                  .upper_bound_input_bytes_per_task = 20};
  const planner::Plan plan = MakePlan(runs.input(), limits, StopToken()).ValueOrDie();
  std::vector<std::string> texts;
  for (const Task& task : MakeTasks(runs.input(), plan.chunks, limits)) {
    texts.push_back(
        fmt::format("{}{}", task.is_one_merge ? "=" : "", task.end - task.begin));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

TEST(TaskTest, AWellSizedChunkIsATask) {
  EXPECT_EQ(Tasks("a-b:15 c-d:15 e-f:15"), "1 1 1");
}

TEST(TaskTest, SmallChunksOfManyPartitionsShareTasks) {
  EXPECT_EQ(Tasks("A/a:5 B/a:5 C/a:5 D/a:5 E/a:5 F/a:5"), "4 2");
}

TEST(TaskTest, ASmallChunkDoesNotJoinALargeOne) {
  EXPECT_EQ(Tasks("A/a:5 B/a:12 C/a:5 D/a:5"), "1 1 2");
}

TEST(TaskTest, PartsCutOutOfOneRunAreOneMerge) {
  EXPECT_EQ(Tasks("a-z:60@g=0.25,m=0.5,s=0.75"), "=4");
}

TEST(TaskTest, OneMergeTakesFourUpperBoundsAtMost) {
  EXPECT_EQ(Tasks("a-z:180@c=0.1,e=0.2,g=0.3,i=0.4,k=0.5,m=0.6,o=0.7,q=0.8,s=0.9"),
            "=4 =4 =2");
}

TEST(TaskTest, PartsWithoutACommonRunAreTasksOfTheirOwn) {
  EXPECT_EQ(Tasks("a-f:15 f-m:15"), "1 1");
}

TEST(TaskTest, PartsThatNoKeyCutsAreTasksOfTheirOwn) {
  EXPECT_EQ(Tasks("a:15 a:15 a:15"), "1 1 1");
}

TEST(TaskTest, NoChunksAreNoTasks) { EXPECT_EQ(Tasks(""), ""); }

}  // namespace
}  // namespace firn::shift
