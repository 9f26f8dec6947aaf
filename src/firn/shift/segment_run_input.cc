#include "firn/shift/segment_run_input.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <arrow/api.h>
#include <arrow/compute/api.h>
#include <parquet/metadata.h>

#include "firn/order/key_bound.h"
#include "firn/order/key_encoder.h"
#include "firn/parquet_io/decoded_bytes.h"

namespace firn::shift {
namespace {

// A row group below both is small: copying it would keep it small.
constexpr std::int64_t kWellSizedBytes = 8LL << 20;
constexpr std::int64_t kWellSizedRows = 64LL << 10;

/// Key, offsets and code of a row.
constexpr std::int64_t kKeyBytesOfRow = 64;

/// `schema` and, behind it, the WAL's hidden columns.
types::Schema WithHiddenColumns(types::Schema schema) {
  schema.fields.push_back({.id = wal::kSourceFieldId,
                           .name = "_firn_source",
                           .type = types::Type(types::TypeKind::kInt)});
  schema.fields.push_back({.id = wal::kOffsetFieldId,
                           .name = "_firn_offset",
                           .type = types::Type(types::TypeKind::kLong)});
  return schema;
}

Result<std::shared_ptr<arrow::RecordBatch>> FirstColumns(const arrow::RecordBatch& batch,
                                                         std::size_t count) {
  std::vector<int> columns(count);
  std::iota(columns.begin(), columns.end(), 0);
  return batch.SelectColumns(columns);
}

order::EncodedKeys SliceKeys(const order::EncodedKeys& keys, std::int64_t from,
                             std::int64_t to) {
  const std::uint64_t base = keys.offsets[from];
  order::EncodedKeys slice;
  slice.bytes = keys.bytes.substr(base, keys.offsets[to] - base);
  slice.offsets.assign(keys.offsets.begin() + from, keys.offsets.begin() + to + 1);
  for (std::uint64_t& offset : slice.offsets) offset -= base;
  return slice;
}

/// The first row of `keys` whose key is not below `bound`.
std::int64_t LowerBound(const order::EncodedKeys& keys, std::string_view bound) {
  std::int64_t low = 0;
  std::int64_t high = keys.size();
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (keys[middle] < bound) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

class SegmentRunReader : public merge::RunReader {
 public:
  SegmentRunReader(std::shared_ptr<const OpenSegment> segment, RunSelection selection,
                   const ReadPlan& plan,
                   std::unique_ptr<arrow::RecordBatchReader> batches)
      : segment_(std::move(segment)),
        selection_(std::move(selection)),
        plan_(plan),
        batches_(std::move(batches)) {}

  Result<merge::RunBatch> Next() override {
    while (true) {
      if (reached_end_) return merge::RunBatch{};
      std::shared_ptr<arrow::RecordBatch> batch;
      FIRN_RETURN_NOT_OK(batches_->ReadNext(&batch));
      if (batch == nullptr) return merge::RunBatch{};
      if (!segment_->trims.empty()) {
        FIRN_ASSIGN_OR_RETURN(batch, TrimLandedRows(*batch));
      }
      FIRN_ASSIGN_OR_RETURN(order::EncodedKeys keys,
                            EncodeKeys(plan_.order, plan_.key_schema, *batch));
      FIRN_ASSIGN_OR_RETURN(batch, FirstColumns(*batch, plan_.schema.fields.size()));
      merge::RunBatch slice = SliceByKey({std::move(batch), std::move(keys)});
      if (slice.rows->num_rows() > 0) return slice;
    }
  }

 private:
  /// Rows that were not landed yet, without the hidden columns.
  Result<std::shared_ptr<arrow::RecordBatch>> TrimLandedRows(
      const arrow::RecordBatch& batch) {
    const int columns = batch.num_columns() - 2;
    const auto& sources = static_cast<const arrow::Int32Array&>(*batch.column(columns));
    const auto& offsets =
        static_cast<const arrow::Int64Array&>(*batch.column(columns + 1));
    arrow::BooleanBuilder wanted;
    FIRN_RETURN_NOT_OK(wanted.Reserve(batch.num_rows()));
    for (std::int64_t row = 0; row < batch.num_rows(); ++row) {
      wanted.UnsafeAppend(sources.IsNull(row) ||
                          !WasLanded(sources.Value(row), offsets.Value(row)));
    }
    FIRN_ASSIGN_OR_RETURN(const auto mask, wanted.Finish());
    FIRN_ASSIGN_OR_RETURN(const auto visible,
                          FirstColumns(batch, static_cast<std::size_t>(columns)));
    FIRN_ASSIGN_OR_RETURN(const arrow::Datum filtered,
                          arrow::compute::Filter(visible, mask));
    return filtered.record_batch();
  }

  bool WasLanded(std::int32_t source, std::int64_t offset) const {
    return std::ranges::any_of(segment_->trims, [&](const wal::SourceTrim& trim) {
      return std::cmp_equal(trim.ordinal, source) && offset < trim.first_wanted;
    });
  }

  merge::RunBatch SliceByKey(merge::RunBatch batch) {
    const std::int64_t rows = batch.rows->num_rows();
    const std::int64_t from =
        selection_.from_key ? LowerBound(batch.keys, *selection_.from_key) : 0;
    const std::int64_t to =
        selection_.to_key ? LowerBound(batch.keys, *selection_.to_key) : rows;
    reached_end_ = to < rows;
    if (from == 0 && to == rows) return batch;
    return {.rows = batch.rows->Slice(from, std::max<std::int64_t>(to - from, 0)),
            .keys = SliceKeys(batch.keys, from, std::max(from, to))};
  }

  const std::shared_ptr<const OpenSegment> segment_;
  const RunSelection selection_;
  const ReadPlan& plan_;
  const std::unique_ptr<arrow::RecordBatchReader> batches_;
  bool reached_end_ = false;
};

/// The footer's first and last key of the run are those of its rows, not cut.
bool HasExactKeys(const wal::SegmentRun& run) {
  return run.first_key.size() < order::kKeyBytesMax && run.last_key &&
         run.last_key->size() < order::kKeyBytesMax;
}

bool IsWholeRowGroup(const OpenSegment& segment, const RunSelection& selection,
                     const ReadPlan& plan, const wal::SegmentRun& run) {
  if (!selection.may_copy || selection.from_key || selection.to_key) return false;
  if (!segment.trims.empty() || segment.footer.schema_id != plan.schema.id) return false;
  const bool fills_row_group = segment.footer.row_groups[selection.row_group].size() == 1;
  const bool well_sized = run.bytes >= kWellSizedBytes || run.rows >= kWellSizedRows;
  // Segments keep the metrics of the default configuration only.
  const bool has_metrics = plan.writer_options.metrics == parquet_io::MetricsConfig{};
  return fills_row_group && well_sized && has_metrics && HasExactKeys(run) &&
         IsVerbatimCopyable(plan.schema, plan.writer_options,
                            segment.RowGroup(selection.row_group));
}

const wal::SegmentRun& SelectedRun(const OpenSegment& segment,
                                   const RunSelection& selection) {
  return segment.footer.row_groups[selection.row_group][selection.run_in_row_group];
}

}  // namespace

std::vector<BatchShape> BatchShapesOf(const parquet_io::Footer& footer) {
  std::vector<BatchShape> shapes;
  if (footer == nullptr) return shapes;
  for (int row_group = 0; row_group < footer->num_row_groups(); ++row_group) {
    const std::int64_t rows =
        std::max<std::int64_t>(footer->RowGroup(row_group)->num_rows(), 1);
    const std::int64_t row_bytes =
        parquet_io::DecodedBytesOf(footer, row_group) / rows + kKeyBytesOfRow;
    const std::int64_t batch_rows =
        std::clamp<std::int64_t>(kRunBatchBytes / row_bytes, 1, kRunBatchRows);
    shapes.push_back(
        {.rows = batch_rows, .bytes = std::min(rows, batch_rows) * row_bytes});
  }
  return shapes;
}

SegmentRunInput::SegmentRunInput(std::shared_ptr<const OpenSegment> segment,
                                 RunSelection selection, const ReadPlan& plan,
                                 SharedRowGroups& shared)
    : segment_(std::move(segment)),
      selection_(std::move(selection)),
      plan_(plan),
      shared_(shared),
      run_(SelectedRun(*segment_, selection_)),
      is_whole_row_group_(IsWholeRowGroup(*segment_, selection_, plan, run_)) {}

std::string_view SegmentRunInput::first_key() const {
  if (!selection_.from_key) return run_.first_key;
  return std::max<std::string_view>(run_.first_key, *selection_.from_key);
}

std::optional<std::string_view> SegmentRunInput::last_key() const {
  if (!selection_.to_key) return run_.last_key;
  if (!run_.last_key) return *selection_.to_key;
  return std::min<std::string_view>(*run_.last_key, *selection_.to_key);
}

Result<std::unique_ptr<merge::RunReader>> SegmentRunInput::Open() {
  FIRN_ASSIGN_OR_RETURN(auto batches, OpenRows());
  return std::make_unique<SegmentRunReader>(segment_, selection_, plan_,
                                            std::move(batches));
}

Result<std::unique_ptr<arrow::RecordBatchReader>> SegmentRunInput::OpenRows() const {
  const types::Schema schema =
      segment_->trims.empty() ? plan_.key_schema : WithHiddenColumns(plan_.key_schema);
  const auto& runs = segment_->footer.row_groups[selection_.row_group];
  if (runs.size() == 1) {
    return ReadRowGroup(row_group(), schema, run_.first_row, run_.rows, batch_rows());
  }
  return shared_.Read({selection_.segment, selection_.row_group}, row_group(), schema,
                      {.first = run_.first_row,
                       .count = run_.rows,
                       .row_group_rows = runs.back().first_row + runs.back().rows},
                      batch_rows());
}

}  // namespace firn::shift
