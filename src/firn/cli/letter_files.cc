#include "firn/cli/letter_files.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <arrow/record_batch.h>
#include <parquet/metadata.h>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/storage/location.h"
#include "firn/types/arrow_types.h"
#include "firn/types/memory_bytes.h"

namespace firn::cli {
namespace {

/// Letters hold whole records, of up to 64 MiB, and their sizes are known once they are
/// read: few are read at once, and gathered until they are many or large.
constexpr std::int64_t kLettersPerRead = 4;
constexpr std::int64_t kLettersPerBatch = 1024;
constexpr std::int64_t kBytesPerBatch = 8LL << 20;

/// One row group after the other.
class LetterFileReader : public arrow::RecordBatchReader {
 public:
  LetterFileReader(parquet_io::RowGroupSource source, const types::Schema& schema)
      : source_(std::move(source)),
        schema_(schema),
        arrow_schema_(types::ToArrowSchema(schema)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return arrow_schema_; }

  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    arrow::RecordBatchVector pieces;
    std::int64_t letters = 0;
    std::int64_t bytes = 0;
    while (letters < kLettersPerBatch && bytes < kBytesPerBatch) {
      FIRN_ASSIGN_OR_RETURN(auto piece, ReadPiece());
      if (piece == nullptr) break;
      FIRN_ASSIGN_OR_RETURN(const std::int64_t size, types::MemoryBytes(*piece));
      letters += piece->num_rows();
      bytes += size;
      pieces.push_back(std::move(piece));
    }
    *batch = nullptr;
    if (pieces.empty()) return Status::OK();
    return arrow::ConcatenateRecordBatches(pieces).Value(batch);
  }

 private:
  /// Null at the end of the file.
  Result<std::shared_ptr<arrow::RecordBatch>> ReadPiece() {
    while (true) {
      if (rows_ != nullptr) {
        FIRN_ASSIGN_OR_RETURN(auto piece, rows_->Next());
        if (piece != nullptr) return piece;
        rows_ = nullptr;
        ++source_.row_group;
      }
      if (source_.row_group == source_.footer->num_row_groups()) return nullptr;
      const std::int64_t rows = source_.footer->RowGroup(source_.row_group)->num_rows();
      FIRN_ASSIGN_OR_RETURN(
          rows_, parquet_io::ReadRowGroup(source_, schema_, 0, rows, kLettersPerRead));
    }
  }

  parquet_io::RowGroupSource source_;
  const types::Schema& schema_;
  const std::shared_ptr<arrow::Schema> arrow_schema_;
  std::unique_ptr<arrow::RecordBatchReader> rows_;
};

}  // namespace

Result<std::vector<iceberg::DataFile>> ListLetterFiles(Workspace& workspace,
                                                       const OpenTable& letters) {
  std::vector<iceberg::ManifestEntry> live;
  const iceberg::Snapshot* snapshot = CurrentSnapshot(letters.metadata());
  if (snapshot == nullptr) return std::vector<iceberg::DataFile>();
  const iceberg::FileIo& io = workspace.file_io();
  FIRN_ASSIGN_OR_RETURN(const auto manifests,
                        ReadManifestList(io, snapshot->manifest_list));
  for (const iceberg::ManifestFile& manifest : manifests) {
    FIRN_ASSIGN_OR_RETURN(auto entries, ReadManifest(io, letters.metadata(), manifest));
    std::erase_if(entries, [](const iceberg::ManifestEntry& entry) {
      return entry.status == iceberg::EntryStatus::kDeleted;
    });
    if (manifest.content == iceberg::ManifestContent::kDeletes && !entries.empty()) {
      return InvalidError(
          "{} has delete files, which Firn does not read; compact it with the engine "
          "that "
          "wrote them (the first is {})",
          letters.identifier, entries[0].data_file.file_path);
    }
    std::ranges::move(entries, std::back_inserter(live));
  }
  std::ranges::sort(live, {}, [](const iceberg::ManifestEntry& entry) {
    return std::tie(entry.sequence_number, entry.data_file.file_path);
  });
  std::vector<iceberg::DataFile> files;
  for (iceberg::ManifestEntry& entry : live) files.push_back(std::move(entry.data_file));
  return files;
}

Result<std::unique_ptr<arrow::RecordBatchReader>> OpenLetterFile(
    Workspace& workspace, const OpenTable& letters, const iceberg::DataFile& file) {
  FIRN_ASSIGN_OR_RETURN(const auto object, workspace.file_io().Locate(file.file_path));
  parquet_io::RowGroupSource source = {
      .file = parquet_io::OpenObject(*object.store, object.key, file.file_size_in_bytes),
      .footer = nullptr,
      .row_group = 0,
      .name = file.file_path};
  FIRN_ASSIGN_OR_RETURN(source.footer, parquet_io::ReadFooter(*object.store, object.key,
                                                              file.file_size_in_bytes));
  return std::make_unique<LetterFileReader>(std::move(source),
                                            CurrentSchema(letters.metadata()));
}

}  // namespace firn::cli
