#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/fake_runtime.h"
#include "firn/merge/run_reader.h"

namespace firn::merge {

/// A run in memory, for tests. Its rows have two int32 columns, `run` and `row`.
struct FakeRun {
  std::vector<std::string> keys;
  /// The bounds that it claims; the true ones by default.
  std::optional<std::string> first_key;
  std::optional<std::string> last_key;
  bool last_key_unbounded = false;
  bool is_whole_row_group = false;
  std::int64_t batch_rows = 3;
  /// Keys that the last batch has too many.
  std::int64_t surplus_keys = 0;
  Status open_status;
};

/// Run number `run` as an input. Its Open appends "open<run>" to `trace`, if there is
/// one.
std::unique_ptr<MergeInput> MakeFakeInput(const FakeRun& fake, std::int32_t run,
                                          std::vector<std::string>* trace = nullptr);

std::vector<std::unique_ptr<MergeInput>> MakeFakeInputs(
    const std::vector<FakeRun>& runs, std::vector<std::string>* trace = nullptr);

/// Random numbers from the seed in $FIRN_TEST_SEED, or from a new one, which it prints.
class SeededRandom {
 public:
  SeededRandom();
  std::uint64_t operator()() { return runtime_.Random64(); }

 private:
  FakeRuntime runtime_;
};

}  // namespace firn::merge
