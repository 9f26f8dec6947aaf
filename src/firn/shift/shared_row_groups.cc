#include "firn/shift/shared_row_groups.h"

#include <algorithm>

#include <arrow/record_batch.h>

#include "firn/types/arrow_types.h"

namespace firn::shift {

Result<std::shared_ptr<arrow::RecordBatch>> SharedRowGroups::Cursor::Take(
    std::int64_t count) {
  while (rest == nullptr || rest->num_rows() == 0) {
    FIRN_RETURN_NOT_OK(batches->ReadNext(&rest));
    if (rest != nullptr) continue;
    return Error(ErrorKind::kCorruption, "the row group ends at row {}", row);
  }
  const std::int64_t taken = std::min(count, rest->num_rows());
  const auto rows = rest->Slice(0, taken);
  rest = rest->Slice(taken);
  row += taken;
  return rows;
}

/// Lends a cursor, and gives it back where it stands in the end.
class SharedRowGroups::Reader : public arrow::RecordBatchReader {
 public:
  Reader(SharedRowGroups& shared, Id id, Cursor cursor, const Rows& rows)
      : shared_(shared), id_(id), cursor_(std::move(cursor)), rows_(rows) {}

  ~Reader() override {
    if (cursor_.row < rows_.row_group_rows) shared_.idle_[id_] = std::move(cursor_);
  }

  std::shared_ptr<arrow::Schema> schema() const override {
    return cursor_.batches->schema();
  }

  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    const std::int64_t left = rows_.first + rows_.count - cursor_.row;
    if (left > 0) return cursor_.Take(left).Value(out);
    out->reset();
    return Status::OK();
  }

 private:
  SharedRowGroups& shared_;
  const Id id_;
  Cursor cursor_;
  const Rows rows_;
};

Result<std::unique_ptr<arrow::RecordBatchReader>> SharedRowGroups::Read(
    Id id, const parquet_io::RowGroupSource& source, const types::Schema& schema,
    const Rows& rows, std::int64_t batch_rows) {
  Cursor cursor;
  const auto idle = idle_.find(id);
  if (idle != idle_.end()) {
    cursor = std::move(idle->second);
    idle_.erase(idle);
  }
  if (cursor.batches == nullptr || cursor.row > rows.first) {
    FIRN_ASSIGN_OR_RETURN(auto batches,
                          ReadRowGroup(source, schema, rows.first,
                                       rows.row_group_rows - rows.first, batch_rows));
    cursor = {.batches = std::move(batches), .row = rows.first};
    ++opened_;
  }
  while (cursor.row < rows.first) {
    FIRN_RETURN_NOT_OK(cursor.Take(rows.first - cursor.row).status());
  }
  return std::make_unique<Reader>(*this, id, std::move(cursor), rows);
}

}  // namespace firn::shift
