#include "firn/sources/files/ndjson_reader.h"

#include <algorithm>
#include <utility>

namespace firn::sources {
namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

std::string_view TrimmedLine(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlanks) + 1 - begin);
}

NdjsonReader::NdjsonReader(InputFile file) : blocks_(std::move(file), kLineBytesMax) {}

Result<NdjsonReader> NdjsonReader::Make(InputFile file) {
  NdjsonReader reader(std::move(file));
  FIRN_ASSIGN_OR_RETURN(const bool has_text, reader.StartBlock());
  if (!has_text) return InvalidError("{}: the file is empty", reader.name());
  FIRN_RETURN_NOT_OK(reader.CheckFirstLine());
  return reader;
}

Status NdjsonReader::CheckFirstLine() {
  const std::string_view text = blocks_.text();
  const std::string_view first = TrimmedLine(text.substr(0, text.find('\n')));
  const bool goes_on = first.size() < text.size();
  if (!first.starts_with('[') && !(first == "{" && goes_on)) return Status::OK();
  return InvalidError(
      "{}: is JSON, but not one object a line; 'jq -c .' makes it so, or 'jq -c .[]' if "
      "it "
      "is an array",
      name());
}

Result<bool> NdjsonReader::StartBlock() {
  FIRN_RETURN_NOT_OK(blocks_.Fill());
  while (!blocks_.is_last() && blocks_.text().find('\n') == std::string_view::npos) {
    const Status status = blocks_.Grow();
    if (!status.ok()) {
      return AddContext(status, fmt::format("{}: line {}", name(), next_line_));
    }
  }
  return !blocks_.text().empty();
}

bool NdjsonReader::TakeLine(std::string_view& line) {
  const std::string_view text = blocks_.text();
  const std::size_t end = text.find('\n');
  const bool has_break = end != std::string_view::npos;
  if (!has_break && (text.empty() || !blocks_.is_last())) return false;
  line = text.substr(0, end);
  blocks_.Consume(line.size() + (has_break ? 1 : 0));
  return true;
}

std::optional<NdjsonLine> NdjsonReader::Next() {
  std::string_view line;
  while (TakeLine(line)) {
    const std::int64_t number = next_line_++;
    const std::string_view text = TrimmedLine(line);
    if (text.empty()) continue;
    return NdjsonLine{.record = next_record_++, .line = number, .text = text};
  }
  return std::nullopt;
}

}  // namespace firn::sources
