#include "firn/merge/sorted_merge.h"

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <tuple>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/merge/fake_input.h"

namespace firn::merge {
namespace {

struct Row {
  std::string key;
  std::int32_t run = 0;
  std::int32_t row = 0;

  auto operator<=>(const Row&) const = default;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << fmt::format("{}:{}.{}", testing::PrintToString(row.key), row.run, row.row);
}

std::int32_t ValueAt(const RunBatch& batch, int column, std::int64_t row) {
  return static_cast<const arrow::Int32Array&>(*batch.rows->column(column)).Value(row);
}

/// All that a merge gives, and the inputs that came out whole.
struct Merged {
  std::vector<Row> rows;
  std::vector<std::size_t> whole;
  Status status;
};

void AppendRows(const MergedRows& step, Merged& merged) {
  std::int64_t of_previous_key = 0;
  const std::string previous = merged.rows.empty() ? "" : merged.rows.back().key;
  std::int64_t at = 0;
  for (const Span& span : step.spans) {
    const RunBatch& batch = *step.sources[span.source];
    for (std::int64_t row = span.from; row < span.from + span.count; ++row, ++at) {
      merged.rows.push_back(
          {std::string(step.KeyAt(at)), ValueAt(batch, 0, row), ValueAt(batch, 1, row)});
      const bool repeats = static_cast<std::size_t>(at + 1) < merged.rows.size() &&
                           merged.rows.back().key == previous;
      of_previous_key += repeats ? 1 : 0;
    }
  }
  ASSERT_EQ(step.rows, at);
  ASSERT_EQ(step.rows_of_previous_key, of_previous_key);
}

void AppendWhole(const FakeRun& run, std::int32_t number, Merged& merged) {
  merged.whole.push_back(static_cast<std::size_t>(number));
  for (std::size_t row = 0; row < run.keys.size(); ++row) {
    merged.rows.push_back({run.keys[row], number, static_cast<std::int32_t>(row)});
  }
}

Merged MergeAll(const std::vector<FakeRun>& runs, MergeOptions options) {
  SortedMerge merge(MakeFakeInputs(runs), options);
  Merged merged;
  while (true) {
    Result<MergeStep> step = merge.Next();
    merged.status = step.status();
    if (!step.ok() || std::holds_alternative<MergeEnd>(*step)) return merged;
    if (const auto* whole = std::get_if<WholeRowGroup>(&*step)) {
      const auto number = static_cast<std::int32_t>(whole->input);
      AppendWhole(runs[whole->input], number, merged);
    } else {
      AppendRows(std::get<MergedRows>(*step), merged);
    }
  }
}

std::vector<Row> StableSort(const std::vector<FakeRun>& runs) {
  Merged all;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    AppendWhole(runs[run], static_cast<std::int32_t>(run), all);
  }
  std::ranges::stable_sort(all.rows, {}, &Row::key);
  return all.rows;
}

/// "a c e" is a run of three rows with one-letter keys.
FakeRun Rows(std::string_view letters) {
  FakeRun run;
  for (const char letter : letters) {
    if (letter != ' ') run.keys.emplace_back(1, letter);
  }
  return run;
}

FakeRun Whole(std::string_view letters) {
  FakeRun run = Rows(letters);
  run.is_whole_row_group = true;
  return run;
}

/// What happens, in order: "open0" when a run is opened, "a0" for a row with key a of run
/// 0, "[0]" for all of run 0. One row a step.
std::string Trace(const std::vector<FakeRun>& runs, bool sorted = true) {
  std::vector<std::string> trace;
  SortedMerge merge(MakeFakeInputs(runs, &trace), {.sorted = sorted, .batch_rows = 1});
  while (true) {
    Result<MergeStep> step = merge.Next();
    if (!step.ok()) return step.status().ToString();
    if (std::holds_alternative<MergeEnd>(*step)) break;
    if (const auto* whole = std::get_if<WholeRowGroup>(&*step)) {
      trace.push_back(fmt::format("[{}]", whole->input));
      continue;
    }
    const auto& rows = std::get<MergedRows>(*step);
    trace.push_back(fmt::format("{}{}", rows.KeyAt(0),
                                ValueAt(*rows.sources[0], 0, rows.spans[0].from)));
  }
  return fmt::format("{}", fmt::join(trace, " "));
}

TEST(SortedMergeTest, NoInputsEndAtOnce) { EXPECT_EQ(Trace({}), ""); }

TEST(SortedMergeTest, RowsComeInKeyOrder) {
  EXPECT_EQ(Trace({Rows("a c e"), Rows("b d")}), "open0 a0 open1 b1 c0 d1 e0");
}

TEST(SortedMergeTest, EqualKeysKeepRunOrder) {
  EXPECT_EQ(Trace({Rows("b b"), Rows("a b"), Rows("b")}),
            "open1 a1 open0 b0 b0 b1 open2 b2");
}

TEST(SortedMergeTest, RunIsOpenedWhenItsFirstKeyIsReached) {
  EXPECT_EQ(Trace({Rows("x"), Rows("m n"), Rows("a b")}),
            "open2 a2 b2 open1 m1 n1 open0 x0");
}

TEST(SortedMergeTest, RunWithoutRowsIsPassedOver) {
  EXPECT_EQ(Trace({Rows(""), Rows("a")}), "open0 open1 a1");
}

TEST(SortedMergeTest, FirstKeyMayBeTruncated) {
  FakeRun truncated = Rows("c d");
  truncated.first_key = "a";
  EXPECT_EQ(Trace({Rows("b"), truncated}), "open1 open0 b0 c1 d1");
}

TEST(SortedMergeTest, RowGroupThatMeetsNothingStaysWhole) {
  EXPECT_EQ(Trace({Whole("c d"), Rows("a b"), Whole("e f")}), "open1 a1 b1 [0] [2]");
}

TEST(SortedMergeTest, RowGroupInAGapOfAnotherRunStaysWhole) {
  EXPECT_EQ(Trace({Rows("a x"), Whole("m n")}), "open0 a0 [1] x0");
}

TEST(SortedMergeTest, TouchingIsMeeting) {
  EXPECT_EQ(Trace({Whole("a b"), Whole("b c")}), "open0 a0 b0 open1 b1 c1");
  EXPECT_EQ(Trace({Rows("a b"), Whole("b c")}), "open0 a0 b0 open1 b1 c1");
  EXPECT_EQ(Trace({Whole("b c"), Rows("a b")}), "open1 a1 open0 b0 b1 c0");
}

TEST(SortedMergeTest, RowGroupWithoutLastKeyStaysWholeOnlyAsTheLast) {
  FakeRun unbounded = Whole("b");
  unbounded.last_key_unbounded = true;
  EXPECT_EQ(Trace({unbounded, Rows("c")}), "open0 b0 open1 c1");
  EXPECT_EQ(Trace({unbounded, Rows("a")}), "open1 a1 [0]");
}

TEST(SortedMergeTest, TruncatedBoundsOnlyMakeItOpenMore) {
  FakeRun raised = Whole("b");
  raised.last_key = "d";
  EXPECT_EQ(Trace({raised, Rows("c")}), "open0 b0 open1 c1");
  FakeRun lowered = Whole("c");
  lowered.first_key = "a";
  EXPECT_EQ(Trace({Rows("b"), lowered}), "open1 open0 b0 c1");
}

TEST(SortedMergeTest, UnsortedRunsFollowEachOther) {
  EXPECT_EQ(Trace({Rows("b a"), Whole("z"), Rows(""), Rows("a")}, /*sorted=*/false),
            "open0 b0 a0 [1] open2 open3 a3");
}

TEST(SortedMergeTest, LongRunIsOneSpanAndHardlyCompared) {
  FakeRun first;
  FakeRun second;
  for (int i = 0; i < 3000; ++i) {
    first.keys.push_back(fmt::format("first {:05}", i));
    second.keys.push_back(fmt::format("second {:05}", i));
  }
  first.batch_rows = second.batch_rows = 3000;
  SortedMerge merge(MakeFakeInputs({first, second}), {});
  const Result<MergeStep> step = merge.Next();
  ASSERT_TRUE(step.ok());
  const auto& rows = std::get<MergedRows>(*step);
  EXPECT_THAT(rows.spans, testing::ElementsAre(Span{0, 3000, 0}, Span{1, 3000, 0}));
  EXPECT_LT(merge.key_comparisons(), 20);
}

TEST(SortedMergeTest, StepsAreBounded) {
  SortedMerge merge(MakeFakeInputs({Rows("a b c d e")}), {.batch_rows = 2});
  for (const std::int64_t rows : {2, 2, 1}) {
    const Result<MergeStep> step = merge.Next();
    ASSERT_TRUE(step.ok());
    EXPECT_EQ(std::get<MergedRows>(*step).rows, rows);
  }
  EXPECT_TRUE(std::holds_alternative<MergeEnd>(*merge.Next()));
}

TEST(SortedMergeTest, GathersItsRows) {
  SortedMerge merge(MakeFakeInputs({Rows("a c"), Rows("b d")}), {});
  const Result<MergeStep> step = merge.Next();
  ASSERT_TRUE(step.ok());
  const auto gathered = std::get<MergedRows>(*step).Gather();
  ASSERT_TRUE(gathered.ok());
  EXPECT_EQ((*gathered)->column(0)->ToString(), "[\n  0,\n  1,\n  0,\n  1\n]");
  EXPECT_EQ((*gathered)->column(1)->ToString(), "[\n  0,\n  0,\n  1,\n  1\n]");
}

void ExpectCorruption(const FakeRun& run, std::string_view what) {
  const Merged merged = MergeAll({Rows("b"), run}, {});
  EXPECT_TRUE(IsError(merged.status, ErrorKind::kCorruption));
  EXPECT_THAT(ErrorText(merged.status), testing::HasSubstr(what));
  EXPECT_THAT(ErrorText(merged.status), testing::HasSubstr("input 1"));
}

TEST(SortedMergeTest, RunOutOfOrderIsCorruption) {
  for (const std::string_view letters : {"a c b", "a b c d e a"}) {
    FakeRun run = Rows(letters);
    run.last_key = "z";
    ExpectCorruption(run, "not in key order");
  }
}

TEST(SortedMergeTest, RunOutsideItsBoundsIsCorruption) {
  FakeRun below = Rows("c d");
  below.first_key = "cc";
  ExpectCorruption(below, "below the first key");
  FakeRun above = Rows("c d");
  above.last_key = "cc";
  ExpectCorruption(above, "above the last key");
}

TEST(SortedMergeTest, KeysThatAreNotOneForEachRowAreCorruption) {
  FakeRun run = Rows("a b");
  run.surplus_keys = 1;
  ExpectCorruption(run, "3 keys for 2 rows");
}

TEST(SortedMergeTest, WhatAReaderFailsWithComesOut) {
  FakeRun run = Rows("a");
  run.open_status = Error(ErrorKind::kUnavailable, "segment 7 is gone");
  const Merged merged = MergeAll({run}, {});
  EXPECT_TRUE(IsError(merged.status, ErrorKind::kUnavailable));
  EXPECT_EQ(ErrorText(merged.status), "segment 7 is gone");
}

/// All runs of up to three keys out of `alphabet`, in order.
std::vector<FakeRun> AllRuns(const std::vector<std::string>& alphabet) {
  std::vector<FakeRun> runs = {FakeRun{.first_key = alphabet.front()}};
  std::size_t from = 0;
  for (int length = 1; length <= 3; ++length) {
    const std::size_t end = runs.size();
    for (; from < end; ++from) {
      for (const std::string& key : alphabet) {
        if (!runs[from].keys.empty() && key < runs[from].keys.back()) continue;
        FakeRun longer{.keys = runs[from].keys};
        longer.keys.push_back(key);
        longer.batch_rows = 2;
        runs.push_back(longer);
      }
    }
  }
  return runs;
}

bool Meets(const FakeRun& run, const FakeRun& other) {
  return std::ranges::any_of(other.keys, [&](const std::string& key) {
    return run.keys.front() <= key && key <= run.keys.back();
  });
}

/// The row groups in whose [first, last] no other run has a row.
std::vector<std::size_t> RowGroupsThatMeetNothing(const std::vector<FakeRun>& runs) {
  std::vector<std::size_t> alone;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    bool meets = !runs[run].is_whole_row_group;
    for (std::size_t other = 0; other < runs.size() && !meets; ++other) {
      meets = other != run && Meets(runs[run], runs[other]);
    }
    if (!meets) alone.push_back(run);
  }
  return alone;
}

void ExpectStableSort(const std::vector<FakeRun>& runs, MergeOptions options) {
  const Merged merged = MergeAll(runs, options);
  ASSERT_TRUE(merged.status.ok()) << merged.status.ToString();
  ASSERT_EQ(merged.rows, StableSort(runs));
}

void ForEachChoice(const std::vector<FakeRun>& all, std::size_t count,
                   const std::function<void(const std::vector<FakeRun>&)>& visit) {
  std::vector<std::size_t> choice(count);
  while (true) {
    std::vector<FakeRun> runs;
    for (const std::size_t run : choice) runs.push_back(all[run]);
    visit(runs);
    if (testing::Test::HasFailure()) return;
    std::size_t digit = 0;
    while (digit < count && ++choice[digit] == all.size()) choice[digit++] = 0;
    if (digit == count) return;
  }
}

TEST(SortedMergeTest, AllSmallInputsComeOutSorted) {
  const std::vector<FakeRun> all = AllRuns({"a", std::string("a\0", 2), "b"});
  const auto check = [](const std::vector<FakeRun>& runs) {
    ExpectStableSort(runs, {.batch_rows = 4});
  };
  for (std::size_t runs = 1; runs <= 4; ++runs) ForEachChoice(all, runs, check);
}

TEST(SortedMergeTest, AllSmallInputsStayWholeJustWhereNothingMeetsThem) {
  std::vector<FakeRun> all = AllRuns({"a", "b", "c"});
  std::erase_if(all, [](const FakeRun& run) { return run.keys.empty(); });
  for (FakeRun& run : all) run.is_whole_row_group = true;
  for (std::size_t count = 1; count <= 3; ++count) {
    ForEachChoice(all, count, [](const std::vector<FakeRun>& runs) {
      Merged merged = MergeAll(runs, {});
      ASSERT_EQ(merged.rows, StableSort(runs));
      std::ranges::sort(merged.whole);
      ASSERT_EQ(merged.whole, RowGroupsThatMeetNothing(runs));
    });
  }
}

/// Long common prefixes, zeros, prefixes of others, stretches of one run, duplicates.
std::string RandomKey(SeededRandom& random, std::size_t services) {
  static constexpr std::string_view kBytes("\0ab\xff", 4);
  std::string key = "prod/service-of-a-long-name-";
  key.resize(key.size() - (random() % 8 == 0 ? random() % 3 : 0));
  key += static_cast<char>(random() % services);
  for (std::size_t tail = random() % 10; tail > 0; --tail) key += kBytes[random() % 4];
  return key;
}

FakeRun RandomRun(SeededRandom& random) {
  FakeRun run;
  const std::size_t rows = random() % 5 == 0 ? random() % 300 : random() % 20;
  const std::size_t services = random() % 2 == 0 ? 1 : 200;
  for (std::size_t row = 0; row < rows; ++row) {
    run.keys.push_back(RandomKey(random, services));
  }
  std::ranges::sort(run.keys);
  run.batch_rows = static_cast<std::int64_t>(1 + random() % 64);
  run.is_whole_row_group = rows > 0 && random() % 2 == 0;
  run.last_key_unbounded = random() % 5 == 0;
  if (rows == 0) return run;
  if (random() % 2 == 0) {
    run.first_key = run.keys.front().substr(0, random() % 40);
    run.last_key = run.keys.back() + std::string(random() % 3, '\xff');
  }
  return run;
}

TEST(SortedMergeTest, RandomInputsComeOutAsTheirStableSort) {
  SeededRandom random;
  for (int round = 0; round < 300; ++round) {
    std::vector<FakeRun> runs(random() % (round % 10 == 0 ? 100 : 12));
    for (FakeRun& run : runs) run = RandomRun(random);
    const auto batch_rows = static_cast<std::int64_t>(1 + random() % 500);
    ExpectStableSort(runs, {.batch_rows = batch_rows, .galloping = true});
    ExpectStableSort(runs, {.batch_rows = batch_rows, .galloping = false});
    const Merged merged = MergeAll(runs, {.batch_rows = batch_rows});
    if (HasFailure()) return;
    EXPECT_THAT(RowGroupsThatMeetNothing(runs), testing::IsSupersetOf(merged.whole));
  }
}

TEST(SortedMergeTest, KeysOfAnyLengthAreMerged) {
  const std::string prefix(kFirstWordRank * kCodeWordBytes, 'p');
  ExpectStableSort({FakeRun{.keys = {prefix + "a", prefix + "c"}},
                    FakeRun{.keys = {prefix + "b", prefix + "b", prefix + "d"}},
                    FakeRun{.keys = {prefix.substr(1) + "a", prefix.substr(1) + "c"}}},
                   {});
}

}  // namespace
}  // namespace firn::merge
