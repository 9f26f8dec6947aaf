#include "firn/sources/files/infer_schema.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <arrow/array/array_binary.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "firn/sources/files/column_names.h"
#include "firn/sources/files/file_patterns.h"
#include "firn/sources/files/format_readers.h"
#include "firn/sources/files/ndjson_reader.h"
#include "firn/sources/files/parquet_schema.h"
#include "firn/types/schema_union.h"

namespace firn::sources {
namespace {

/// Looks at files one after the other, all of one format.
class FileInference {
 public:
  FileInference(const FileOptions& options, const StopToken& stop,
                const InferenceProgress& progress, InferenceDetail detail)
      : options_(options),
        stop_(stop),
        progress_(progress),
        detail_(detail),
        inference_(options.time_units, detail) {}

  Status Add(const std::string& path) {
    std::error_code error;
    const bool is_pipe = !std::filesystem::is_regular_file(path, error) &&
                         std::filesystem::exists(path, error);
    if (is_pipe || path == kStandardInput) {
      return InvalidError("{}: can be read only once; give its columns with --schema",
                          is_pipe ? path : "standard input");
    }
    FIRN_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
    FIRN_ASSIGN_OR_RETURN(const FileFormat format, FormatOf(file, options_));
    if (format != format_.value_or(format)) {
      return InvalidError(
          "{}: is {}, and a file before it {}; give one --schema for them", path,
          FileFormatName(format), FileFormatName(*format_));
    }
    format_ = format;
    last_path_ = path;
    if (format == FileFormat::kParquet) return AddParquet(path);
    if (format == FileFormat::kNdjson) return AddNdjson(std::move(file));
    return AddCsv(path, std::move(file));
  }

  Result<InferredSchema> Finish() {
    if (format_ != FileFormat::kParquet) return FinishText();
    FIRN_RETURN_NOT_OK(AddContext(CheckFieldNames(parquet_.fields), last_path_));
    for (types::Field& field : parquet_.fields) {
      if (TimeUnitOf(options_.time_units, field.name)) {
        field.type = types::Type(types::TypeKind::kTimestamptz);
      }
    }
    if (detail_ == InferenceDetail::kForNewTable) {
      parquet_.fields = types::AllOptional(std::move(parquet_.fields));
    }
    return InferredSchema{
        .schema = types::AssignFreshIds(parquet_), .notes = {}, .is_declared = true};
  }

 private:
  Result<InferredSchema> FinishText() const {
    if (records_ > 0) {
      Result<InferredSchema> inferred = inference_.Finish();
      if (!inferred.ok()) return AddContext(inferred.status(), last_path_);
      inferred->notes.insert(inferred->notes.begin(), notes_.begin(), notes_.end());
      return inferred;
    }
    if (detail_ == InferenceDetail::kAsSeen) return InferredSchema();
    return InvalidError(
        "{}: no records to tell the columns' types from; make the table with 'firn table "
        "create'",
        last_path_);
  }

  Status Count(std::int64_t records, const FileProgress& file) {
    records_ += records;
    progress_(records_, bytes_done_ + file.bytes_read);
    return stop_.Check();
  }

  Status AddCsv(const std::string& path, InputFile file) {
    FIRN_ASSIGN_OR_RETURN(
        CsvReader reader,
        CsvReader::Make(std::move(file), CsvOptionsFor(path, options_)));
    inference_.AddColumns(*reader.schema());
    FIRN_RETURN_NOT_OK(CheckHeader(path, reader.schema()->field_names()));
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const CsvRecords records, reader.Next());
      if (records.first == records.next) return Done(reader.progress());
      if (records.first == 0) NoteOtherDelimiter(path, *records.texts);
      inference_.AddTexts(*records.texts, [&](std::int64_t row) {
        return fmt::format("line {} of {}",
                           records.places[static_cast<std::size_t>(row)].line, path);
      });
      FIRN_RETURN_NOT_OK(Count(records.next - records.first, reader.progress()));
    }
  }

  /// Invalid for a header that is most likely read in the wrong way, of which a table
  /// would be made that nobody wants.
  Status CheckHeader(const std::string& path, const std::vector<std::string>& names) {
    if (!options_.csv.has_header) return Status::OK();
    if (names.size() == 1) FIRN_RETURN_NOT_OK(CheckDelimiter(path, names[0]));
    if (detail_ != InferenceDetail::kForNewTable) return Status::OK();
    const std::string* const value = FindValue(names);
    if (value == nullptr) return Status::OK();
    if (LooksLikeRecord(names)) {
      return InvalidError(
          "{}: the header row looks like a record: give --no-header; if it has the names "
          "of columns, declare them with --schema ({})",
          path, Shown(*value));
    }
    notes_.push_back(fmt::format(
        "{}: a column is named {}; if the first line is a record, give --no-header", path,
        Shown(*value)));
    return Status::OK();
  }

  Status CheckDelimiter(const std::string& path, const std::string& name) const {
    if (options_.csv.delimiter) return Status::OK();
    const char used = *CsvOptionsFor(path, options_).delimiter;
    const auto delimiter = LikelyDelimiter(name, used);
    if (!delimiter) return Status::OK();
    return InvalidError(
        "{}: the header is read as one column, '{}'; if '{}' separates values, give "
        "--delimiter '{}', and if it is one column, --delimiter '{}'",
        path, name, *delimiter, *delimiter, used == '\t' ? "\\t" : std::string(1, used));
  }

  /// A first record that is one value and holds what else separates values: a text may.
  void NoteOtherDelimiter(const std::string& path, const arrow::RecordBatch& texts) {
    const bool is_one = texts.num_columns() == 1 && texts.num_rows() > 0;
    if (options_.csv.has_header || options_.csv.delimiter || !is_one) return;
    const auto& column = static_cast<const arrow::StringArray&>(*texts.column(0));
    const auto delimiter =
        LikelyDelimiter(column.GetView(0), *CsvOptionsFor(path, options_).delimiter);
    if (!delimiter) return;
    notes_.push_back(fmt::format(
        "{}: is read as one column; if '{}' separates values, give --delimiter '{}'",
        path, *delimiter, *delimiter));
  }

  Status AddNdjson(InputFile file) {
    FIRN_ASSIGN_OR_RETURN(NdjsonReader reader, NdjsonReader::Make(std::move(file)));
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const bool has_block, reader.StartBlock());
      if (!has_block) return Done(reader.progress());
      std::int64_t records = 0;
      for (; const auto line = reader.Next(); ++records) {
        FIRN_RETURN_NOT_OK(AddContext(inference_.AddJson(line->text), reader.name()));
      }
      FIRN_RETURN_NOT_OK(Count(records, reader.progress()));
    }
  }

  Status AddParquet(const std::string& path) {
    FIRN_ASSIGN_OR_RETURN(types::Schema schema, ReadParquetSchema(path));
    for (types::Field& field : schema.fields) {
      const auto known =
          std::ranges::find(parquet_.fields, field.name, &types::Field::name);
      if (known == parquet_.fields.end()) {
        parquet_.fields.push_back(std::move(field));
      } else if (types::IsPromotion(known->type, field.type)) {
        known->type = field.type;
      } else if (!types::IsPromotion(field.type, known->type)) {
        return InvalidError(
            "{}: column '{}' is of type {}, and in a file before it {}; give one "
            "--schema "
            "for them",
            path, field.name, field.type.ToString(), known->type.ToString());
      }
    }
    return Count(0, {});
  }

  Status Done(const FileProgress& file) {
    bytes_done_ += file.bytes_read;
    return Status::OK();
  }

  const FileOptions& options_;
  const StopToken& stop_;
  const InferenceProgress& progress_;
  const InferenceDetail detail_;
  std::optional<FileFormat> format_;
  SchemaInference inference_;
  types::Schema parquet_;
  std::string last_path_;
  std::vector<std::string> notes_;
  std::int64_t records_ = 0;
  /// Of the files before this one.
  std::int64_t bytes_done_ = 0;
};

}  // namespace

Result<InferredSchema> InferSchema(const std::vector<std::string>& files,
                                   const FileOptions& options, const StopToken& stop,
                                   const InferenceProgress& progress,
                                   InferenceDetail detail) {
  FileInference inference(options, stop, progress, detail);
  for (const std::string& file : files) FIRN_RETURN_NOT_OK(inference.Add(file));
  return inference.Finish();
}

}  // namespace firn::sources
