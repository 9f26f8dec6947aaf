#include "firn/cli/file_text.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "firn/storage/location.h"

namespace firn::cli {
namespace {

/// The largest are exported plans of many row groups.
constexpr std::size_t kFileBytesMax = 256UL << 20;
constexpr std::size_t kPieceBytes = 1UL << 16;

}  // namespace

Result<std::string> ReadFileText(const std::string& path) {
  if (path.starts_with("file:/")) {
    FIRN_ASSIGN_OR_RETURN(const std::string local, storage::LocalPathOf(path));
    return ReadFileText(local);
  }
  if (std::filesystem::is_directory(path))
    return InvalidError("{}: is a directory", path);
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string piece(kPieceBytes, '\0');
  while (file && text.size() <= kFileBytesMax) {
    file.read(piece.data(), std::ssize(piece));
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) {
    return InvalidError("{}: {}", path, std::strerror(errno));
  }
  if (text.size() > kFileBytesMax) {
    return InvalidError("{}: goes on behind {} bytes, which no such file does", path,
                        kFileBytesMax);
  }
  return text;
}

Status WriteFileText(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) return InvalidError("{}: {}", path, std::strerror(errno));
  return Status::OK();
}

Status CheckNoFolder(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_directory(file, error)) return Status::OK();
  return InvalidError("{}: is a folder; name one of its files", file);
}

}  // namespace firn::cli
