#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/status.h"
#include "firn/merge/gather.h"
#include "firn/merge/loser_tree.h"
#include "firn/merge/run_reader.h"

// The merge turns sorted runs into one sorted sequence of rows:
//   run_reader     what a run is to the merge: bounds, then batches of rows and keys
//   key_code       offset-value codes: most comparisons of keys as one of integers
//   loser_tree     which run has the smallest head
//   sorted_merge   opens runs, follows the tree, emits spans or whole row groups
//   gather         spans of many record batches into one, column by column
//   limit_open_runs  a first pass, if more runs overlap than may be open at once
// Pure: no I/O of its own, no clock, no logging; rows come from the readers it is given.

namespace firn::merge {

struct MergeOptions {
  /// False for a table without a sort order: runs follow each other in run order, and
  /// nothing is compared.
  bool sorted = true;
  /// False: a row group that meets nothing is opened and comes out as rows, too.
  bool whole_row_groups = true;
  /// The most rows of one step.
  std::int64_t batch_rows = 8192;
  /// Where a run wins many times in a row, looks for the end of its span in its own codes
  /// instead of playing a match for each row. Changes nothing but the speed.
  bool galloping = true;
};

/// Rows in key order: spans of batches that the runs handed out.
struct MergedRows {
  std::vector<std::shared_ptr<const RunBatch>> sources;
  std::vector<Span> spans;
  std::int64_t rows = 0;
  /// Rows at the front whose key is the last key of the step before: a file that rolls at
  /// a change of key still takes them. 0 in an unsorted merge.
  std::int64_t rows_of_previous_key = 0;

  /// The full key of a row; the view lives as long as `sources`. O(spans); the first and
  /// last row O(1).
  std::string_view KeyAt(std::int64_t row) const;

  /// The rows as one record batch.
  Result<std::shared_ptr<arrow::RecordBatch>> Gather() const;
};

/// All rows of one input, which was not opened: nothing that is left, and nothing that
/// was emitted before, has a key in its [first, last].
struct WholeRowGroup {
  std::size_t input = 0;
};

struct MergeEnd {};

using MergeStep = std::variant<MergeEnd, MergedRows, WholeRowGroup>;

/// Merges runs: the rows of all steps together are the stable sort of the inputs by (key,
/// run order, row). Not thread-safe.
///
/// An input is opened when the merge reaches its first key, and closed at its end. An
/// input that is_whole_row_group() comes out as WholeRowGroup if its [first_key,
/// last_key] meets no other's rows; touching is meeting. Bounds may be truncated: then
/// they only make the merge open a run that it might have left whole. Memory: one batch
/// of each open run, and the batches of the step; LimitOpenRuns bounds the open runs.
class SortedMerge {
 public:
  /// `inputs` in run order. Never opens one.
  SortedMerge(std::vector<std::unique_ptr<MergeInput>> inputs, MergeOptions options);
  ~SortedMerge();
  SortedMerge(const SortedMerge&) = delete;
  SortedMerge& operator=(const SortedMerge&) = delete;

  /// The next rows, in order. Corruption if a run is not in key order, leaves its bounds,
  /// or has another number of keys than rows; else what a reader fails with. After an
  /// error the merge is of no more use.
  Result<MergeStep> Next();

  /// Number of inputs opened so far.
  std::int64_t opened() const { return opened_; }
  /// Comparisons of key bytes so far, those that check the order of a run left out.
  std::int64_t key_comparisons() const;

 private:
  struct Stream;

  Result<MergeStep> NextConcatenated();
  bool IsWholeRowGroup(std::size_t input) const;
  bool MeetsNothingAhead(std::size_t input) const;
  bool MeetsNothingBehind(std::size_t input) const;
  MergeStep LeaveWinnerWhole();
  Status OpenWinner();
  Status LoadBatch(std::size_t input, std::string_view previous_key);
  Status CheckAndCode(std::size_t input, const RunBatch& batch,
                      std::string_view previous_key, std::vector<KeyCode>& codes) const;
  Status EmitFromWinner(MergedRows& out);
  std::int64_t SpanLength(std::size_t input, std::int64_t limit);
  void AppendSpan(Stream& stream, std::int64_t count, MergedRows& out) const;
  void FinishStep(MergedRows& out);

  const std::vector<std::unique_ptr<MergeInput>> inputs_;
  const MergeOptions options_;
  const std::int64_t batch_rows_;

  std::vector<Stream> streams_;
  LoserTree tree_;
  /// The input that an unsorted merge has come to.
  std::size_t concatenated_ = 0;
  std::int64_t step_ = 0;
  std::int64_t opened_ = 0;

  /// The last key of the steps so far, and whether there is one.
  bool has_emitted_ = false;
  std::string last_key_;

  /// How often the last winner won without a break, and how often it must to be searched.
  std::size_t streak_input_ = 0;
  std::int64_t streak_ = 0;
  std::int64_t min_gallop_;
};

}  // namespace firn::merge
