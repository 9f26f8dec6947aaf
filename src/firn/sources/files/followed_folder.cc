#include "firn/sources/files/followed_folder.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <tuple>

namespace firn::sources {
namespace {

constexpr std::array<std::string_view, 3> kUnfinishedEndings = {".tmp", ".part",
                                                                ".partial"};

bool IsWanted(const std::string& name, const std::string& pattern) {
  if (name.starts_with('.') || name.starts_with('_')) return false;
  const bool is_unfinished = std::ranges::any_of(
      kUnfinishedEndings,
      [&](std::string_view ending) { return std::string_view(name).ends_with(ending); });
  return !is_unfinished && fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

/// Nothing for what is no file, is empty, or is gone again.
std::optional<FolderFile> Look(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return std::nullopt;
  return FolderFile{
      .path = path,
      .size_bytes = status.st_size,
      .modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

}  // namespace

Result<std::vector<FolderFile>> ListWholeFiles(const FolderOptions& options,
                                               WallTime now) {
  std::error_code error;
  std::filesystem::directory_iterator entry(options.folder, error);
  std::vector<FolderFile> files;
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    if (!IsWanted(entry->path().filename().string(), options.pattern)) continue;
    auto file = Look(entry->path().string());
    if (!file) continue;
    const WallTime modified{Duration(file->modified_ns / 1000)};
    if (now - modified >= options.stable_for) files.push_back(*std::move(file));
  }
  if (error) return InvalidError("{}: {}", options.folder, error.message());
  std::ranges::sort(files, {}, [](const FolderFile& file) {
    return std::tie(file.modified_ns, file.path);
  });
  return files;
}

}  // namespace firn::sources
