#include "firn/sources/http/ndjson_body.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/util/utf8.h>

#include "firn/sources/files/json_rows.h"
#include "firn/sources/files/ndjson_reader.h"
#include "firn/sources/files/record_format.h"
#include "firn/types/memory_bytes.h"

namespace firn::sources {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Rows are built so many bytes and values at a time: what they take of memory is only
/// known afterwards.
constexpr std::size_t kBlockBytes = 1 << 20;
constexpr std::size_t kBlockValues = 1 << 19;

struct Line {
  std::int64_t number = 0;
  std::string_view text;
};

/// The lines of a body that are not blank, one after another.
class Lines {
 public:
  explicit Lines(std::string_view body) : rest_(body) {
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  std::optional<Line> Next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view text = TrimmedLine(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (!text.empty()) return Line{number_, text};
    }
    return std::nullopt;
  }

 private:
  std::string_view rest_;
  std::int64_t number_ = 0;
};

/// Such a body has no line that fits: it is to be told, not kept as dead letters.
Status CheckIsNdjson(Lines lines) {
  const std::optional<Line> first = lines.Next();
  if (!first) return Status::OK();
  const bool is_spread = first->text == "{" && lines.Next();
  if (!first->text.starts_with('[') && !is_spread) return Status::OK();
  return InvalidError("line {}: the body is JSON, but not one object a line",
                      first->number);
}

std::size_t CountLeaves(const std::vector<types::Field>& fields) {
  std::size_t count = 0;
  for (const types::Field& field : fields) {
    count += std::max<std::size_t>(CountLeaves(field.type.fields()), 1);
  }
  return count;
}

std::int64_t MemoryBytes(const DeadLetter& letter) {
  return std::ssize(letter.raw) + std::ssize(letter.source) + std::ssize(letter.reason) +
         static_cast<std::int64_t>(sizeof(DeadLetter));
}

DeadLetter LetterOf(const Line& line, const Rejection& rejection,
                    const std::string& source,
                    const std::shared_ptr<const std::string>& format) {
  return {.raw = std::string(line.text),
          .source = source,
          .position = line.number,
          .reason = fmt::format("line {}: {}", line.number, rejection.text),
          .reason_class = rejection.reason_class,
          .format = format};
}

/// What dead letters say of where they come from.
struct LetterOrigin {
  const std::string& source;
  const FileOptions& options;
};

/// Reads lines block by block.
class BodyReader {
 public:
  /// References must outlive the reader.
  BodyReader(JsonRows rows, std::size_t block_lines, const LetterOrigin& origin,
             const ClaimMemory& claim)
      : rows_(std::move(rows)),
        block_lines_(block_lines),
        origin_(origin),
        claim_(claim) {}

  Status Add(const Line& line) {
    const Status added = rows_.Add(line.text);
    if (!added.ok()) return AddContext(added, fmt::format("line {}", line.number));
    lines_.push_back(line);
    bytes_ += line.text.size();
    const bool is_full = lines_.size() >= block_lines_ || bytes_ >= kBlockBytes;
    return is_full ? EndBlock() : Status::OK();
  }

  Result<BodyRecords> Finish() {
    FIRN_RETURN_NOT_OK(EndBlock());
    BodyRecords records;
    records.dead_letters = std::move(letters_);
    if (blocks_.empty()) return records;
    if (blocks_.size() == 1) {
      records.rows = std::move(blocks_.front());
      return records;
    }
    FIRN_RETURN_NOT_OK(claim_(rows_bytes_));
    FIRN_ASSIGN_OR_RETURN(records.rows, arrow::ConcatenateRecordBatches(blocks_));
    return records;
  }

 private:
  Status EndBlock() {
    Rejections rejections;
    FIRN_ASSIGN_OR_RETURN(auto rows, rows_.Finish(rejections));
    FIRN_RETURN_NOT_OK(KeepRows(std::move(rows)));
    FIRN_RETURN_NOT_OK(KeepLetters(rejections));
    lines_.clear();
    bytes_ = 0;
    return Status::OK();
  }

  Status KeepRows(std::shared_ptr<arrow::RecordBatch> rows) {
    if (rows->num_rows() == 0) return Status::OK();
    FIRN_ASSIGN_OR_RETURN(const std::int64_t bytes, types::MemoryBytes(*rows));
    FIRN_RETURN_NOT_OK(claim_(bytes));
    rows_bytes_ += bytes;
    blocks_.push_back(std::move(rows));
    return Status::OK();
  }

  Status KeepLetters(const Rejections& rejections) {
    if (rejections.empty()) return Status::OK();
    if (format_ == nullptr) {
      format_ = std::make_shared<const std::string>(RecordFormatText(
          {.format = FileFormat::kNdjson, .columns = {}, .options = origin_.options}));
    }
    std::int64_t bytes = 0;
    for (const auto& [row, rejection] : rejections) {
      letters_.push_back(LetterOf(lines_[static_cast<std::size_t>(row)], rejection,
                                  origin_.source, format_));
      bytes += MemoryBytes(letters_.back());
    }
    return claim_(2 * bytes);
  }

  JsonRows rows_;
  const std::size_t block_lines_;
  const LetterOrigin& origin_;
  const ClaimMemory& claim_;
  /// Of the block that is being read, and their bytes.
  std::vector<Line> lines_;
  std::size_t bytes_ = 0;
  std::vector<std::shared_ptr<arrow::RecordBatch>> blocks_;
  std::int64_t rows_bytes_ = 0;
  std::vector<DeadLetter> letters_;
  /// Of all letters; null while there are none.
  std::shared_ptr<const std::string> format_;
};

}  // namespace

Result<BodyRecords> ReadNdjsonBody(std::string_view body, const types::Schema& schema,
                                   const FileOptions& options, const std::string& source,
                                   const ClaimMemory& claim) {
  arrow::util::InitializeUTF8();
  Lines lines(body);
  FIRN_RETURN_NOT_OK(CheckIsNdjson(lines));
  FIRN_ASSIGN_OR_RETURN(
      JsonRows rows,
      JsonRows::Make(schema, {.time_units = options.time_units,
                              .ignore_unknown = options.ignore_unknown,
                              .unknown_fields_column = options.unknown_fields_column}));
  const LetterOrigin origin = {.source = source, .options = options};
  const std::size_t leaves = std::max<std::size_t>(CountLeaves(schema.fields), 1);
  BodyReader reader(std::move(rows), std::max<std::size_t>(kBlockValues / leaves, 1),
                    origin, claim);
  while (const std::optional<Line> line = lines.Next()) {
    FIRN_RETURN_NOT_OK(reader.Add(*line));
  }
  return reader.Finish();
}

}  // namespace firn::sources
