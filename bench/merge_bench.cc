// The merge alone, without reading, gathering or writing, against a binary heap of rows
// that are compared column by column.
//
//   cmake --preset release -DFIRN_BENCH=ON && cmake --build --preset release -t
//   merge_bench build/release/bench/merge_bench
//
// Key: (service asc, ts desc), 200 services with a long common prefix. "blocks": each run
// is the next stretch of time and holds all services, as segments of a write-ahead log
// do. "random": the rows of all runs interleave one by one.

#include <algorithm>
#include <functional>
#include <queue>
#include <random>
#include <string>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include "firn/core/runtime.h"
#include "firn/merge/sorted_merge.h"
#include "firn/order/key_encoder.h"
#include "firn/types/arrow_types.h"

namespace firn::merge {
namespace {

constexpr std::int64_t kRows = 1 << 20;
constexpr std::int64_t kBatchRows = 8192;
constexpr int kServices = 200;
constexpr int kRepetitions = 15;

enum class Shape { kBlocks, kRandom };

struct Row {
  int service = 0;
  std::int64_t ts = 0;
};

/// A run's batches with their keys, and its two key columns as a whole.
struct BenchRun {
  std::vector<RunBatch> batches;
  std::shared_ptr<arrow::StringArray> services;
  std::shared_ptr<arrow::TimestampArray> times;
};

template <typename T>
T Must(Result<T> result) {
  FIRN_CHECK(result.ok(), "{}", result.status().ToString());
  return std::move(result).ValueOrDie();
}

types::Schema BenchSchema() {
  return {.fields = {{.id = 1,
                      .name = "service",
                      .type = types::Type(types::TypeKind::kString),
                      .required = true},
                     {.id = 2,
                      .name = "ts",
                      .type = types::Type(types::TypeKind::kTimestamp),
                      .required = true}}};
}

std::shared_ptr<arrow::RecordBatch> ToArrow(const std::vector<Row>& rows) {
  const auto schema = types::ToArrowSchema(BenchSchema());
  arrow::StringBuilder services;
  arrow::TimestampBuilder times(schema->field(1)->type(), arrow::default_memory_pool());
  for (const Row& row : rows) {
    FIRN_CHECK(
        services.Append(fmt::format("prod/payments-service-{:03}", row.service)).ok());
    FIRN_CHECK(times.Append(row.ts).ok());
  }
  return arrow::RecordBatch::Make(schema, static_cast<std::int64_t>(rows.size()),
                                  {Must(services.Finish()), Must(times.Finish())});
}

std::vector<Row> MakeRows(Shape shape, std::int64_t run, std::int64_t rows,
                          std::mt19937_64& random) {
  constexpr std::int64_t kTime = std::int64_t{1} << 40;
  const std::int64_t runs = kRows / rows;
  const std::int64_t from = shape == Shape::kBlocks ? run * (kTime / runs) : 0;
  const std::int64_t span = shape == Shape::kBlocks ? kTime / runs : kTime;
  std::vector<Row> made(static_cast<std::size_t>(rows));
  for (Row& row : made) {
    row.service = static_cast<int>(random() % kServices);
    row.ts =
        from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(span));
  }
  std::ranges::sort(made, {},
                    [](const Row& row) { return std::pair(row.service, -row.ts); });
  return made;
}

std::vector<BenchRun> MakeRuns(Shape shape, std::int64_t count) {
  std::mt19937_64 random(42);
  const types::Schema schema = BenchSchema();
  const order::SortOrder order =
      Must(order::ParseSortOrder("service asc, ts desc", schema));
  std::vector<BenchRun> runs;
  for (std::int64_t run = 0; run < count; ++run) {
    const auto rows = ToArrow(MakeRows(shape, run, kRows / count, random));
    BenchRun made{
        .services = std::static_pointer_cast<arrow::StringArray>(rows->column(0)),
        .times = std::static_pointer_cast<arrow::TimestampArray>(rows->column(1))};
    for (std::int64_t from = 0; from < rows->num_rows(); from += kBatchRows) {
      const auto batch = rows->Slice(from, kBatchRows);
      made.batches.push_back({batch, Must(order::EncodeKeys(order, schema, *batch))});
    }
    runs.push_back(std::move(made));
  }
  return runs;
}

/// Hands out copies of a run's batches that were made before the clock started.
class BenchInput final : public MergeInput {
 public:
  explicit BenchInput(const BenchRun& run)
      : batches_(run.batches),
        first_key_(batches_.front().keys[0]),
        last_key_(batches_.back().keys[batches_.back().keys.size() - 1]) {}

  std::string_view first_key() const override { return first_key_; }
  std::optional<std::string_view> last_key() const override { return last_key_; }
  bool is_whole_row_group() const override { return false; }
  Result<std::unique_ptr<RunReader>> Open() override {
    return std::make_unique<Reader>(batches_);
  }

 private:
  class Reader final : public RunReader {
   public:
    explicit Reader(std::vector<RunBatch>& batches) : batches_(batches) {}
    Result<RunBatch> Next() override {
      return next_ == batches_.size() ? RunBatch{} : std::move(batches_[next_++]);
    }

   private:
    std::vector<RunBatch>& batches_;
    std::size_t next_ = 0;
  };

  std::vector<RunBatch> batches_;
  const std::string first_key_;
  const std::string last_key_;
};

struct Figures {
  double ns_per_row = 0;
  double rows_per_span = 1;
  double key_comparisons_per_row = 0;
};

Figures MergeOnce(const std::vector<BenchRun>& runs, bool galloping) {
  std::vector<std::unique_ptr<MergeInput>> inputs;
  for (const BenchRun& run : runs) inputs.push_back(std::make_unique<BenchInput>(run));
  const BootTime start = SystemRuntime().SinceBoot();
  SortedMerge merge(std::move(inputs), {.galloping = galloping});
  std::int64_t rows = 0;
  std::size_t spans = 0;
  while (true) {
    const MergeStep step = Must(merge.Next());
    if (std::holds_alternative<MergeEnd>(step)) break;
    rows += std::get<MergedRows>(step).rows;
    spans += std::get<MergedRows>(step).spans.size();
  }
  const Duration time = SystemRuntime().SinceBoot() - start;
  FIRN_CHECK(rows == kRows, "{} rows", rows);
  return {
      .ns_per_row = 1e3 * static_cast<double>(time.count()) / kRows,
      .rows_per_span = static_cast<double>(rows) / static_cast<double>(spans),
      .key_comparisons_per_row = static_cast<double>(merge.key_comparisons()) / kRows};
}

Figures HeapOnce(const std::vector<BenchRun>& runs) {
  struct Cursor {
    std::int32_t run;
    std::int64_t row;
  };
  const auto is_behind = [&runs](const Cursor& a, const Cursor& b) {
    const int order = runs[a.run].services->GetView(a.row).compare(
        runs[b.run].services->GetView(b.row));
    if (order != 0) return order > 0;
    const std::int64_t a_time = runs[a.run].times->Value(a.row);
    const std::int64_t b_time = runs[b.run].times->Value(b.row);
    return a_time != b_time ? a_time < b_time : a.run > b.run;
  };
  const BootTime start = SystemRuntime().SinceBoot();
  std::priority_queue<Cursor, std::vector<Cursor>, decltype(is_behind)> heap(is_behind);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    heap.push({static_cast<std::int32_t>(run), 0});
  }
  std::vector<Cursor> out;
  out.reserve(kRows);
  while (!heap.empty()) {
    Cursor cursor = heap.top();
    heap.pop();
    out.push_back(cursor);
    if (++cursor.row < runs[cursor.run].services->length()) heap.push(cursor);
  }
  const Duration time = SystemRuntime().SinceBoot() - start;
  return {.ns_per_row = 1e3 * static_cast<double>(time.count()) / kRows};
}

/// The fastest of some runs, taken in turn so that a noisy moment hits all alike.
std::vector<Figures> Fastest(const std::vector<std::function<Figures()>>& candidates) {
  std::vector<Figures> best;
  for (const auto& candidate : candidates) best.push_back(candidate());
  for (int i = 1; i < kRepetitions; ++i) {
    for (std::size_t at = 0; at < candidates.size(); ++at) {
      const Figures figures = candidates[at]();
      if (figures.ns_per_row < best[at].ns_per_row) best[at] = figures;
    }
  }
  return best;
}

void Compare(Shape shape, std::int64_t count) {
  const std::vector<BenchRun> runs = MakeRuns(shape, count);
  const std::vector<Figures> best =
      Fastest({[&] { return HeapOnce(runs); }, [&] { return MergeOnce(runs, false); },
               [&] { return MergeOnce(runs, true); }});
  const Figures& heap = best[0];
  const Figures& plain = best[1];
  const Figures& merge = best[2];
  fmt::print(
      "{:>5} {:<7} {:>7.1f} {:>7.1f} {:>7.1f} {:>9.1f}x {:>9.2f}x {:>9.1f} {:>9.2f}\n",
      count, shape == Shape::kBlocks ? "blocks" : "random", heap.ns_per_row,
      plain.ns_per_row, merge.ns_per_row, heap.ns_per_row / merge.ns_per_row,
      plain.ns_per_row / merge.ns_per_row, merge.rows_per_span,
      merge.key_comparisons_per_row);
}

void Main() {
  fmt::print(
      "                 ns per row                merge:heap  gallop:  rows per  key "
      "compar-\n");
  fmt::print(
      " runs shape      heap   plain  gallop                  plain      span  "
      "isons/row\n");
  for (const Shape shape : {Shape::kBlocks, Shape::kRandom}) {
    for (const std::int64_t count : {8, 64, 1024}) Compare(shape, count);
  }
}

}  // namespace
}  // namespace firn::merge

int main() { firn::merge::Main(); }
