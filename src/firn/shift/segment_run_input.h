#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/merge/run_reader.h"
#include "firn/order/sort_order.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/shift/segment_spool.h"
#include "firn/shift/shared_row_groups.h"
#include "firn/types/schema.h"
#include "firn/wal/admission.h"
#include "firn/wal/segment.h"

namespace firn::shift {

/// The most rows of a run that are decoded at a time, and how many bytes they may come to
/// on the average of their row group.
inline constexpr std::int64_t kRunBatchRows = 4096;
inline constexpr std::int64_t kRunBatchBytes = 2LL << 20;

/// How the runs of a row group are decoded.
struct BatchShape {
  /// The most at a time: fewer where rows are wide, one at least.
  std::int64_t rows = 0;
  /// Of a batch with its keys, on the average of the row group.
  std::int64_t bytes = 0;
};

/// Of all row groups; none of a segment in quarantine.
std::vector<BatchShape> BatchShapesOf(const parquet_io::Footer& footer);

/// An admitted segment, open for reading. Immutable; shared by the tasks of an iteration.
struct OpenSegment {
  wal::SegmentName name;
  wal::SegmentFooter footer;
  std::vector<wal::SourceTrim> trims;
  std::shared_ptr<SpooledSegment> file;
  /// Null for a segment in quarantine, which has no row groups.
  parquet_io::Footer parquet_footer;
  std::vector<BatchShape> batch_shapes;

  bool is_quarantined() const { return parquet_footer == nullptr; }

  parquet_io::RowGroupSource RowGroup(std::uint32_t row_group) const {
    return {.file = file,
            .footer = parquet_footer,
            .row_group = static_cast<int>(row_group),
            .name = SegmentKey(name),
            .is_near = true};
  }
};

/// What part of which run is read.
struct RunSelection {
  /// Index of the segment among those of the iteration.
  std::uint32_t segment = 0;
  std::uint32_t row_group = 0;
  std::uint32_t run_in_row_group = 0;
  /// Rows with keys in [from_key, to_key); whole if neither is set.
  std::optional<std::string> from_key;
  std::optional<std::string> to_key;
  /// False: its rows go to several files, so it never comes out as a whole row group.
  bool may_copy = true;
};

/// How rows are to come out.
struct ReadPlan {
  /// The table's current schema: rows written under an older one are projected by field
  /// id.
  types::Schema schema;
  /// `schema` and, behind it, columns of the order that were dropped since.
  types::Schema key_schema;
  /// The order under which the segment was sorted.
  order::SortOrder order;
  /// Of the files that the rows go to; a row group that fits them need not be decoded.
  parquet_io::FileWriterOptions writer_options;
};

/// A run of a segment, or a slice of it, without the rows that trims say were landed
/// before.
class SegmentRunInput : public merge::MergeInput {
 public:
  /// `plan` and `shared`, which is the task's, must outlive the input.
  SegmentRunInput(std::shared_ptr<const OpenSegment> segment, RunSelection selection,
                  const ReadPlan& plan, SharedRowGroups& shared);

  std::string_view first_key() const override;
  std::optional<std::string_view> last_key() const override;
  bool is_whole_row_group() const override { return is_whole_row_group_; }
  Result<std::unique_ptr<merge::RunReader>> Open() override;

  parquet_io::RowGroupSource row_group() const {
    return segment_->RowGroup(selection_.row_group);
  }
  const wal::SegmentRun& run() const { return run_; }
  std::int64_t batch_rows() const {
    return segment_->batch_shapes[selection_.row_group].rows;
  }

 private:
  Result<std::unique_ptr<arrow::RecordBatchReader>> OpenRows() const;

  const std::shared_ptr<const OpenSegment> segment_;
  const RunSelection selection_;
  const ReadPlan& plan_;
  SharedRowGroups& shared_;
  const wal::SegmentRun& run_;
  const bool is_whole_row_group_;
};

}  // namespace firn::shift
