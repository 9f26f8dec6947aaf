#include "firn/sources/files/csv_reader.h"

#include <algorithm>
#include <set>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/csv/options.h>
#include <arrow/csv/parser.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/utf8.h>

namespace firn::sources {
namespace {

constexpr std::int64_t kReadBytes = 1LL << 20;
constexpr std::int32_t kRecordsPerBatch = 8192;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::int64_t kHeaderRow = 1;
constexpr std::int32_t kColumnsOfFirstRow = -1;

arrow::csv::ParseOptions ParseOptions() {
  arrow::csv::ParseOptions options = arrow::csv::ParseOptions::Defaults();
  options.newlines_in_values = true;
  return options;
}

/// What Arrow's parser hands to the visitors of a column.
std::string_view ValueView(const std::uint8_t* data, std::uint32_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Parses whole rows at the front of `text`; gives their bytes.
Result<std::uint32_t> ParseRows(arrow::csv::BlockParser& parser, std::string_view text) {
  std::uint32_t bytes = 0;
  FIRN_RETURN_NOT_OK(parser.Parse(text, &bytes));
  return bytes;
}

Result<std::vector<std::string>> ColumnNames(const arrow::csv::BlockParser& header) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  names.reserve(static_cast<std::size_t>(header.num_cols()));
  for (std::int32_t i = 0; i < header.num_cols(); ++i) {
    const auto take = [&](const std::uint8_t* data, std::uint32_t size, bool, bool) {
      names.emplace_back(ValueView(data, size));
      return Status::OK();
    };
    FIRN_RETURN_NOT_OK(header.VisitColumn(i, take));
    const std::string& name = names.back();
    if (name.empty()) return InvalidError("column {} of the header has no name", i + 1);
    if (!arrow::util::ValidateUTF8(name)) {
      return InvalidError("the name of column {} of the header is not UTF-8", i + 1);
    }
    if (!seen.insert(name).second) {
      return InvalidError("two columns have the name '{}'; rename one of them", name);
    }
  }
  return names;
}

using NullSpellings = std::vector<std::string>;

Result<std::shared_ptr<arrow::Array>> ColumnOf(const arrow::csv::BlockParser& parser,
                                               int index, const std::string& name,
                                               const NullSpellings& null_spellings) {
  arrow::StringBuilder builder;
  FIRN_RETURN_NOT_OK(builder.Reserve(parser.num_rows()));
  const auto append = [&](const std::uint8_t* data, std::uint32_t size, bool quoted,
                          bool) -> Status {
    const std::string_view value = ValueView(data, size);
    const bool is_null = !quoted && std::ranges::count(null_spellings, value) > 0;
    if (is_null) return builder.AppendNull();
    if (!arrow::util::ValidateUTF8(value)) {
      return InvalidError("the value of column '{}' is not UTF-8", name);
    }
    return builder.Append(value);
  };
  FIRN_RETURN_NOT_OK(parser.VisitColumn(index, append));
  return builder.Finish();
}

Result<std::shared_ptr<arrow::RecordBatch>> RecordsOf(
    const arrow::csv::BlockParser& parser, const std::shared_ptr<arrow::Schema>& schema,
    const NullSpellings& null_spellings) {
  arrow::ArrayVector columns;
  for (int i = 0; i < schema->num_fields(); ++i) {
    FIRN_ASSIGN_OR_RETURN(auto column,
                          ColumnOf(parser, i, schema->field(i)->name(), null_spellings));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(schema, parser.num_rows(), std::move(columns));
}

}  // namespace

CsvReader::CsvReader(std::shared_ptr<arrow::io::InputStream> input, std::string name,
                     CsvOptions options)
    : input_(std::move(input)),
      name_(std::move(name)),
      options_(std::move(options)),
      wanted_bytes_(kReadBytes) {
  arrow::util::InitializeUTF8();
}

Result<CsvReader> CsvReader::Open(std::string path, CsvOptions options) {
  auto file = arrow::io::ReadableFile::Open(path);
  if (!file.ok()) return file.status();
  return Make(*std::move(file), std::move(path), std::move(options));
}

Result<CsvReader> CsvReader::Make(std::shared_ptr<arrow::io::InputStream> input,
                                  std::string name, CsvOptions options) {
  CsvReader reader(std::move(input), std::move(name), std::move(options));
  const Status status = reader.ReadHeader();
  if (!status.ok()) return reader.AddContext(status);
  return reader;
}

Status CsvReader::AddContext(const Status& status) const {
  return firn::AddContext(status, name_);
}

Status CsvReader::FillBuffer() {
  while (!is_input_at_end_ && std::ssize(buffer_) < wanted_bytes_) {
    FIRN_ASSIGN_OR_RETURN(const auto bytes,
                          input_->Read(wanted_bytes_ - std::ssize(buffer_)));
    buffer_.append(reinterpret_cast<const char*>(bytes->data()),
                   static_cast<std::size_t>(bytes->size()));
    is_input_at_end_ = bytes->size() == 0;
    // The last line may lack its break; only a quote that is open goes on behind it.
    if (is_input_at_end_ && !buffer_.empty() && buffer_.back() != '\n') buffer_ += '\n';
  }
  return Status::OK();
}

/// The buffer holds no whole row: more has to be read at once.
Status CsvReader::WantMore() {
  if (is_input_at_end_) {
    return InvalidError("row {}: a quote is never closed", next_record_ + kHeaderRow + 1);
  }
  if (std::ssize(buffer_) >= options_.row_bytes_max) {
    return InvalidError("row {} is longer than {} bytes; is a quote never closed?",
                        next_record_ + kHeaderRow + 1, options_.row_bytes_max);
  }
  wanted_bytes_ = std::min(wanted_bytes_ * 2, options_.row_bytes_max);
  return Status::OK();
}

Status CsvReader::ReadHeader() {
  FIRN_RETURN_NOT_OK(FillBuffer());
  if (buffer_.starts_with(kByteOrderMark)) buffer_.erase(0, kByteOrderMark.size());
  if (buffer_.find_first_not_of("\r\n") == std::string::npos) {
    return InvalidError("there is no header row");
  }
  arrow::csv::BlockParser parser(ParseOptions(), kColumnsOfFirstRow, kHeaderRow, 1);
  // Without a number of columns to hold it against, only an open quote makes it fail.
  const Result<std::uint32_t> bytes = ParseRows(parser, buffer_);
  if (!bytes.ok()) {
    return InvalidError(
        "the header row does not end within {} bytes; is a quote never "
        "closed?",
        kReadBytes);
  }
  arrow::FieldVector fields;
  FIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, ColumnNames(parser));
  for (const std::string& name : names) {
    fields.push_back(arrow::field(name, arrow::utf8()));
  }
  schema_ = arrow::schema(std::move(fields));
  buffer_.erase(0, *bytes);
  return Status::OK();
}

Result<std::shared_ptr<arrow::RecordBatch>> CsvReader::Next() {
  auto batch = NextRecords();
  if (!batch.ok()) return AddContext(batch.status());
  return batch;
}

Result<std::shared_ptr<arrow::RecordBatch>> CsvReader::NextRecords() {
  while (true) {
    FIRN_RETURN_NOT_OK(FillBuffer());
    arrow::csv::BlockParser parser(ParseOptions(), schema_->num_fields(),
                                   next_record_ + kHeaderRow + 1, kRecordsPerBatch);
    FIRN_ASSIGN_OR_RETURN(const std::uint32_t bytes, ParseRows(parser, buffer_));
    buffer_.erase(0, bytes);
    if (parser.num_rows() > 0) {
      next_record_ += parser.num_rows();
      wanted_bytes_ = kReadBytes;
      return RecordsOf(parser, schema_, options_.null_spellings);
    }
    if (is_input_at_end_ && buffer_.empty()) return nullptr;
    FIRN_RETURN_NOT_OK(WantMore());
  }
}

}  // namespace firn::sources
