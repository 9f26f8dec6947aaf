#include "firn/merge/sorted_merge.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/util/prefetch.h>

namespace firn::merge {
namespace {

// The count of wins in a row after which the end of a span is searched for, and the
// length of a span that pays for its search. Every search that pays lowers the count by
// one, every other raises it: where keys interleave, searches soon end (the idea is
// timsort's).
constexpr std::int64_t kFirstMinGallop = 7;
constexpr std::int64_t kMaxMinGallop = 64;
constexpr std::int64_t kPayingSpan = 3;

/// A cache line of codes.
constexpr std::int64_t kPrefetchRows = 8;

/// A span's count is 32 bits wide.
constexpr std::int64_t kMaxBatchRows = std::numeric_limits<std::int32_t>::max();

std::vector<std::string_view> FirstKeys(
    const std::vector<std::unique_ptr<MergeInput>>& inputs, bool sorted) {
  std::vector<std::string_view> keys;
  if (!sorted) return keys;
  for (const auto& input : inputs) keys.push_back(input->first_key());
  return keys;
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

/// An input that was opened: its batch at hand, and where the merge stands in it. What is
/// looked at for each row comes first, to be in one cache line.
struct SortedMerge::Stream {
  std::int64_t row = 0;
  std::int64_t rows = 0;
  /// Of each row of the batch, relative to the row before it.
  std::vector<KeyCode> codes;
  const std::uint64_t* key_offsets = nullptr;
  const char* key_bytes = nullptr;
  /// Number of the batch among the sources of step `source_step`.
  std::int32_t source = 0;
  std::int64_t source_step = -1;
  std::shared_ptr<const RunBatch> batch;
  std::unique_ptr<RunReader> reader;

  std::string_view Key(std::int64_t at) const {
    return {key_bytes + key_offsets[at], key_offsets[at + 1] - key_offsets[at]};
  }

  /// Asks for what the next rows need: with many runs, that is no longer in the cache
  /// when the run wins again.
  void Prefetch() const {
    ARROW_PREFETCH(codes.data() + row + kPrefetchRows);
    ARROW_PREFETCH(key_offsets + row + kPrefetchRows);
    ARROW_PREFETCH(key_bytes + key_offsets[row]);
  }

  void Take(RunBatch next) {
    batch = std::make_shared<const RunBatch>(std::move(next));
    key_offsets = batch->keys.offsets.data();
    key_bytes = batch->keys.bytes.data();
    row = 0;
    rows = batch->rows->num_rows();
    source_step = -1;
  }
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

std::int64_t SortedMerge::key_comparisons() const { return tree_.key_comparisons(); }

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
  return LoadBatch(input, tree_.winner_key());
}

/// Gives the winner's stream its next batch, whose rows follow `previous_key`, or ends
/// it.
Status SortedMerge::LoadBatch(std::size_t input, std::string_view previous_key) {
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
  FIRN_RETURN_NOT_OK(CheckAndCode(input, next, previous_key, stream.codes));
  stream.Take(std::move(next));
  tree_.Advance(stream.Key(0), stream.codes[0]);
  return Status::OK();
}

Status SortedMerge::CheckAndCode(std::size_t input, const RunBatch& batch,
                                 std::string_view previous_key,
                                 std::vector<KeyCode>& codes) const {
  const std::int64_t rows = batch.rows->num_rows();
  if (batch.keys.size() != rows) {
    return Error(ErrorKind::kCorruption, "input {} of the merge: {} keys for {} rows",
                 input, batch.keys.size(), rows);
  }
  codes.resize(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::string_view key = batch.keys[row];
    const std::size_t mismatch = MismatchFrom(0, key, previous_key);
    if (IsBelowAt(mismatch, key, previous_key)) {
      return Error(
          ErrorKind::kCorruption,
          "input {} of the merge is not in key order, or starts below the first "
          "key that its footer gives: row {} of a batch is below what precedes it",
          input, row);
    }
    codes[static_cast<std::size_t>(row)] = CodeAt(mismatch, key, previous_key);
    previous_key = key;
  }
  const std::optional<std::string_view> last_key = inputs_[input]->last_key();
  if (last_key && *last_key < previous_key) {
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
  if (stream.row == stream.rows) return LoadBatch(input, stream.Key(stream.row - 1));
  stream.Prefetch();
  tree_.Advance(stream.Key(stream.row),
                stream.codes[static_cast<std::size_t>(stream.row)]);
  return Status::OK();
}

/// How many rows of the winner, `limit` at most, are known to go before every other's
/// head.
std::int64_t SortedMerge::SpanLength(std::size_t input, std::int64_t limit) {
  streak_ = input == streak_input_ ? streak_ + 1 : 1;
  streak_input_ = input;
  if (!options_.galloping || streak_ < min_gallop_ || limit == 1) return 1;
  const KeyCode challenger = std::max(tree_.ChallengerCode(), kEqualCode + 1);
  const KeyCode* codes = streams_[input].codes.data() + streams_[input].row;
  std::int64_t count = 1;
  while (count < limit && codes[count] < challenger) ++count;
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
      stream.Take(std::move(next));
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
