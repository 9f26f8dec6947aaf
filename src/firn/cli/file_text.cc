#include "firn/cli/file_text.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "firn/storage/location.h"

namespace firn::cli {

Result<std::string> ReadFileText(const std::string& path) {
  if (path.starts_with("file:/")) {
    FIRN_ASSIGN_OR_RETURN(const std::string local, storage::LocalPathOf(path));
    return ReadFileText(local);
  }
  if (std::filesystem::is_directory(path))
    return InvalidError("{}: is a directory", path);
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) {
    return InvalidError("{}: {}", path, std::strerror(errno));
  }
  return text;
}

Status WriteFileText(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) return InvalidError("{}: {}", path, std::strerror(errno));
  return Status::OK();
}

}  // namespace firn::cli
