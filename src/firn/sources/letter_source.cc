#include "firn/sources/letter_source.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "firn/sources/dead_letters.h"
#include "firn/sources/record_offsets.h"

namespace firn::sources {
namespace {

/// Text and bytes are arrays of one class.
std::string TextAt(const arrow::Array& column, std::int64_t row) {
  if (column.IsNull(row)) return "";
  return std::string(static_cast<const arrow::BinaryArray&>(column).GetView(row));
}

}  // namespace

std::vector<KeptLetter> LettersOf(const arrow::RecordBatch& rows) {
  const auto& positions = static_cast<const arrow::Int64Array&>(*rows.column(2));
  const auto& times = static_cast<const arrow::TimestampArray&>(*rows.column(4));
  std::vector<KeptLetter> letters;
  for (std::int64_t row = 0; row < rows.num_rows(); ++row) {
    letters.push_back({.raw = TextAt(*rows.column(0), row),
                       .source = TextAt(*rows.column(1), row),
                       .position = positions.Value(row),
                       .reason = TextAt(*rows.column(3), row),
                       .time_us = times.Value(row),
                       .format = TextAt(*rows.column(5), row)});
  }
  return letters;
}

Result<SingleRecord> LetterReader::Read(const KeptLetter& letter) {
  if (letter.format.empty()) {
    return SingleRecord{.row = nullptr, .reason = "its format is not known"};
  }
  if (!format_ || format_text_ != letter.format) {
    auto format = ParseRecordFormat(letter.format);
    if (!format.ok()) {
      return SingleRecord{.row = nullptr,
                          .reason = fmt::format("{}{}", PlaceOf(letter.reason),
                                                ErrorText(format.status()))};
    }
    format_ = *std::move(format);
    format_text_ = letter.format;
    std::string& column = format_->options.unknown_fields_column;
    if (column.empty()) column = unknown_fields_column_;
  }
  FIRN_ASSIGN_OR_RETURN(SingleRecord record,
                        ReadSingleRecord(letter.raw, *format_, schema_));
  record.reason.insert(0, PlaceOf(letter.reason));
  return record;
}

LetterSource::LetterSource(std::string table, LetterReader reader,
                           std::vector<LetterFile> files)
    : table_(std::move(table)), reader_(std::move(reader)), files_(std::move(files)) {}

LetterSource::~LetterSource() = default;

Status LetterSource::OpenFile() {
  FIRN_ASSIGN_OR_RETURN(rows_, files_[file_].open());
  next_record_ = 0;
  return Status::OK();
}

std::shared_ptr<arrow::RecordBatch> LetterSource::Wanted(
    const std::shared_ptr<arrow::RecordBatch>& rows) {
  const std::int64_t skipped = std::clamp<std::int64_t>(
      files_[file_].first_record - next_record_, 0, rows->num_rows());
  next_record_ += skipped;
  return skipped == rows->num_rows() ? nullptr : rows->Slice(skipped);
}

Result<std::optional<SourceBatch>> LetterSource::Next(const StopToken& stop) {
  while (file_ < files_.size()) {
    FIRN_RETURN_NOT_OK(stop.Check());
    if (rows_ == nullptr) FIRN_RETURN_NOT_OK(OpenFile());
    FIRN_ASSIGN_OR_RETURN(const auto rows, rows_->Next());
    if (rows == nullptr) {
      rows_ = nullptr;
      ++file_;
      continue;
    }
    const auto wanted = Wanted(rows);
    if (wanted != nullptr) return BatchOf(*wanted);
  }
  return std::nullopt;
}

Result<SourceBatch> LetterSource::BatchOf(const arrow::RecordBatch& rows) {
  const std::int64_t first = next_record_;
  next_record_ += rows.num_rows();
  SourceBatch batch = {
      .table = table_,
      .delivery = {.range = wal::SourceRange{.source = files_[file_].source_id,
                                             .first = first,
                                             .next = next_record_}}};
  arrow::RecordBatchVector fitting;
  std::vector<std::int64_t> records;
  std::int64_t record = first;
  for (KeptLetter& letter : LettersOf(rows)) {
    FIRN_ASSIGN_OR_RETURN(SingleRecord read, reader_.Read(letter));
    if (read.row != nullptr) {
      fitting.push_back(std::move(read.row));
      records.push_back(record++);
      continue;
    }
    batch.dead_letters.push_back(
        {.raw = std::move(letter.raw),
         .source = std::move(letter.source),
         .position = letter.position,
         .reason = std::move(read.reason),
         .offset = record++,
         .format = std::make_shared<const std::string>(std::move(letter.format))});
  }
  if (fitting.empty()) return batch;
  FIRN_ASSIGN_OR_RETURN(batch.delivery.rows, arrow::ConcatenateRecordBatches(fitting));
  FIRN_ASSIGN_OR_RETURN(batch.delivery.offsets, OffsetsOf(records));
  return batch;
}

}  // namespace firn::sources
