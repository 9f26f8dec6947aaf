#include "firn/sources/files/csv_reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/utf8.h>

#include "firn/core/format_count.h"
#include "firn/sources/files/column_names.h"

namespace firn::sources {
namespace {

constexpr std::int64_t kRecordsPerBatch = 8192;
/// Without a header.
constexpr std::int64_t kRowsThatTellColumns = 1000;
constexpr char kQuote = '"';
constexpr const char* kOpenQuote = "a quote is never closed";
constexpr const char* kBehindQuote = "something follows a closing quote";

/// CRLF is one.
std::int64_t LineBreaks(std::string_view text) {
  std::int64_t breaks = std::ranges::count(text, '\n');
  for (std::size_t at = text.find('\r'); at != std::string_view::npos;
       at = text.find('\r', at + 1)) {
    if (!text.substr(at + 1).starts_with('\n')) ++breaks;
  }
  return breaks;
}

/// `raw` begins in the line of the quote, and has the rest of the file.
std::string OpenQuote(std::string_view raw) {
  const bool ends_in_break = raw.ends_with('\n') || raw.ends_with('\r');
  const std::int64_t more = LineBreaks(raw) - (ends_in_break ? 1 : 0);
  if (more == 0) return kOpenQuote;
  return fmt::format("{}; the remaining {} of the file {} in it", kOpenQuote,
                     FormatCounted(more, "line"), more == 1 ? "is" : "are");
}

void UndoubleQuotes(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == kQuote) ++i;
  }
}

}  // namespace

/// Cuts one row into its values.
class CsvReader::RowScanner {
 public:
  RowScanner(std::string_view text, bool is_last, char delimiter,
             std::vector<Value>& values)
      : text_(text), is_last_(is_last), delimiter_(delimiter), values_(values) {}

  Row Scan() {
    values_.clear();
    do {
      if (!ScanValue()) return OpenRow();
    } while (TakeDelimiter());
    row_.raw = text_.substr(0, at_);
    return EndRow() ? row_ : Row{};
  }

 private:
  bool AtEnd() const { return at_ == text_.size(); }
  bool AtValueEnd() const {
    if (AtEnd()) return true;
    const char c = text_[at_];
    return c == delimiter_ || c == '\n' || c == '\r';
  }

  std::string_view ToValueEnd() {
    const std::size_t begin = at_;
    while (!AtValueEnd()) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// False if it is quoted and the quote does not end.
  bool ScanValue() {
    if (AtEnd() || text_[at_] != kQuote) {
      values_.push_back({.text = ToValueEnd()});
      return true;
    }
    Value value = {.is_quoted = true};
    const std::size_t begin = ++at_;
    if (!ScanToClosingQuote(value)) return false;
    value.text = text_.substr(begin, at_ - begin);
    row_.lines += LineBreaks(value.text);
    ++at_;
    if (!ToValueEnd().empty()) row_.problem = kBehindQuote;
    values_.push_back(value);
    return true;
  }

  bool ScanToClosingQuote(Value& value) {
    while (true) {
      at_ = text_.find(kQuote, at_);
      if (at_ == std::string_view::npos) return false;
      if (!text_.substr(at_ + 1).starts_with(kQuote)) return true;
      value.has_doubled_quotes = true;
      at_ += 2;
    }
  }

  bool TakeDelimiter() {
    if (AtEnd() || text_[at_] != delimiter_) return false;
    ++at_;
    return true;
  }

  /// A row whose quote is open at the end of the text.
  Row OpenRow() {
    if (!is_last_) return {};
    return {.bytes = text_.size(),
            .raw = text_,
            .lines = LineBreaks(text_) + 1,
            .problem = kOpenQuote};
  }

  /// Takes the line break; false if the text behind it has to be known.
  bool EndRow() {
    ++row_.lines;
    const std::string_view rest = text_.substr(at_);
    const bool may_go_on = rest.empty() || rest == "\r";
    if (may_go_on && !is_last_) return false;
    row_.bytes = at_ + (rest.starts_with("\r\n") ? 2 : rest.empty() ? 0 : 1);
    return true;
  }

  const std::string_view text_;
  const bool is_last_;
  const char delimiter_;
  std::vector<Value>& values_;
  std::size_t at_ = 0;
  Row row_;
};

CsvReader::CsvReader(InputFile file, CsvOptions options)
    : blocks_(std::move(file), options.row_bytes_max), options_(std::move(options)) {
  arrow::util::InitializeUTF8();
}

Result<CsvReader> CsvReader::Make(InputFile file, CsvOptions options,
                                  std::vector<std::string> names) {
  CsvReader reader(std::move(file), std::move(options));
  const Status status = reader.ReadColumns(std::move(names));
  if (!status.ok()) return status;
  return reader;
}

CsvReader::Row CsvReader::ScanRow(std::string_view text, bool is_last) {
  return RowScanner(text, is_last, options_.delimiter.value_or(','), values_).Scan();
}

Status CsvReader::WantMore() {
  const Status status = blocks_.Grow();
  if (status.ok()) return status;
  return AddContext(status, fmt::format("{}: line {} (is a quote never closed?)",
                                        blocks_.name(), next_line_));
}

/// The first row that is not empty, not consumed; false if there is none.
Result<bool> CsvReader::ReadFirstRow(Row& row) {
  FIRN_RETURN_NOT_OK(blocks_.Fill());
  while (true) {
    if (blocks_.is_last() && blocks_.text().empty()) return false;
    row = ScanRow(blocks_.text(), blocks_.is_last());
    if (row.bytes == 0) {
      FIRN_RETURN_NOT_OK(WantMore());
      continue;
    }
    if (!row.raw.empty()) return true;
    blocks_.Consume(row.bytes);
    next_line_ += row.lines;
  }
}

Result<std::vector<std::string>> CsvReader::HeaderNames() const {
  std::vector<std::string> names;
  for (const Value& value : values_) {
    std::string name(value.text);
    if (value.has_doubled_quotes) UndoubleQuotes(value.text, name);
    names.push_back(std::move(name));
  }
  FIRN_RETURN_NOT_OK(AddContext(CheckColumnNames(names),
                                fmt::format("{}: the header row", blocks_.name())));
  return names;
}

/// Of the rows that stand in the first block, which is not consumed.
std::size_t CsvReader::UsualValueCount() {
  std::map<std::size_t, std::int64_t> rows_by_count;
  std::string_view rest = blocks_.text();
  for (std::int64_t rows = 0; rows < kRowsThatTellColumns && !rest.empty(); ++rows) {
    const Row row = ScanRow(rest, blocks_.is_last());
    if (row.bytes == 0) break;
    if (!row.raw.empty() && row.problem == nullptr) ++rows_by_count[values_.size()];
    rest.remove_prefix(row.bytes);
  }
  std::pair<std::size_t, std::int64_t> usual = {1, 0};
  for (const auto& entry : rows_by_count) {
    if (entry.second >= usual.second) usual = entry;
  }
  return usual.first;
}

Result<std::vector<std::string>> CsvReader::NamesWithoutHeader(
    std::vector<std::string> names) {
  const std::size_t count = UsualValueCount();
  if (names.empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      names.push_back(fmt::format("column_{}", i + 1));
    }
  }
  if (count > names.size()) {
    return InvalidError("{}: its records have {} values, but the columns are {}",
                        blocks_.name(), count, fmt::join(names, ", "));
  }
  names.resize(count);
  return names;
}

/// "sep=;" tells a spreadsheet how to read the file, and is no header.
Status CsvReader::CheckForSpreadsheets(std::string_view first_line) const {
  constexpr std::string_view kBegin = "sep=";
  if (!first_line.starts_with(kBegin) || first_line.size() != kBegin.size() + 1) {
    return Status::OK();
  }
  const std::string delimiter =
      first_line.back() == '\t' ? "\\t" : std::string(1, first_line.back());
  return InvalidError(
      "{}: line {} is '{}{}', which is for spreadsheets: remove it, and give --delimiter "
      "'{}'",
      blocks_.name(), next_line_, kBegin, delimiter, delimiter);
}

Status CsvReader::ReadColumns(std::vector<std::string> names) {
  Row row;
  FIRN_ASSIGN_OR_RETURN(const bool has_row, ReadFirstRow(row));
  if (!has_row) return InvalidError("{}: the file is empty", blocks_.name());
  if (options_.has_header) {
    if (row.problem != nullptr) {
      return InvalidError("{}: line {}: {}", blocks_.name(), next_line_, Problem(row));
    }
    FIRN_RETURN_NOT_OK(CheckForSpreadsheets(row.raw));
    FIRN_ASSIGN_OR_RETURN(names, HeaderNames());
    blocks_.Consume(row.bytes);
    next_line_ += row.lines;
  } else {
    FIRN_ASSIGN_OR_RETURN(names, NamesWithoutHeader(std::move(names)));
  }
  arrow::FieldVector fields;
  for (const std::string& name : names) {
    fields.push_back(arrow::field(name, arrow::utf8()));
    columns_.push_back(std::make_shared<arrow::StringBuilder>());
  }
  schema_ = arrow::schema(std::move(fields));
  return Status::OK();
}

Result<CsvRecords> CsvReader::Next() {
  while (true) {
    FIRN_RETURN_NOT_OK(blocks_.Fill());
    CsvRecords records = {.first = std::max(next_record_, first_wanted_)};
    FIRN_RETURN_NOT_OK(ReadRecords(records));
    records.next = next_record_;
    if (records.first < records.next) {
      FIRN_RETURN_NOT_OK(Finish(records));
      return records;
    }
    if (blocks_.is_last() && blocks_.text().empty()) {
      return CsvRecords{.first = next_record_, .next = next_record_};
    }
  }
}

/// Takes the rows of the block; reads more only if it would take none.
Status CsvReader::ReadRecords(CsvRecords& records) {
  const std::int64_t begin = next_record_;
  while (next_record_ - begin < kRecordsPerBatch) {
    if (blocks_.is_last() && blocks_.text().empty()) break;
    const Row row = ScanRow(blocks_.text(), blocks_.is_last());
    if (row.bytes == 0) {
      if (next_record_ > begin) break;
      FIRN_RETURN_NOT_OK(WantMore());
      continue;
    }
    FIRN_RETURN_NOT_OK(AddRow(row, records));
    blocks_.Consume(row.bytes);
    next_line_ += row.lines;
  }
  return Status::OK();
}

std::string CsvReader::Problem(const Row& row) const {
  if (row.problem == kOpenQuote) return OpenQuote(row.raw);
  if (row.problem != nullptr) return row.problem;
  if (values_.size() != columns_.size()) {
    return fmt::format("{} {} for {} {}", values_.size(),
                       values_.size() == 1 ? "value" : "values", columns_.size(),
                       columns_.size() == 1 ? "column" : "columns");
  }
  if (!arrow::util::ValidateUTF8(row.raw)) return "not UTF-8";
  return {};
}

Status CsvReader::AddRow(const Row& row, CsvRecords& records) {
  if (row.raw.empty()) return Status::OK();
  const std::int64_t record = next_record_++;
  if (record < first_wanted_) return Status::OK();
  std::string problem = Problem(row);
  if (!problem.empty()) {
    records.malformed.push_back({.record = record,
                                 .line = next_line_,
                                 .raw = std::string(row.raw),
                                 .reason = std::move(problem),
                                 .reason_class = ReasonClass::kMalformed});
    return Status::OK();
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    FIRN_RETURN_NOT_OK(AppendValue(values_[i], i));
  }
  records.places.push_back({.record = record, .line = next_line_, .raw = row.raw});
  return Status::OK();
}

Status CsvReader::AppendValue(const Value& value, std::size_t column) {
  arrow::StringBuilder& builder = *columns_[column];
  const bool is_null =
      !value.is_quoted && std::ranges::count(options_.null_spellings, value.text) > 0;
  if (is_null) return builder.AppendNull();
  if (!value.has_doubled_quotes) return builder.Append(value.text);
  UndoubleQuotes(value.text, unquoted_);
  return builder.Append(unquoted_);
}

Status CsvReader::Finish(CsvRecords& records) {
  arrow::ArrayVector columns;
  for (const auto& builder : columns_) {
    FIRN_ASSIGN_OR_RETURN(auto column, builder->Finish());
    columns.push_back(std::move(column));
  }
  records.texts =
      arrow::RecordBatch::Make(schema_, std::ssize(records.places), std::move(columns));
  return Status::OK();
}

}  // namespace firn::sources
