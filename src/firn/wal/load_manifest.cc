#include "firn/wal/load_manifest.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "firn/core/percent_decoded.h"
#include "firn/core/whole_number.h"
#include "firn/wal/escaped_line.h"

namespace firn::wal {
namespace {

constexpr std::string_view kHeader = "firn load 2\n";
/// What a line of an option starts with; one of a file starts with a digit.
constexpr std::string_view kOptionMark = "option ";
constexpr std::size_t kIdLengthMax = 128;

bool IsLetterOrDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsIdCharacter(char c) {
  return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-';
}

std::string LoadPrefix(const TableUuid& table) {
  return fmt::format("{}{}/", kLoadsPrefix, table);
}

std::string LoadKey(const TableUuid& table, std::string_view id) {
  return LoadPrefix(table) + std::string(id);
}

std::string TakenFilesPrefix(const TableUuid& table) {
  return fmt::format("{}{}/", kTakenFilesPrefix, table);
}

std::string EndedLoadPrefix(const TableUuid& table) {
  return fmt::format("{}{}/", kEndedLoadsPrefix, table);
}

std::string EndedLoadKey(const TableUuid& table, std::string_view id) {
  return EndedLoadPrefix(table) + std::string(id);
}

std::string Encode(const LoadManifest& manifest) {
  std::string text(kHeader);
  for (const std::string& option : manifest.options) {
    text += fmt::format("{}{}\n", kOptionMark, EscapedLine(option));
  }
  for (const LoadFile& file : manifest.files) {
    text += fmt::format("{} {} {}\n", file.size_bytes, file.modified_ns,
                        EscapedLine(file.path));
  }
  return text;
}

/// Takes a number and the blank behind it off the front.
bool TakeNumber(std::string_view& line, std::int64_t& number) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return false;
  const auto parsed = ParseWholeNumber<std::int64_t>(line.substr(0, space));
  if (!parsed) return false;
  number = *parsed;
  line.remove_prefix(space + 1);
  return true;
}

bool DecodeLine(std::string_view line, LoadManifest& manifest) {
  const bool is_option = line.starts_with(kOptionMark);
  LoadFile file;
  if (is_option) {
    line.remove_prefix(kOptionMark.size());
  } else if (!TakeNumber(line, file.size_bytes) || !TakeNumber(line, file.modified_ns)) {
    return false;
  }
  auto text = PercentDecoded(line);
  if (!text) return false;
  if (is_option) {
    manifest.options.push_back(*std::move(text));
  } else {
    file.path = *std::move(text);
    manifest.files.push_back(std::move(file));
  }
  return true;
}

std::optional<LoadManifest> Decode(std::string_view text) {
  if (!text.starts_with(kHeader)) return std::nullopt;
  text.remove_prefix(kHeader.size());
  LoadManifest manifest;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    if (!DecodeLine(text.substr(0, end), manifest)) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  return manifest;
}

}  // namespace

Status CheckLoadId(std::string_view id) {
  const bool valid = !id.empty() && id.size() <= kIdLengthMax &&
                     IsLetterOrDigit(id.front()) &&
                     std::ranges::all_of(id, IsIdCharacter);
  if (valid) return Status::OK();
  return InvalidError(
      "a load is named by 1 to {} letters, digits, '.', '_' and '-', the first a letter "
      "or digit: not '{}'",
      kIdLengthMax, id);
}

std::string LoadSourceId(std::string_view id, std::size_t file) {
  return fmt::format("load:{}:{}", id, file);
}

bool IsLoadSource(std::string_view source) { return source.starts_with("load:"); }

Result<LoadManifest> FreezeLoad(storage::ObjectStore& store, const TableUuid& table,
                                std::string_view id, const LoadManifest& manifest) {
  FIRN_RETURN_NOT_OK(CheckLoadId(id));
  const Status put =
      store.PutWhole(LoadKey(table, id), Encode(manifest), storage::PutMode::kIfAbsent);
  // Whatever happened to the PUT, the object that is there now is the list.
  if (put.ok() || IsError(put, ErrorKind::kAlreadyExists) ||
      IsError(put, ErrorKind::kOutcomeUnknown)) {
    return ReadLoad(store, table, id);
  }
  return AddContext(put, fmt::format("begin load {}", id));
}

Result<LoadManifest> ReadLoad(storage::ObjectStore& store, const TableUuid& table,
                              std::string_view id) {
  FIRN_RETURN_NOT_OK(CheckLoadId(id));
  const std::string key = LoadKey(table, id);
  FIRN_ASSIGN_OR_RETURN(const std::string text, store.GetWhole(key));
  auto manifest = Decode(text);
  if (manifest) return *std::move(manifest);
  return Error(ErrorKind::kCorruption, "{} is not the file list of a load",
               store.Location(key));
}

Status EndLoad(storage::ObjectStore& store, const TableUuid& table, std::string_view id) {
  FIRN_RETURN_NOT_OK(CheckLoadId(id));
  return store.PutWhole(EndedLoadKey(table, id), "");
}

Result<std::vector<EndedLoad>> ListEndedLoads(storage::ObjectStore& store,
                                              const TableUuid& table) {
  const std::string prefix = EndedLoadPrefix(table);
  FIRN_ASSIGN_OR_RETURN(const auto objects, store.List(prefix));
  std::vector<EndedLoad> loads;
  for (const storage::ObjectInfo& object : objects) {
    std::string id = object.key.substr(prefix.size());
    if (!CheckLoadId(id).ok()) continue;
    loads.push_back({.id = std::move(id), .ended_us = object.modified_us});
  }
  return loads;
}

Status ForgetLoad(storage::ObjectStore& store, const TableUuid& table,
                  std::string_view id) {
  FIRN_RETURN_NOT_OK(store.Delete(LoadKey(table, id)));
  return store.Delete(EndedLoadKey(table, id));
}

Status NoteTakenFile(storage::ObjectStore& store, const TableUuid& table,
                     const TakenFile& taken, const LoadFile& file) {
  FIRN_RETURN_NOT_OK(CheckLoadId(taken.id));
  return store.PutWhole(
      fmt::format("{}{}.{}", TakenFilesPrefix(table), taken.id, taken.stamp),
      Encode({.files = {file}, .options = {}}));
}

Result<std::vector<TakenFile>> ListTakenFiles(storage::ObjectStore& store,
                                              const TableUuid& table) {
  const std::string prefix = TakenFilesPrefix(table);
  FIRN_ASSIGN_OR_RETURN(const auto objects, store.List(prefix));
  std::vector<TakenFile> files;
  for (const storage::ObjectInfo& object : objects) {
    const std::string name = object.key.substr(prefix.size());
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || !CheckLoadId(name.substr(0, dot)).ok()) continue;
    files.push_back({.id = name.substr(0, dot), .stamp = name.substr(dot + 1)});
  }
  return files;
}

Result<std::vector<std::string>> ListLoads(storage::ObjectStore& store,
                                           const TableUuid& table) {
  const std::string prefix = LoadPrefix(table);
  FIRN_ASSIGN_OR_RETURN(const auto objects, store.List(prefix));
  std::vector<std::string> ids;
  for (const storage::ObjectInfo& object : objects) {
    std::string id = object.key.substr(prefix.size());
    if (CheckLoadId(id).ok()) ids.push_back(std::move(id));
  }
  return ids;
}

}  // namespace firn::wal
