#include "firn/cli/load_input.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <arrow/record_batch.h>
#include <fmt/ranges.h>

#include "firn/cli/exit_code.h"
#include "firn/cli/log.h"
#include "firn/cli/progress.h"
#include "firn/cli/schema_file.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/sources/files/file_patterns.h"
#include "firn/sources/files/infer_schema.h"
#include "firn/types/single_value.h"

namespace firn::cli {
namespace {

constexpr std::size_t kExamplesMax = 10;

Result<char> DelimiterOf(const std::string& text) {
  if (text == "\\t") return '\t';
  // Another byte is no text, and the format of a dead letter is kept as text.
  const bool is_ascii = text.size() == 1 && static_cast<unsigned char>(text[0]) < 0x80;
  const bool is_usable = is_ascii && text != "\"" && text != "\n" && text != "\r";
  if (is_usable) return text[0];
  return InvalidError("--delimiter is one ASCII character, or '\\t' for a tab, not '{}'",
                      text);
}

Result<wal::LoadFile> FileOf(const std::string& file) {
  if (file == sources::kStandardInput) return wal::LoadFile{.path = file};
  wal::LoadFile entry;
  FIRN_ASSIGN_OR_RETURN(entry.path, AbsolutePath(file));
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0) {
    return InvalidError("{}: {}", file, std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) return entry;
  entry.size_bytes = status.st_size;
  entry.modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  return entry;
}

/// What decides on how bytes become records and values.
std::vector<std::string> OptionsOf(const LoadArguments& arguments) {
  std::vector<std::string> options;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) options.push_back(fmt::format("{} {}", option, value));
  };
  add("--format", arguments.format);
  add("--delimiter", arguments.delimiter);
  if (arguments.no_header) options.push_back("--no-header");
  if (arguments.ignore_unknown) options.push_back("--ignore-unknown");
  add("--unknown-fields-column", arguments.unknown_fields_column);
  for (const std::string& text : arguments.null_values) {
    options.push_back("--null-value " + text);
  }
  for (const std::string& unit : arguments.time_units) add("--time-unit", unit);
  // Their order says nothing.
  std::ranges::sort(options);
  return options;
}

std::string Joined(const std::vector<std::string>& options) {
  return options.empty() ? "no options" : fmt::format("{}", fmt::join(options, " "));
}

std::string TextOf(const wal::LoadFile& file) {
  const types::Value time = file.modified_ns / 1000;
  return fmt::format("{} ({} bytes, changed {})", file.path, file.size_bytes,
                     types::ToText(types::Type(types::TypeKind::kTimestamptz), time));
}

/// Of "firn load *.csv" the first file would be the table.
Status CheckTableIsNoFile(const std::string& table) {
  struct stat status = {};
  if (stat(table.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return Status::OK();
  return AsUsageError(InvalidError(
      "'{}' is a file, and the table comes first: 'firn load TABLE {}'", table, table));
}

}  // namespace

Status CheckInput(const LoadArguments& arguments) {
  FIRN_RETURN_NOT_OK(CheckTableIsNoFile(arguments.table));
  for (const std::string& file : arguments.files) {
    if (file == sources::kStandardInput && arguments.format == "parquet") {
      return AsUsageError(InvalidError(
          "Parquet cannot be read from standard input, since it is read from its end; "
          "write it to a file, and name that"));
    }
    const std::size_t scheme_end = file.find("://");
    if (scheme_end == std::string::npos || file.find('/') < scheme_end) continue;
    const bool is_file = file.starts_with("file://");
    return AsUsageError(
        InvalidError("{}: input is read from files of this machine only; {}", file,
                     is_file ? "write the path alone: " + file.substr(scheme_end + 3)
                             : "fetch it first, or pipe it into 'firn load TABLE -'"));
  }
  return Status::OK();
}

Result<sources::FileOptions> FileOptionsOf(const LoadArguments& arguments) {
  sources::FileOptions options = {
      .ignore_unknown = arguments.ignore_unknown,
      .unknown_fields_column = arguments.unknown_fields_column};
  if (!arguments.format.empty()) {
    FIRN_ASSIGN_OR_RETURN(options.format, sources::ParseFileFormat(arguments.format));
  }
  if (!arguments.delimiter.empty()) {
    const auto delimiter = DelimiterOf(arguments.delimiter);
    FIRN_RETURN_NOT_OK(AsUsageError(delimiter.status()));
    options.csv.delimiter = *delimiter;
  }
  options.csv.has_header = !arguments.no_header;
  for (const std::string& text : arguments.null_values) {
    options.csv.null_spellings.push_back(text);
  }
  auto units = sources::ParseTimeUnits(arguments.time_units);
  FIRN_RETURN_NOT_OK(AsUsageError(AddContext(units.status(), "--time-unit")));
  options.time_units = *std::move(units);
  return options;
}

Result<wal::LoadManifest> ManifestOf(const LoadArguments& arguments,
                                     const std::vector<std::string>& files) {
  wal::LoadManifest manifest = {.files = {}, .options = OptionsOf(arguments)};
  for (const std::string& file : files) {
    FIRN_ASSIGN_OR_RETURN(wal::LoadFile entry, FileOf(file));
    manifest.files.push_back(std::move(entry));
  }
  return manifest;
}

Status CheckSameLoad(const std::string& id, const wal::LoadManifest& frozen,
                     const wal::LoadManifest& now) {
  for (std::size_t i = 0; i < frozen.files.size(); ++i) {
    if (i < now.files.size() && now.files[i] == frozen.files[i]) continue;
    return InvalidError(
        "load {} was begun with {} as file {}, and now that is {}; name the same, "
        "unchanged files, or load under another id",
        id, TextOf(frozen.files[i]), i + 1,
        i < now.files.size() ? TextOf(now.files[i]) : "missing");
  }
  if (frozen.files.size() != now.files.size()) {
    return InvalidError(
        "load {} was begun with {}, not {}; load the others under another id", id,
        FormatCounted(std::ssize(frozen.files), "file"), now.files.size());
  }
  if (frozen.options == now.options) return Status::OK();
  return AsUsageError(InvalidError(
      "load {} was begun with {}, and now there is {}; give the same options, or load "
      "under another id",
      id, Joined(frozen.options), Joined(now.options)));
}

Result<types::Schema> SchemaForNewTable(const CommandContext& context,
                                        const LoadArguments& arguments,
                                        const std::vector<std::string>& files,
                                        const sources::FileOptions& options) {
  if (!arguments.schema_file.empty()) return ReadSchemaFile(arguments.schema_file);
  FIRN_ASSIGN_OR_RETURN(const wal::LoadManifest manifest, ManifestOf(arguments, files));
  std::int64_t bytes = 0;
  for (const wal::LoadFile& file : manifest.files) bytes += file.size_bytes;
  Progress progress(context.runtime, "finding columns and types", bytes);
  FIRN_ASSIGN_OR_RETURN(
      sources::InferredSchema inferred,
      sources::InferSchema(
          files, options, context.stop, [&](std::int64_t records, std::int64_t read) {
            progress.Update(read, FormatCount(records) + " records read");
          }));
  for (const std::string& note : inferred.notes) LogWarning(note);
  return inferred.schema;
}

Result<CheckedRecords> CheckRecords(const CommandContext& context, sources::FileLoad load,
                                    std::int64_t dead_max) {
  FIRN_ASSIGN_OR_RETURN(const auto source, sources::FileSource::Make(std::move(load)));
  Progress progress(context.runtime, "checking records",
                    source->progress().bytes_total.value_or(0));
  CheckedRecords checked;
  while (checked.dead < dead_max) {
    FIRN_ASSIGN_OR_RETURN(const auto batch, source->Next(context.stop));
    if (!batch) break;
    const auto& rows = batch->delivery.rows;
    if (rows != nullptr) checked.fit += rows->num_rows();
    checked.dead += std::ssize(batch->dead_letters);
    for (const sources::DeadLetter& letter : batch->dead_letters) {
      if (checked.examples.size() == kExamplesMax) break;
      checked.examples.push_back(sources::DeadLetterText(letter));
    }
    progress.Update(source->progress().bytes_read,
                    FormatCount(checked.fit + checked.dead) + " records");
  }
  return checked;
}

}  // namespace firn::cli
