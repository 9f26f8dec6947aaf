#include "firn/merge/limit_open_runs.h"

#include <algorithm>
#include <string>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include "firn/merge/fake_input.h"

namespace firn::merge {
namespace {

/// A run of record batches in memory.
class KeptInput final : public MergeInput, public RunReader {
 public:
  explicit KeptInput(std::vector<RunBatch> batches) : batches_(std::move(batches)) {}

  std::string_view first_key() const override { return batches_.front().keys[0]; }
  std::optional<std::string_view> last_key() const override {
    return batches_.back().keys[batches_.back().keys.size() - 1];
  }
  bool is_whole_row_group() const override { return false; }
  Result<std::unique_ptr<RunReader>> Open() override {
    return std::make_unique<KeptInput>(batches_);
  }
  Result<RunBatch> Next() override {
    return next_ == batches_.size() ? RunBatch{} : batches_[next_++];
  }

 private:
  const std::vector<RunBatch> batches_;
  std::size_t next_ = 0;
};

/// Keeps runs in memory, and counts them.
class MemorySpool final : public RunSpool {
 public:
  Result<std::unique_ptr<MergeInput>> Keep(SortedMerge& rows) override {
    ++runs;
    std::vector<RunBatch> batches;
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const MergeStep step, rows.Next());
      if (std::holds_alternative<MergeEnd>(step)) break;
      const MergedRows& merged = std::get<MergedRows>(step);
      RunBatch batch;
      FIRN_ASSIGN_OR_RETURN(batch.rows, merged.Gather());
      for (std::int64_t row = 0; row < merged.rows; ++row) {
        batch.keys.bytes += merged.KeyAt(row);
        batch.keys.offsets.push_back(batch.keys.bytes.size());
      }
      batches.push_back(std::move(batch));
    }
    return std::make_unique<KeptInput>(std::move(batches));
  }

  int runs = 0;
};

FakeRun Range(std::string first, std::string last) {
  return FakeRun{.keys = {std::move(first), std::move(last)}};
}

/// The rows of a merge, as "<key><run>.<row> ...".
std::string Merge(std::vector<std::unique_ptr<MergeInput>> inputs) {
  SortedMerge merge(std::move(inputs), {});
  std::string out;
  while (true) {
    const Result<MergeStep> step = merge.Next();
    if (!step.ok()) return step.status().ToString();
    const auto* merged = std::get_if<MergedRows>(&*step);
    if (merged == nullptr) return out;
    const auto rows = merged->Gather().ValueOrDie();
    const auto value = [&](int column, std::int64_t row) {
      return static_cast<const arrow::Int32Array&>(*rows->column(column)).Value(row);
    };
    for (std::int64_t row = 0; row < merged->rows; ++row) {
      out += fmt::format("{}{}.{} ", merged->KeyAt(row), value(0, row), value(1, row));
    }
  }
}

TEST(OverlapDepthTest, CountsRangesThatHoldOneKey) {
  const auto depth = [](const std::vector<FakeRun>& runs) {
    return OverlapDepth(MakeFakeInputs(runs));
  };
  EXPECT_EQ(depth({}), 0);
  EXPECT_EQ(depth({Range("a", "b"), Range("c", "d")}), 1);
  EXPECT_EQ(depth({Range("a", "b"), Range("b", "c")}), 2);
  EXPECT_EQ(depth({Range("a", "z"), Range("b", "c"), Range("d", "e")}), 2);
  FakeRun unbounded = Range("a", "b");
  unbounded.last_key_unbounded = true;
  EXPECT_EQ(depth({unbounded, Range("c", "d"), Range("e", "f")}), 2);
}

TEST(LimitOpenRunsTest, WhatMayBeOpenStaysAsItIs) {
  MemorySpool spool;
  auto inputs = MakeFakeInputs({Range("a", "c"), Range("b", "d"), Range("x", "y")});
  const MergeInput* first = inputs[0].get();
  const auto limited = LimitOpenRuns(std::move(inputs), 2, spool);
  ASSERT_TRUE(limited.ok());
  EXPECT_EQ(spool.runs, 0);
  EXPECT_EQ((*limited)[0].get(), first);
}

TEST(LimitOpenRunsTest, OnlyTheDeepClusterIsMergedFirst) {
  MemorySpool spool;
  std::vector<FakeRun> runs = {Range("a", "c"), Range("x", "y"), Range("b", "d"),
                               Range("b", "c"), Range("a", "d")};
  // Even a run that meets no other of its group is opened.
  for (FakeRun& run : runs) run.is_whole_row_group = true;
  const auto limited = LimitOpenRuns(MakeFakeInputs(runs), 2, spool);
  ASSERT_TRUE(limited.ok());
  EXPECT_EQ(spool.runs, 2);
  EXPECT_EQ(limited->size(), 3);
  EXPECT_TRUE((*limited)[1]->is_whole_row_group());
}

TEST(LimitOpenRunsTest, RowsAndTheirOrderStayTheSame) {
  SeededRandom random;
  for (int round = 0; round < 200; ++round) {
    std::vector<FakeRun> runs(random() % 30);
    for (FakeRun& run : runs) {
      run.keys.resize(1 + random() % 5);
      for (std::string& key : run.keys) key = static_cast<char>('a' + random() % 20);
      std::ranges::sort(run.keys);
    }
    const auto max_open_runs = static_cast<std::int64_t>(1 + random() % 6);
    MemorySpool spool;
    auto limited = LimitOpenRuns(MakeFakeInputs(runs), max_open_runs, spool);
    ASSERT_TRUE(limited.ok()) << limited.status().ToString();
    EXPECT_LE(OverlapDepth(*limited), std::max<std::int64_t>(max_open_runs, 2));
    ASSERT_EQ(Merge(std::move(*limited)), Merge(MakeFakeInputs(runs)));
  }
}

}  // namespace
}  // namespace firn::merge
