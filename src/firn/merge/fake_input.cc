#include "firn/merge/fake_input.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include "firn/core/test_seed.h"

namespace firn::merge {
namespace {

std::shared_ptr<arrow::RecordBatch> MakeRows(std::int32_t run, std::int32_t from,
                                             std::int32_t count) {
  static const auto schema = arrow::schema(
      {arrow::field("run", arrow::int32()), arrow::field("row", arrow::int32())});
  arrow::Int32Builder runs;
  arrow::Int32Builder rows;
  for (std::int32_t row = 0; row < count; ++row) {
    FIRN_CHECK(runs.Append(run).ok() && rows.Append(from + row).ok());
  }
  return arrow::RecordBatch::Make(
      schema, count, {runs.Finish().ValueOrDie(), rows.Finish().ValueOrDie()});
}

void AppendKey(std::string_view key, order::EncodedKeys& keys) {
  keys.bytes += key;
  keys.offsets.push_back(keys.bytes.size());
}

class FakeReader final : public RunReader {
 public:
  FakeReader(const FakeRun& fake, std::int32_t run) : fake_(fake), run_(run) {}

  Result<RunBatch> Next() override {
    const auto rows = static_cast<std::int64_t>(fake_.keys.size());
    if (row_ == rows) return RunBatch{};
    const std::int64_t end = std::min(row_ + fake_.batch_rows, rows);
    RunBatch batch;
    batch.rows = MakeRows(run_, static_cast<std::int32_t>(row_),
                          static_cast<std::int32_t>(end - row_));
    for (; row_ < end; ++row_) AppendKey(fake_.keys[row_], batch.keys);
    if (row_ == rows) {
      for (std::int64_t i = 0; i < fake_.surplus_keys; ++i) AppendKey("z", batch.keys);
    }
    return batch;
  }

 private:
  const FakeRun& fake_;
  const std::int32_t run_;
  std::int64_t row_ = 0;
};

class FakeInput final : public MergeInput {
 public:
  FakeInput(const FakeRun& fake, std::int32_t run, std::vector<std::string>* trace)
      : fake_(fake), run_(run), trace_(trace) {}

  std::string_view first_key() const override {
    if (fake_.first_key) return *fake_.first_key;
    return fake_.keys.empty() ? std::string_view() : fake_.keys.front();
  }
  std::optional<std::string_view> last_key() const override {
    if (fake_.last_key_unbounded || fake_.keys.empty()) return std::nullopt;
    return fake_.last_key ? *fake_.last_key : fake_.keys.back();
  }
  bool is_whole_row_group() const override { return fake_.is_whole_row_group; }

  Result<std::unique_ptr<RunReader>> Open() override {
    FIRN_RETURN_NOT_OK(fake_.open_status);
    if (trace_ != nullptr) trace_->push_back(fmt::format("open{}", run_));
    return std::make_unique<FakeReader>(fake_, run_);
  }

 private:
  const FakeRun fake_;
  const std::int32_t run_;
  std::vector<std::string>* const trace_;
};

}  // namespace

std::unique_ptr<MergeInput> MakeFakeInput(const FakeRun& fake, std::int32_t run,
                                          std::vector<std::string>* trace) {
  return std::make_unique<FakeInput>(fake, run, trace);
}

std::vector<std::unique_ptr<MergeInput>> MakeFakeInputs(const std::vector<FakeRun>& runs,
                                                        std::vector<std::string>* trace) {
  std::vector<std::unique_ptr<MergeInput>> inputs;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    inputs.push_back(MakeFakeInput(runs[run], static_cast<std::int32_t>(run), trace));
  }
  return inputs;
}

SeededRandom::SeededRandom() : runtime_(TestSeed()) {}

}  // namespace firn::merge
