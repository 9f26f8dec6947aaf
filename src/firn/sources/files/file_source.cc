#include "firn/sources/files/file_source.h"

#include <filesystem>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/util/utf8.h>

#include "firn/sources/files/file_patterns.h"
#include "firn/sources/files/record_format.h"
#include "firn/sources/record_offsets.h"
#include "firn/wal/load_manifest.h"

namespace firn::sources {
namespace {

std::optional<std::int64_t> BytesOf(const std::vector<std::string>& files) {
  std::int64_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
    bytes += static_cast<std::int64_t>(std::filesystem::file_size(file, error));
  }
  return bytes;
}

/// Names may be any bytes, but columns of strings hold UTF-8: other bytes are written
/// \xff.
std::string AsUtf8(std::string path) {
  if (arrow::util::ValidateUTF8(path)) return path;
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text.push_back(c);
    } else {
      text += fmt::format("\\x{:02x}", byte);
    }
  }
  return text;
}

/// Absolute: a dead letter outlives the working directory.
std::string PathOf(const std::string& file) {
  std::error_code error;
  const auto path = std::filesystem::absolute(file, error);
  return AsUtf8(error || file == kStandardInput ? file
                                                : path.lexically_normal().string());
}

std::string PlaceOf(const RejectedRecord& record) {
  if (record.line) return fmt::format("line {}", *record.line);
  return fmt::format("row {}", record.record + 1);
}

}  // namespace

Result<std::unique_ptr<FileSource>> FileSource::Make(FileLoad load) {
  FIRN_RETURN_NOT_OK(CheckTimeUnits(load.options.time_units, load.schema));
  arrow::util::InitializeUTF8();
  std::unique_ptr<FileSource> source(new FileSource(std::move(load)));
  source->bytes_total_ = BytesOf(source->load_.files);
  return source;
}

std::int64_t FileSource::FirstRecord() const {
  const auto first = load_.first_records.find(file_);
  return first == load_.first_records.end() ? 0 : first->second;
}

Status FileSource::OpenFile() {
  FIRN_ASSIGN_OR_RETURN(reader_, OpenRecords({.path = load_.files[file_],
                                              .schema = load_.schema,
                                              .first_record = FirstRecord(),
                                              .options = load_.options}));
  path_ = PathOf(load_.files[file_]);
  format_ =
      std::make_shared<const std::string>(RecordFormatText(reader_->record_format()));
  return Status::OK();
}

Status FileSource::CloseFile() {
  if (reader_->next_record() < FirstRecord()) {
    const std::string& file = load_.files[file_];
    return InvalidError(
        "{}: is not what load {} was begun with: it ends before the records that are "
        "durable already; give the same bytes again, or load under another id (it has {} "
        "of {})",
        file == kStandardInput ? "standard input" : file, load_.load_id,
        reader_->next_record(), FirstRecord());
  }
  const FileProgress done = reader_->progress();
  bytes_done_ += done.bytes_total.value_or(done.bytes_read);
  reader_ = nullptr;
  ++file_;
  return Status::OK();
}

Status FileSource::Open() {
  const bool is_open = reader_ != nullptr || file_ >= load_.files.size();
  return is_open ? Status::OK() : OpenFile();
}

Result<std::optional<SourceBatch>> FileSource::Next(const StopToken& stop) {
  while (file_ < load_.files.size()) {
    FIRN_RETURN_NOT_OK(stop.Check());
    if (reader_ == nullptr) FIRN_RETURN_NOT_OK(OpenFile());
    FIRN_ASSIGN_OR_RETURN(std::optional<RecordBlock> block, reader_->Next());
    if (block) return BatchOf(*std::move(block));
    FIRN_RETURN_NOT_OK(CloseFile());
  }
  return std::nullopt;
}

Result<SourceBatch> FileSource::BatchOf(RecordBlock block) const {
  SourceBatch batch = {.table = load_.table,
                       .delivery = {.range = wal::SourceRange{
                                        .source = wal::LoadSourceId(load_.load_id, file_),
                                        .first = block.first,
                                        .next = block.next}}};
  if (block.rows->num_rows() > 0) batch.delivery.rows = block.rows;
  if (block.rejected.empty()) return batch;
  if (block.rows->num_rows() > 0) {
    FIRN_ASSIGN_OR_RETURN(batch.delivery.offsets, OffsetsOf(block.records));
  }
  for (RejectedRecord& record : block.rejected) {
    batch.dead_letters.push_back(
        {.raw = std::move(record.raw),
         .source = path_,
         .position = record.record,
         .reason = fmt::format("{}: {}", PlaceOf(record), record.reason),
         .reason_class = record.reason_class,
         .offset = record.record,
         .format = format_});
  }
  return batch;
}

FileProgress FileSource::progress() const {
  const std::int64_t read = reader_ == nullptr ? 0 : reader_->progress().bytes_read;
  return {.bytes_read = bytes_done_ + read, .bytes_total = bytes_total_};
}

std::string DeadLetterText(const DeadLetter& letter) {
  return fmt::format("{}: {}", letter.source, letter.reason);
}

}  // namespace firn::sources
