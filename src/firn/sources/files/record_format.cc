#include "firn/sources/files/record_format.h"

#include <utility>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <nlohmann/json.hpp>

#include "firn/sources/files/format_readers.h"

namespace firn::sources {
namespace {

using Json = nlohmann::ordered_json;

/// What the errors of a record without a file start with.
constexpr std::string_view kRecordName = "record";

/// Absent if there is none.
constexpr const char* kUnknownFieldsColumn = "unknown_fields_column";

constexpr std::pair<TimeUnit, const char*> kUnits[] = {{TimeUnit::kSeconds, "s"},
                                                       {TimeUnit::kMilliseconds, "ms"},
                                                       {TimeUnit::kMicroseconds, "us"},
                                                       {TimeUnit::kNanoseconds, "ns"}};

std::string UnitName(TimeUnit unit) {
  for (const auto& [value, name] : kUnits) {
    if (value == unit) return name;
  }
  return "";
}

Json CsvJson(const RecordFormat& format) {
  Json json = {{"columns", format.columns},
               {"delimiter", std::string(1, format.options.csv.delimiter.value_or(','))},
               {"null_values", format.options.csv.null_spellings}};
  return json;
}

Result<RecordFormat> FromJson(const Json& json) {
  RecordFormat format;
  FIRN_ASSIGN_OR_RETURN(format.format,
                        ParseFileFormat(json.at("format").get<std::string>()));
  format.options.format = format.format;
  format.options.ignore_unknown = json.at("ignore_unknown").get<bool>();
  format.options.unknown_fields_column = json.value(kUnknownFieldsColumn, "");
  std::vector<std::string> units;
  for (const auto& [column, unit] : json.at("time_units").items()) {
    units.push_back(column + "=" + unit.get<std::string>());
  }
  FIRN_ASSIGN_OR_RETURN(format.options.time_units, ParseTimeUnits(units));
  if (format.format != FileFormat::kCsv) return format;
  format.columns = json.at("columns").get<std::vector<std::string>>();
  CsvOptions& csv = format.options.csv;
  csv.null_spellings = json.at("null_values").get<std::vector<std::string>>();
  const auto delimiter = json.at("delimiter").get<std::string>();
  if (delimiter.size() != 1) return InvalidError("delimiter '{}'", delimiter);
  csv.delimiter = delimiter[0];
  return format;
}

std::string Quoted(std::string_view value) {
  std::string quoted = "\"";
  for (const char c : value) {
    quoted.push_back(c);
    if (c == '"') quoted.push_back('"');
  }
  return quoted + '"';
}

/// The text of a file that holds the record and nothing else.
std::string FileTextOf(std::string_view raw, const RecordFormat& format) {
  std::string text;
  if (format.format == FileFormat::kCsv) {
    for (const std::string& column : format.columns) {
      if (!text.empty()) text.push_back(*format.options.csv.delimiter);
      text += Quoted(column);
    }
    text.push_back('\n');
  }
  return text.append(raw);
}

Result<std::unique_ptr<RecordReader>> Open(std::string text, const RecordFormat& format,
                                           const types::Schema& schema) {
  const auto size = std::ssize(text);
  auto bytes = std::make_shared<arrow::io::BufferReader>(
      arrow::Buffer::FromString(std::move(text)));
  FIRN_ASSIGN_OR_RETURN(
      InputFile file, InputFile::Make(std::move(bytes), std::string(kRecordName), size));
  FileRequest request = {
      .path = std::string(kRecordName), .schema = schema, .options = format.options};
  return format.format == FileFormat::kCsv
             ? OpenCsvRecords(std::move(file), std::move(request))
             : OpenNdjsonRecords(std::move(file), std::move(request));
}

SingleRecord Rejected(const Status& status) {
  std::string reason = ErrorText(status);
  const std::string prefix = std::string(kRecordName) + ": ";
  if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
  return {.row = nullptr, .reason = std::move(reason)};
}

}  // namespace

std::string RecordFormatText(const RecordFormat& format) {
  Json json = {{"format", FileFormatName(format.format)}};
  if (format.format == FileFormat::kCsv) json.update(CsvJson(format));
  json["time_units"] = Json::object();
  for (const auto& [column, unit] : format.options.time_units) {
    json["time_units"][column] = UnitName(unit);
  }
  json["ignore_unknown"] = format.options.ignore_unknown;
  const std::string& unknown = format.options.unknown_fields_column;
  if (!unknown.empty()) json[kUnknownFieldsColumn] = unknown;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RecordFormat> ParseRecordFormat(std::string_view text) {
  try {
    auto format = FromJson(Json::parse(text));
    if (format.ok()) return format;
    return AddContext(format.status(), "the record's format");
  } catch (const Json::exception& e) {
    return InvalidError("the record's format cannot be read ({})", e.what());
  }
}

Result<SingleRecord> ReadSingleRecord(std::string_view raw, const RecordFormat& format,
                                      const types::Schema& schema) {
  const auto reader = Open(FileTextOf(raw, format), format, schema);
  // The schema may have lost a column of the file since: that is one record's fault now.
  if (!reader.ok()) return Rejected(reader.status());
  auto block = (*reader)->Next();
  if (!block.ok()) return Rejected(block.status());
  if (!*block || (*block)->next - (*block)->first != 1) {
    return SingleRecord{.row = nullptr, .reason = "is not one record"};
  }
  RecordBlock& record = **block;
  if (!record.rejected.empty()) {
    return SingleRecord{.row = nullptr, .reason = std::move(record.rejected[0].reason)};
  }
  return SingleRecord{.row = std::move(record.rows), .reason = ""};
}

}  // namespace firn::sources
