#include "firn/sources/files/file_patterns.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <glob.h>
#include <sys/stat.h>

namespace firn::sources {
namespace {

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool IsPattern(const std::string& path) {
  return path.find_first_of("*?[") != std::string::npos;
}

Result<std::vector<std::string>> Matches(const std::string& pattern) {
  glob_t found = {};
  const int outcome = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (outcome == GLOB_NOMATCH) {
    return Error(ErrorKind::kNotFound, "{}: no file matches", pattern);
  }
  if (outcome != 0) return InvalidError("{}: the folder cannot be listed", pattern);
  std::ranges::sort(paths);
  return paths;
}

Result<std::vector<std::string>> Expand(const std::string& pattern) {
  if (pattern == kStandardInput || Exists(pattern)) return std::vector{pattern};
  if (pattern.find("**") != std::string::npos) {
    return InvalidError(
        "{}: '**' would match one folder only; write '*/*' for each depth, or name the "
        "files that find(1) prints",
        pattern);
  }
  if (IsPattern(pattern)) return Matches(pattern);
  const bool has_braces = pattern.find('{') != std::string::npos;
  return Error(ErrorKind::kNotFound, "{}: no such file{}", pattern,
               has_braces ? "; patterns know *, ? and [...] only" : "");
}

Status CheckIsFile(const std::string& path) {
  std::error_code error;
  if (path == kStandardInput || !std::filesystem::is_directory(path, error)) {
    return Status::OK();
  }
  return InvalidError("{}: is a directory; name the files in it, such as '{}'", path,
                      (std::filesystem::path(path) / "*").string());
}

/// Which file a path leads to, whatever links to it.
using FileIdentity = std::pair<dev_t, ino_t>;

class NamedFiles {
 public:
  Status Add(const std::string& path) {
    FileIdentity identity = {};
    struct stat status = {};
    if (path != kStandardInput && stat(path.c_str(), &status) == 0) {
      identity = {status.st_dev, status.st_ino};
    }
    const auto [named, is_new] = names_.emplace(identity, path);
    if (is_new) return Status::OK();
    if (named->second == path) return InvalidError("{}: is named twice", path);
    return InvalidError("{}: is the same file as {}; name one of them", path,
                        named->second);
  }

 private:
  std::map<FileIdentity, std::string> names_;
};

}  // namespace

Result<std::vector<std::string>> ExpandFiles(const std::vector<std::string>& patterns) {
  std::vector<std::string> files;
  NamedFiles named;
  for (const std::string& pattern : patterns) {
    FIRN_ASSIGN_OR_RETURN(std::vector<std::string> paths, Expand(pattern));
    for (std::string& path : paths) {
      FIRN_RETURN_NOT_OK(CheckIsFile(path));
      FIRN_RETURN_NOT_OK(named.Add(path));
      files.push_back(std::move(path));
    }
  }
  return files;
}

}  // namespace firn::sources
