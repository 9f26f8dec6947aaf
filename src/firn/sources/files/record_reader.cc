#include "firn/sources/files/record_reader.h"

#include <array>
#include <string>
#include <utility>

#include "firn/core/lower_case.h"
#include "firn/sources/files/file_patterns.h"
#include "firn/sources/files/format_readers.h"

namespace firn::sources {
namespace {

constexpr std::string_view kParquetMagic = "PAR1";
/// How far the first bytes are looked at to tell the format.
constexpr std::int64_t kPeekBytes = 4096;

constexpr std::array<std::pair<std::string_view, FileFormat>, 7> kExtensions = {
    {{".csv", FileFormat::kCsv},
     {".tsv", FileFormat::kCsv},
     {".ndjson", FileFormat::kNdjson},
     {".jsonl", FileFormat::kNdjson},
     {".json", FileFormat::kNdjson},
     {".parquet", FileFormat::kParquet},
     {".pq", FileFormat::kParquet}}};

constexpr std::string_view kOtherCompressions[] = {".bz2", ".xz", ".lz4", ".br",
                                                   ".sz",  ".7z", ".zip", ".tar"};
constexpr std::string_view kOtherFormats[] = {".xlsx", ".xls", ".ods",  ".orc",
                                              ".avro", ".xml", ".arrow"};

std::optional<FileFormat> FormatOfName(std::string_view name) {
  const std::string plain = PlainName(name);
  for (const auto& [extension, format] : kExtensions) {
    if (plain.ends_with(extension)) return format;
  }
  return std::nullopt;
}

/// No --format would help with these.
Status CheckIsReadable(const std::string& name) {
  const std::string lower = LowerCase(name);
  for (const std::string_view extension : kOtherCompressions) {
    if (!lower.ends_with(extension)) continue;
    return InvalidError(
        "{}: of compressions there are gzip and zstd; decompress it first", name);
  }
  for (const std::string_view extension : kOtherFormats) {
    if (!lower.ends_with(extension)) continue;
    return InvalidError(
        "{}: of formats there are CSV, NDJSON and Parquet; convert it first", name);
  }
  return Status::OK();
}

std::optional<FileFormat> FormatOfBytes(std::string_view first_bytes) {
  if (first_bytes.starts_with(kParquetMagic)) return FileFormat::kParquet;
  const std::size_t begin = first_bytes.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && first_bytes[begin] == '{') {
    return FileFormat::kNdjson;
  }
  return std::nullopt;
}

/// Parquet is read from its end: it has to be a file, as it is.
Status CheckIsSeekable(const InputFile& file) {
  if (file.is_compressed()) {
    return InvalidError("{}: is a compressed Parquet file; decompress it first",
                        file.name());
  }
  if (file.progress().bytes_total) return Status::OK();
  return InvalidError("{}: Parquet cannot be read from a pipe; name a file", file.name());
}

}  // namespace

std::string_view FileFormatName(FileFormat format) {
  switch (format) {
    case FileFormat::kCsv:
      return "csv";
    case FileFormat::kNdjson:
      return "ndjson";
    case FileFormat::kParquet:
      return "parquet";
  }
  return "";
}

Result<FileFormat> ParseFileFormat(std::string_view name) {
  for (const FileFormat format :
       {FileFormat::kCsv, FileFormat::kNdjson, FileFormat::kParquet}) {
    if (FileFormatName(format) == name) return format;
  }
  return InvalidError("there is no format '{}'; there are csv, ndjson and parquet", name);
}

std::string PlainName(std::string_view path) {
  std::string name = LowerCase(path);
  for (const std::string_view extension : {".gz", ".gzip", ".zst", ".zstd"}) {
    if (!name.ends_with(extension)) continue;
    name.resize(name.size() - extension.size());
    break;
  }
  return name;
}

Result<FileFormat> FormatOf(InputFile& file, const FileOptions& options) {
  if (options.format) return *options.format;
  if (const auto format = FormatOfName(file.name())) return *format;
  FIRN_ASSIGN_OR_RETURN(const std::string_view first_bytes, file.Peek(kPeekBytes));
  if (first_bytes.empty()) return InvalidError("{}: the file is empty", file.name());
  if (const auto format = FormatOfBytes(first_bytes)) return *format;
  FIRN_RETURN_NOT_OK(CheckIsReadable(file.name()));
  return InvalidError("{}: cannot tell its format; give --format csv, ndjson or parquet",
                      file.name());
}

Result<std::unique_ptr<RecordReader>> OpenRecords(FileRequest request) {
  FIRN_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(request.path));
  FIRN_ASSIGN_OR_RETURN(const FileFormat format, FormatOf(file, request.options));
  if (format == FileFormat::kCsv) {
    return OpenCsvRecords(std::move(file), std::move(request));
  }
  if (format == FileFormat::kNdjson) {
    return OpenNdjsonRecords(std::move(file), std::move(request));
  }
  FIRN_RETURN_NOT_OK(CheckIsSeekable(file));
  return OpenParquetRecords(std::move(request));
}

}  // namespace firn::sources
