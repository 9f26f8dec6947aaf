#include "firn/shift/run_spool.h"

#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>

#include "firn/shift/scratch_streams.h"

namespace firn::shift {
namespace {

using arrow::ipc::RecordBatchWriter;

/// The rows' columns and, behind them, their keys.
std::shared_ptr<arrow::Schema> WithKeys(const arrow::Schema& schema) {
  arrow::FieldVector fields = schema.fields();
  fields.push_back(arrow::field("key", arrow::large_binary(), false));
  return arrow::schema(std::move(fields));
}

Result<std::shared_ptr<arrow::Array>> KeysOf(const merge::MergedRows& rows) {
  arrow::LargeBinaryBuilder keys;
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    FIRN_RETURN_NOT_OK(keys.Append(rows.KeyAt(row)));
  }
  return keys.Finish();
}

order::EncodedKeys ToKeys(const arrow::LargeBinaryArray& array) {
  order::EncodedKeys keys;
  for (std::int64_t row = 0; row < array.length(); ++row) {
    keys.bytes += array.GetView(row);
    keys.offsets.push_back(keys.bytes.size());
  }
  return keys;
}

class KeptRunReader final : public merge::RunReader {
 public:
  explicit KeptRunReader(std::shared_ptr<arrow::ipc::RecordBatchStreamReader> batches)
      : batches_(std::move(batches)) {}

  Result<merge::RunBatch> Next() override {
    std::shared_ptr<arrow::RecordBatch> batch;
    FIRN_RETURN_NOT_OK(batches_->ReadNext(&batch));
    if (batch == nullptr) return merge::RunBatch{};
    const int keys = batch->num_columns() - 1;
    FIRN_ASSIGN_OR_RETURN(auto rows, batch->RemoveColumn(keys));
    return merge::RunBatch{
        .rows = std::move(rows),
        .keys =
            ToKeys(static_cast<const arrow::LargeBinaryArray&>(*batch->column(keys)))};
  }

 private:
  const std::shared_ptr<arrow::ipc::RecordBatchStreamReader> batches_;
};

/// Where a run stands in the scratch file.
struct KeptRange {
  std::shared_ptr<storage::ScratchFile> file;
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
};

class KeptRun final : public merge::MergeInput {
 public:
  KeptRun(KeptRange range, std::string first_key, std::string last_key)
      : range_(std::move(range)),
        first_key_(std::move(first_key)),
        last_key_(std::move(last_key)) {}

  std::string_view first_key() const override { return first_key_; }
  std::optional<std::string_view> last_key() const override { return last_key_; }
  bool is_whole_row_group() const override { return false; }
  Result<std::unique_ptr<merge::RunReader>> Open() override {
    FIRN_ASSIGN_OR_RETURN(auto bytes, arrow::io::RandomAccessFile::GetStream(
                                          std::make_shared<ScratchReads>(range_.file),
                                          range_.begin, range_.bytes));
    FIRN_ASSIGN_OR_RETURN(auto batches,
                          arrow::ipc::RecordBatchStreamReader::Open(std::move(bytes)));
    return std::make_unique<KeptRunReader>(std::move(batches));
  }

 private:
  const KeptRange range_;
  const std::string first_key_;
  const std::string last_key_;
};

/// Appends the rows of a merge to a scratch file.
class KeptRunWriter {
 public:
  explicit KeptRunWriter(std::shared_ptr<storage::ScratchFile> file)
      : file_(std::move(file)), sink_(file_) {}

  Status Add(const merge::MergedRows& rows) {
    FIRN_ASSIGN_OR_RETURN(const auto batch, rows.Gather());
    FIRN_ASSIGN_OR_RETURN(auto keys, KeysOf(rows));
    const auto schema = WithKeys(*batch->schema());
    if (is_empty()) {
      first_key_ = rows.KeyAt(0);
      FIRN_ASSIGN_OR_RETURN(batches_, arrow::ipc::MakeStreamWriter(&sink_, schema));
    }
    last_key_ = rows.KeyAt(rows.rows - 1);
    arrow::ArrayVector columns = batch->columns();
    columns.push_back(std::move(keys));
    return batches_->WriteRecordBatch(
        *arrow::RecordBatch::Make(schema, batch->num_rows(), std::move(columns)));
  }

  Status Close() { return batches_->Close(); }

  std::unique_ptr<merge::MergeInput> Run() && {
    KeptRange range = {.file = std::move(file_), .begin = sink_.begin()};
    range.bytes = range.file->size_bytes() - range.begin;
    return std::make_unique<KeptRun>(std::move(range), std::move(first_key_),
                                     std::move(last_key_));
  }

  bool is_empty() const { return batches_ == nullptr; }

 private:
  std::shared_ptr<storage::ScratchFile> file_;
  ScratchSink sink_;
  std::shared_ptr<RecordBatchWriter> batches_;
  std::string first_key_;
  std::string last_key_;
};

/// A run without rows: all of them were landed before.
class EmptyRun final : public merge::MergeInput {
 public:
  std::string_view first_key() const override { return ""; }
  std::optional<std::string_view> last_key() const override { return ""; }
  bool is_whole_row_group() const override { return false; }
  Result<std::unique_ptr<merge::RunReader>> Open() override {
    class NoRows final : public merge::RunReader {
      Result<merge::RunBatch> Next() override { return merge::RunBatch{}; }
    };
    return std::make_unique<NoRows>();
  }
};

}  // namespace

Result<std::unique_ptr<merge::MergeInput>> DiskRunSpool::Keep(merge::SortedMerge& rows) {
  constexpr std::string_view kContext = "keeping the rows of a first pass";
  if (file_ == nullptr) {
    FIRN_RETURN_NOT_OK(AddContext(storage::ScratchFile::Make().Value(&file_), kContext));
  }
  ++runs_;
  KeptRunWriter writer(file_);
  while (true) {
    FIRN_RETURN_NOT_OK(stop_.Check());
    FIRN_ASSIGN_OR_RETURN(const merge::MergeStep step, rows.Next());
    if (std::holds_alternative<merge::MergeEnd>(step)) break;
    FIRN_RETURN_NOT_OK(
        AddContext(writer.Add(std::get<merge::MergedRows>(step)), kContext));
  }
  if (writer.is_empty()) return std::make_unique<EmptyRun>();
  FIRN_RETURN_NOT_OK(AddContext(writer.Close(), kContext));
  return std::move(writer).Run();
}

}  // namespace firn::shift
