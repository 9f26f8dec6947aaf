#include "firn/merge/sorted_merge.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <arrow/record_batch.h>

namespace firn::merge {
namespace {

// The count of wins in a row after which a search begins, and the length of a span that
// pays for its search. Every search that pays lowers the count by one, every other raises
// it: where keys interleave, searches soon end (the idea is timsort's).
constexpr std::int64_t kFirstMinGallop = 7;
constexpr std::int64_t kMaxMinGallop = 64;
constexpr std::int64_t kPayingSpan = 5;

/// A span's count is 32 bits wide.
constexpr std::int64_t kMaxBatchRows = std::numeric_limits<std::int32_t>::max();

std::vector<std::string_view> FirstKeys(
    const std::vector<std::unique_ptr<MergeInput>>& inputs, bool sorted) {
  std::vector<std::string_view> keys;
  if (!sorted) return keys;
  for (const auto& input : inputs) keys.push_back(input->first_key());
  return keys;
}

/// The first row in (row, end) for which `goes_first` is false, else `end`; it is true up
/// to some row, and false behind.
template <typename Predicate>
std::int64_t Gallop(std::int64_t row, std::int64_t end, Predicate goes_first) {
  if (goes_first(end - 1)) return end;
  std::int64_t low = row;
  std::int64_t high = end - 1;
  for (std::int64_t step = 1; low + step < high; step *= 2) {
    if (!goes_first(low + step)) {
      high = low + step;
      break;
    }
    low += step;
  }
  while (low + 1 < high) {
    const std::int64_t middle = low + (high - low) / 2;
    (goes_first(middle) ? low : high) = middle;
  }
  return high;
}

}  // namespace

std::string_view MergedRows::KeyAt(std::int64_t row) const {
  const auto key = [this](const Span& span, std::int64_t at) -> std::string_view {
    const order::EncodedKeys& keys = sources[span.source]->keys;
    return keys.size() == 0 ? std::string_view() : keys[span.from + at];
  };
  if (row == rows - 1) return key(spans.back(), spans.back().count - 1);
  auto span = spans.begin();
  for (; row >= span->count; ++span) row -= span->count;
  return key(*span, row);
}

Result<std::shared_ptr<arrow::RecordBatch>> MergedRows::Gather() const {
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  batches.reserve(sources.size());
  for (const auto& source : sources) batches.push_back(source->rows);
  return GatherRows(batches, spans);
}

/// An input that was opened: its batch at hand, and where the merge stands in it.
struct SortedMerge::Stream {
  std::unique_ptr<RunReader> reader;
  std::shared_ptr<const RunBatch> batch;
  /// Of each row of the batch, relative to the row before it.
  std::vector<KeyCode> codes;
  std::int64_t row = 0;
  std::int64_t rows = 0;
  /// Number of the batch among the sources of step `source_step`.
  std::int32_t source = 0;
  std::int64_t source_step = -1;
};

SortedMerge::SortedMerge(std::vector<std::unique_ptr<MergeInput>> inputs,
                         MergeOptions options)
    : inputs_(std::move(inputs)),
      options_(options),
      batch_rows_(std::clamp<std::int64_t>(options.batch_rows, 1, kMaxBatchRows)),
      streams_(inputs_.size()),
      tree_(FirstKeys(inputs_, options.sorted)),
      min_gallop_(kFirstMinGallop) {}

SortedMerge::~SortedMerge() = default;

std::int64_t SortedMerge::key_comparisons() const {
  return tree_.key_comparisons() + gallop_comparisons_;
}

Result<MergeStep> SortedMerge::Next() {
  ++step_;
  if (!options_.sorted) return NextConcatenated();
  MergedRows out;
  while (out.rows < batch_rows_ && !tree_.empty()) {
    const std::size_t winner = tree_.winner();
    if (streams_[winner].reader != nullptr) {
      FIRN_RETURN_NOT_OK(EmitFromWinner(out));
    } else if (!MeetsNothingAhead(winner)) {
      FIRN_RETURN_NOT_OK(OpenWinner());
    } else if (out.rows > 0) {
      break;  // what is behind it is known once these rows are out
    } else if (MeetsNothingBehind(winner)) {
      return LeaveWinnerWhole();
    } else {
      FIRN_RETURN_NOT_OK(OpenWinner());
    }
  }
  if (out.rows == 0) return MergeEnd{};
  FinishStep(out);
  return out;
}

bool SortedMerge::IsWholeRowGroup(std::size_t input) const {
  return options_.whole_row_groups && inputs_[input]->is_whole_row_group();
}

bool SortedMerge::MeetsNothingAhead(std::size_t input) const {
  if (!IsWholeRowGroup(input)) return false;
  const std::optional<std::size_t> challenger = tree_.Challenger();
  if (!challenger) return true;
  const std::optional<std::string_view> last_key = inputs_[input]->last_key();
  return last_key && inputs_[input]->first_key() <= *last_key &&
         *last_key < tree_.head(*challenger);
}

bool SortedMerge::MeetsNothingBehind(std::size_t input) const {
  return !has_emitted_ || last_key_ < inputs_[input]->first_key();
}

MergeStep SortedMerge::LeaveWinnerWhole() {
  const std::size_t input = tree_.winner();
  has_emitted_ = true;
  last_key_ = inputs_[input]->last_key().value_or(std::string_view());
  tree_.EndWinner();
  return WholeRowGroup{.input = input};
}

Status SortedMerge::OpenWinner() {
  const std::size_t input = tree_.winner();
  FIRN_ASSIGN_OR_RETURN(streams_[input].reader, inputs_[input]->Open());
  ++opened_;
  return LoadBatch(input);
}

/// Gives the winner's stream its next batch, whose rows follow winner_key(), or ends it.
Status SortedMerge::LoadBatch(std::size_t input) {
  Stream& stream = streams_[input];
  RunBatch next;
  do {
    FIRN_ASSIGN_OR_RETURN(next, stream.reader->Next());
  } while (next.rows != nullptr && next.rows->num_rows() == 0);
  if (next.rows == nullptr) {
    tree_.EndWinner();
    stream = Stream{};
    return Status::OK();
  }
  FIRN_RETURN_NOT_OK(CheckAndCode(input, next, stream.codes));
  // Moves the tree on before the old batch goes: winner_key() may be one of its keys.
  const auto batch = std::make_shared<const RunBatch>(std::move(next));
  tree_.Advance(batch->keys[0], stream.codes[0]);
  stream.batch = batch;
  stream.row = 0;
  stream.rows = batch->rows->num_rows();
  stream.source_step = -1;
  return Status::OK();
}

Status SortedMerge::CheckAndCode(std::size_t input, const RunBatch& batch,
                                 std::vector<KeyCode>& codes) const {
  const std::int64_t rows = batch.rows->num_rows();
  if (batch.keys.size() != rows) {
    return Error(ErrorKind::kCorruption, "input {} of the merge: {} keys for {} rows",
                 input, batch.keys.size(), rows);
  }
  codes.resize(static_cast<std::size_t>(rows));
  std::string_view previous = tree_.winner_key();
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::string_view key = batch.keys[row];
    const std::size_t mismatch = MismatchFrom(0, key, previous);
    if (IsBelowAt(mismatch, key, previous)) {
      return Error(
          ErrorKind::kCorruption,
          "input {} of the merge is not in key order, or starts below the first "
          "key that its footer gives: row {} of a batch is below what precedes it",
          input, row);
    }
    codes[static_cast<std::size_t>(row)] = CodeAt(mismatch, key, previous);
    previous = key;
  }
  const std::optional<std::string_view> last_key = inputs_[input]->last_key();
  if (last_key && *last_key < previous) {
    return Error(
        ErrorKind::kCorruption,
        "input {} of the merge has a key above the last key that its footer gives",
        input);
  }
  return Status::OK();
}

Status SortedMerge::EmitFromWinner(MergedRows& out) {
  const std::size_t input = tree_.winner();
  Stream& stream = streams_[input];
  const std::int64_t limit = std::min(batch_rows_ - out.rows, stream.rows - stream.row);
  const std::int64_t count = SpanLength(input, limit);
  AppendSpan(stream, count, out);
  stream.row += count;
  if (count > 1) tree_.MoveWinner(stream.batch->keys[stream.row - 1]);
  if (stream.row == stream.rows) return LoadBatch(input);
  tree_.Advance(stream.batch->keys[stream.row],
                stream.codes[static_cast<std::size_t>(stream.row)]);
  return Status::OK();
}

/// How many rows of the winner, `limit` at most, go before every other's head.
std::int64_t SortedMerge::SpanLength(std::size_t input, std::int64_t limit) {
  streak_ = input == streak_input_ ? streak_ + 1 : 1;
  streak_input_ = input;
  if (!options_.galloping || streak_ < min_gallop_ || limit == 1) return 1;
  const std::optional<std::size_t> challenger = tree_.Challenger();
  if (!challenger) return limit;
  const std::string_view other = tree_.head(*challenger);
  const bool wins_ties = input < *challenger;
  const Stream& stream = streams_[input];
  const std::int64_t end = Gallop(stream.row, stream.row + limit,
                                  [&, &keys = stream.batch->keys](std::int64_t row) {
                                    ++gallop_comparisons_;
                                    const int order = keys[row].compare(other);
                                    return order < 0 || (order == 0 && wins_ties);
                                  });
  const std::int64_t count = end - stream.row;
  const bool pays = count >= std::min(kPayingSpan, limit);
  min_gallop_ = std::clamp<std::int64_t>(min_gallop_ + (pays ? -1 : 1), 1, kMaxMinGallop);
  return count;
}

void SortedMerge::AppendSpan(Stream& stream, std::int64_t count, MergedRows& out) const {
  if (stream.source_step != step_) {
    stream.source_step = step_;
    stream.source = static_cast<std::int32_t>(out.sources.size());
    out.sources.push_back(stream.batch);
  }
  out.rows += count;
  if (!out.spans.empty()) {
    Span& open = out.spans.back();
    if (open.source == stream.source && open.from + open.count == stream.row) {
      open.count += static_cast<std::int32_t>(count);
      return;
    }
  }
  out.spans.push_back({.source = stream.source,
                       .count = static_cast<std::int32_t>(count),
                       .from = stream.row});
}

void SortedMerge::FinishStep(MergedRows& out) {
  if (has_emitted_) {
    for (const Span& span : out.spans) {
      const order::EncodedKeys& keys = out.sources[span.source]->keys;
      std::int64_t equal = 0;
      while (equal < span.count && keys[span.from + equal] == last_key_) ++equal;
      out.rows_of_previous_key += equal;
      if (equal < span.count) break;
    }
  }
  has_emitted_ = true;
  last_key_ = out.KeyAt(out.rows - 1);
}

Result<MergeStep> SortedMerge::NextConcatenated() {
  for (; concatenated_ < inputs_.size(); ++concatenated_) {
    Stream& stream = streams_[concatenated_];
    if (stream.reader == nullptr) {
      if (IsWholeRowGroup(concatenated_)) {
        return WholeRowGroup{.input = concatenated_++};
      }
      FIRN_ASSIGN_OR_RETURN(stream.reader, inputs_[concatenated_]->Open());
      ++opened_;
    }
    while (stream.row == stream.rows) {
      FIRN_ASSIGN_OR_RETURN(RunBatch next, stream.reader->Next());
      if (next.rows == nullptr) break;
      stream.row = 0;
      stream.rows = next.rows->num_rows();
      stream.batch = std::make_shared<const RunBatch>(std::move(next));
      stream.source_step = -1;
    }
    if (stream.row < stream.rows) {
      MergedRows out;
      const std::int64_t count = std::min(batch_rows_, stream.rows - stream.row);
      AppendSpan(stream, count, out);
      stream.row += count;
      return out;
    }
    stream = Stream{};
  }
  return MergeEnd{};
}

}  // namespace firn::merge
