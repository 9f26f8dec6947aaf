#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "firn/sources/files/format_readers.h"
#include "firn/sources/files/value_converter.h"
#include "firn/types/column_list.h"

namespace firn::sources {
namespace {

class CsvRecordReader : public RecordReader {
 public:
  CsvRecordReader(CsvReader reader, ValueConverter converter, FileOptions options)
      : reader_(std::move(reader)),
        converter_(std::move(converter)),
        options_(std::move(options)) {}

  Result<std::optional<RecordBlock>> Next() override {
    FIRN_ASSIGN_OR_RETURN(CsvRecords records, reader_.Next());
    if (records.first == records.next) return std::nullopt;
    auto converted = converter_.Convert(*records.texts);
    if (!converted.ok()) return AddContext(converted.status(), reader_.name());
    return BlockOf(std::move(records), *std::move(converted));
  }

  std::int64_t next_record() const override { return reader_.next_record(); }

  FileProgress progress() const override { return reader_.progress(); }

  RecordFormat record_format() const override {
    return {.format = FileFormat::kCsv,
            .columns = reader_.schema()->field_names(),
            .options = options_};
  }

 private:
  static RecordBlock BlockOf(CsvRecords records, ConvertedBatch converted) {
    RecordBlock block = {.first = records.first,
                         .next = records.next,
                         .rows = std::move(converted.batch),
                         .rejected = std::move(records.malformed)};
    const auto place = [&](std::int64_t row) -> const CsvPlace& {
      return records.places[static_cast<std::size_t>(row)];
    };
    for (const std::int64_t row : converted.rows) {
      block.records.push_back(place(row).record);
    }
    for (auto& [row, reason] : converted.rejected) {
      block.rejected.push_back({.record = place(row).record,
                                .line = place(row).line,
                                .raw = std::string(place(row).raw),
                                .reason = std::move(reason.text),
                                .reason_class = reason.reason_class});
    }
    std::ranges::sort(block.rejected, {}, &RejectedRecord::record);
    return block;
  }

  CsvReader reader_;
  ValueConverter converter_;
  const FileOptions options_;
};

}  // namespace

CsvOptions CsvOptionsFor(const std::string& path, const FileOptions& options) {
  CsvOptions csv = options.csv;
  if (csv.delimiter) return csv;
  csv.delimiter = PlainName(path).ends_with(".tsv") ? '\t' : ',';
  return csv;
}

Result<std::unique_ptr<RecordReader>> OpenCsvRecords(InputFile file,
                                                     FileRequest request) {
  const std::string name = file.name();
  request.options.csv = CsvOptionsFor(request.path, request.options);
  FIRN_ASSIGN_OR_RETURN(CsvReader reader,
                        CsvReader::Make(std::move(file), request.options.csv,
                                        ColumnNames(request.schema.fields)));
  reader.SkipTo(request.first_record);
  auto converter =
      ValueConverter::Make(std::move(request.schema), reader.schema()->field_names(),
                           {.time_units = request.options.time_units,
                            .ignore_unknown = request.options.ignore_unknown,
                            .delimiter = request.options.csv.delimiter.value_or(','),
                            .starts_midway = request.first_record > 0});
  if (!converter.ok()) return AddContext(converter.status(), name);
  return std::make_unique<CsvRecordReader>(std::move(reader), *std::move(converter),
                                           std::move(request.options));
}

}  // namespace firn::sources
