#include "firn/shift/chunk_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

/// Writes the parts of one oversized cluster by one merge, and one by one.
class OneMergeTest : public testing::Test {
 protected:
  void SetBounds(std::int64_t lower, std::int64_t upper) {
    auto& limits = warehouse_.options().iteration.limits;
    limits.lower_bound_input_bytes_per_task = lower;
    limits.upper_bound_input_bytes_per_task = upper;
  }

  std::vector<ChunkFiles> Write(const PlannedIteration& planned,
                                const std::vector<Task>& tasks, const std::string& name) {
    NewFiles files(warehouse_.runtime(), warehouse_.io());
    const ChunkWriter writer(files, planned.start.metadata, planned.input,
                             planned.plan.chunks, planned.segments, {});
    std::vector<ChunkFiles> written(planned.plan.chunks.size());
    for (const Task& task : tasks) {
      const StopToken stop;
      const ChunkWriter::Done done = [&](std::size_t chunk, ChunkFiles files) {
        EXPECT_TRUE(written[chunk].files.empty());
        written[chunk] = std::move(files);
      };
      const Status status =
          writer.Write(task, {.name = name, .stop = stop, .done = done});
      EXPECT_TRUE(status.ok()) << status;
    }
    return written;
  }

  /// Expects the same files from both; gives those of the one merge.
  std::vector<ChunkFiles> WriteBothWays() {
    const PlannedIteration& planned = warehouse_.Plan();
    const std::size_t count = planned.plan.chunks.size();
    EXPECT_GE(count, 2U);
    const std::vector<Task> tasks = MakeTasks(planned.input, planned.plan.chunks,
                                              warehouse_.options().iteration.limits);
    EXPECT_TRUE(tasks.at(0).is_one_merge);
    std::vector<Task> single;
    for (std::size_t i = 0; i < count; ++i) single.push_back({.begin = i, .end = i + 1});
    const auto together = Write(planned, tasks, "together");
    const auto apart = Write(planned, single, "apart");
    for (std::size_t i = 0; i < count; ++i) ExpectSame(together[i], apart[i]);
    return together;
  }

  void ExpectSame(const ChunkFiles& a, const ChunkFiles& b) {
    EXPECT_EQ(a.rows, b.rows);
    EXPECT_EQ(a.verbatim_bytes, b.verbatim_bytes);
    ASSERT_EQ(a.files.size(), b.files.size());
    for (std::size_t i = 0; i < a.files.size(); ++i) {
      EXPECT_TRUE(warehouse_.ReadRows(a.files[i]) == warehouse_.ReadRows(b.files[i]));
      EXPECT_EQ(a.files[i].lower_bounds, b.files[i].lower_bounds);
      EXPECT_EQ(a.files[i].upper_bounds, b.files[i].upper_bounds);
      EXPECT_EQ(a.files[i].value_counts, b.files[i].value_counts);
    }
  }

  TestWarehouse warehouse_;
};

TEST_F(OneMergeTest, GivesTheFilesOfSeveral) {
  warehouse_.UseSmallRowGroups();
  SetBounds(5000, 10'000);
  for (int run = 0; run < 3; ++run) {
    std::vector<TestRow> rows = NumberedRows(0, 6000);
    // Many rows of a key, in all runs: ties must be broken alike.
    for (TestRow& row : rows) {
      row.key = fmt::format("{:09}", row.number / 7);
      row.number = 10 * row.number + run;
    }
    warehouse_.Write(rows);
  }
  EXPECT_GE(WriteBothWays().size(), 3U);
}

TEST_F(OneMergeTest, ACutRunIsNeverCopied) {
  SetBounds(20'000, 40'000);
  warehouse_.Write(NumberedRows(0, 70'000));
  for (const ChunkFiles& files : WriteBothWays()) EXPECT_EQ(files.verbatim_bytes, 0);
}

TEST_F(OneMergeTest, AWholeRunBetweenTheKeysOfACutOneIsCopied) {
  warehouse_.Write(NumberedRows(1, 70'000));
  warehouse_.Write(NumberedRows(100'000, 70'000));
  warehouse_.Write({{{.key = "000000000"}, {.key = "000300000"}}});
  const std::int64_t bytes = warehouse_.Plan().input.runs.front().bytes;
  SetBounds(bytes / 2, bytes * 5 / 4);
  for (const ChunkFiles& files : WriteBothWays()) EXPECT_GT(files.verbatim_bytes, 0);
}

TEST_F(OneMergeTest, APartWithoutNewRowsMakesNoFile) {
  warehouse_.UseSmallRowGroups();
  SetBounds(5000, 10'000);
  constexpr const char* kSource = "load:x:0";
  warehouse_.WriteParts(
      {{wal::SourceRange{kSource, 0, 10'000}, NumberedRows(0, 10'000)}});
  warehouse_.Shift();
  warehouse_.OpenShard();
  warehouse_.WriteParts(
      {{wal::SourceRange{kSource, 0, 11'000}, NumberedRows(0, 11'000)}});
  const std::vector<ChunkFiles> written = WriteBothWays();
  EXPECT_TRUE(written.front().files.empty());
  EXPECT_EQ(written.back().files.size(), 1U);
}

}  // namespace
}  // namespace firn::shift
