#include "firn/sources/files/csv_source.h"

#include <algorithm>
#include <utility>

#include <arrow/api.h>

#include "firn/wal/load_manifest.h"

namespace firn::sources {
namespace {

// The header is row 1, so record 0 is row 2.
constexpr std::int64_t kRowOfFirstRecord = 2;

}  // namespace

Result<std::unique_ptr<CsvSource>> CsvSource::Make(CsvLoad load) {
  FIRN_ASSIGN_OR_RETURN(ValueConverter converter, ValueConverter::Make(load.schema));
  return std::unique_ptr<CsvSource>(new CsvSource(std::move(load), std::move(converter)));
}

Status CsvSource::OpenFile() {
  FIRN_ASSIGN_OR_RETURN(reader_, CsvReader::Open(load_.files[file_], load_.csv));
  const auto first = load_.first_records.find(file_);
  first_wanted_ = first == load_.first_records.end() ? 0 : first->second;
  return Status::OK();
}

Result<std::optional<SourceBatch>> CsvSource::Next(const StopToken& stop) {
  while (file_ < load_.files.size()) {
    FIRN_RETURN_NOT_OK(stop.Check());
    if (!reader_) FIRN_RETURN_NOT_OK(OpenFile());
    const std::int64_t first_record = reader_->next_record();
    FIRN_ASSIGN_OR_RETURN(std::shared_ptr<arrow::RecordBatch> texts, reader_->Next());
    if (texts == nullptr) {
      reader_.reset();
      ++file_;
      continue;
    }
    const std::int64_t known =
        std::clamp<std::int64_t>(first_wanted_ - first_record, 0, texts->num_rows());
    if (known == texts->num_rows()) continue;
    return Convert(*texts->Slice(known), first_record + known);
  }
  return std::nullopt;
}

Result<SourceBatch> CsvSource::Convert(const arrow::RecordBatch& texts,
                                       std::int64_t first_record) {
  const std::string& path = load_.files[file_];
  auto converted = converter_.Convert(texts);
  FIRN_RETURN_NOT_OK(firn::AddContext(converted.status(), path));
  if (!converted->rejected.empty()) {
    const RejectedRow& rejected = converted->rejected.front();
    return InvalidError("{}: row {}: {}", path,
                        first_record + rejected.row + kRowOfFirstRecord, rejected.reason);
  }
  return SourceBatch{.table = load_.table,
                     .delivery = {.rows = converted->batch,
                                  .range = wal::SourceRange{
                                      .source = wal::LoadSourceId(load_.load_id, file_),
                                      .first = first_record,
                                      .next = first_record + texts.num_rows()}}};
}

}  // namespace firn::sources
