#include <optional>
#include <utility>

#include <arrow/record_batch.h>

#include "firn/sources/files/format_readers.h"
#include "firn/sources/files/json_rows.h"
#include "firn/sources/files/ndjson_reader.h"

namespace firn::sources {
namespace {

constexpr std::int64_t kRecordsPerBatch = 8192;

class NdjsonRecordReader : public RecordReader {
 public:
  NdjsonRecordReader(NdjsonReader reader, JsonRows rows, FileRequest request)
      : reader_(std::move(reader)),
        rows_(std::move(rows)),
        request_(std::move(request)) {}

  Result<std::optional<RecordBlock>> Next() override {
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const bool has_block, reader_.StartBlock());
      if (!has_block) return std::nullopt;
      FIRN_RETURN_NOT_OK(AddContext(AddLines(), reader_.name()));
      if (!lines_.empty()) return FinishBlock();
    }
  }

  std::int64_t next_record() const override { return reader_.next_record(); }

  FileProgress progress() const override { return reader_.progress(); }

  RecordFormat record_format() const override {
    return {.format = FileFormat::kNdjson, .columns = {}, .options = request_.options};
  }

 private:
  Status AddLines() {
    lines_.clear();
    while (rows_.row_count() < kRecordsPerBatch) {
      const std::optional<NdjsonLine> line = reader_.Next();
      if (!line) break;
      if (line->record < request_.first_record) continue;
      FIRN_RETURN_NOT_OK(rows_.Add(line->text));
      lines_.push_back(*line);
    }
    return Status::OK();
  }

  Result<RecordBlock> FinishBlock() {
    RecordBlock block = {.first = lines_.front().record,
                         .next = lines_.back().record + 1};
    Rejections rejections;
    FIRN_ASSIGN_OR_RETURN(block.rows, rows_.Finish(rejections));
    const auto line = [&](std::int64_t row) -> const NdjsonLine& {
      return lines_[static_cast<std::size_t>(row)];
    };
    for (const std::int64_t row : RowsThatFit(std::ssize(lines_), rejections)) {
      block.records.push_back(line(row).record);
    }
    for (auto& [row, reason] : rejections) {
      block.rejected.push_back({.record = line(row).record,
                                .line = line(row).line,
                                .raw = std::string(line(row).text),
                                .reason = std::move(reason.text),
                                .reason_class = reason.reason_class});
    }
    return block;
  }

  NdjsonReader reader_;
  JsonRows rows_;
  const FileRequest request_;
  /// One for each row of `rows_`.
  std::vector<NdjsonLine> lines_;
};

}  // namespace

Result<std::unique_ptr<RecordReader>> OpenNdjsonRecords(InputFile file,
                                                        FileRequest request) {
  FIRN_ASSIGN_OR_RETURN(NdjsonReader reader, NdjsonReader::Make(std::move(file)));
  FIRN_ASSIGN_OR_RETURN(
      JsonRows rows,
      JsonRows::Make(request.schema,
                     {.time_units = request.options.time_units,
                      .ignore_unknown = request.options.ignore_unknown,
                      .unknown_fields_column = request.options.unknown_fields_column,
                      .starts_midway = request.first_record > 0}));
  return std::make_unique<NdjsonRecordReader>(std::move(reader), std::move(rows),
                                              std::move(request));
}

}  // namespace firn::sources
