#include "firn/sources/http/ndjson_body.h"

#include <utility>

#include <arrow/record_batch.h>
#include <arrow/util/utf8.h>

#include "firn/sources/files/json_rows.h"
#include "firn/sources/files/ndjson_reader.h"
#include "firn/sources/files/record_format.h"

namespace firn::sources {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct Line {
  std::int64_t number = 0;
  std::string_view text;
};

std::vector<Line> LinesOf(std::string_view body) {
  if (body.starts_with(kByteOrderMark)) body.remove_prefix(kByteOrderMark.size());
  std::vector<Line> lines;
  for (std::int64_t number = 1; !body.empty(); ++number) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    const std::string_view text = TrimmedLine(body.substr(0, end));
    if (!text.empty()) lines.push_back({number, text});
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return lines;
}

/// Such a body has no line that fits: it is to be told, not kept as dead letters.
Status CheckIsNdjson(const std::vector<Line>& lines) {
  if (lines.empty()) return Status::OK();
  const Line& first = lines.front();
  const bool is_spread = first.text == "{" && lines.size() > 1;
  if (!first.text.starts_with('[') && !is_spread) return Status::OK();
  return InvalidError("line {}: the body is JSON, but not one object a line",
                      first.number);
}

DeadLetter LetterOf(const Line& line, std::string reason, const std::string& source,
                    const std::shared_ptr<const std::string>& format) {
  return {.raw = std::string(line.text),
          .source = source,
          .position = line.number,
          .reason = fmt::format("line {}: {}", line.number, reason),
          .format = format};
}

}  // namespace

Result<BodyRecords> ReadNdjsonBody(std::string_view body, const types::Schema& schema,
                                   const FileOptions& options,
                                   const std::string& source) {
  arrow::util::InitializeUTF8();
  const std::vector<Line> lines = LinesOf(body);
  FIRN_RETURN_NOT_OK(CheckIsNdjson(lines));
  FIRN_ASSIGN_OR_RETURN(
      JsonRows rows, JsonRows::Make(schema, {.time_units = options.time_units,
                                             .ignore_unknown = options.ignore_unknown}));
  for (const Line& line : lines) {
    const Status added = rows.Add(line.text);
    if (!added.ok()) return AddContext(added, fmt::format("line {}", line.number));
  }
  Rejections rejections;
  BodyRecords records;
  FIRN_ASSIGN_OR_RETURN(records.rows, rows.Finish(rejections));
  if (records.rows->num_rows() == 0) records.rows = nullptr;
  if (rejections.empty()) return records;
  const auto format = std::make_shared<const std::string>(RecordFormatText(
      {.format = FileFormat::kNdjson, .columns = {}, .options = options}));
  for (auto& [row, reason] : rejections) {
    records.dead_letters.push_back(LetterOf(lines[static_cast<std::size_t>(row)],
                                            std::move(reason), source, format));
  }
  return records;
}

}  // namespace firn::sources
