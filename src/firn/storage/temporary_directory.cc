#include "firn/storage/temporary_directory.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace firn::storage {

Result<TemporaryDirectory> TemporaryDirectory::Make() {
  const char* parent = std::getenv("TMPDIR");
  const bool has_parent = parent != nullptr && *parent != '\0';
  std::string path = fmt::format("{}/firn-XXXXXX", has_parent ? parent : "/tmp");
  if (::mkdtemp(path.data()) == nullptr) {
    return Status::IOError(fmt::format(
        "cannot make a temporary directory {}: {}; set TMPDIR to a directory with room",
        path, std::generic_category().message(errno)));
  }
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace firn::storage
