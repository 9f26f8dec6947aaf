#include "firn/storage/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace firn::storage {
namespace {

Status ScratchError(std::string_view action, std::string_view directory, int code) {
  return Status::IOError(fmt::format(
      "cannot {} a temporary file in {}: {}; free space there, or set TMPDIR to a "
      "directory with more room",
      action, directory, std::generic_category().message(code)));
}

std::string ScratchDirectory() {
  const char* directory = std::getenv("TMPDIR");
  const bool is_set = directory != nullptr && *directory != '\0';
  return is_set ? directory : "/tmp";
}

/// Negative, with errno set, if it cannot be made.
int OpenNamedAndUnlink(const std::string& directory) {
  std::string path = directory + "/firn-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor >= 0) ::unlink(path.c_str());
  return descriptor;
}

int OpenWithoutName(const std::string& directory) {
  const int descriptor =
      ::open(directory.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  // What a file system, or a kernel, without such files says (open(2), O_TMPFILE).
  const bool has_none =
      descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
  return has_none ? OpenNamedAndUnlink(directory) : descriptor;
}

}  // namespace

Result<std::shared_ptr<ScratchFile>> ScratchFile::Make() {
  std::string directory = ScratchDirectory();
  const int descriptor = OpenWithoutName(directory);
  if (descriptor < 0) return ScratchError("create", directory, errno);
  return std::shared_ptr<ScratchFile>(new ScratchFile(std::move(directory), descriptor));
}

ScratchFile::~ScratchFile() { ::close(descriptor_); }

Status ScratchFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), size_bytes_);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ScratchError("write", directory_, errno);
    size_bytes_ += written;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Status::OK();
}

Result<std::int64_t> ScratchFile::ReadAt(std::int64_t position, std::int64_t nbytes,
                                         void* out) const {
  std::int64_t done = 0;
  while (done < nbytes) {
    const ssize_t count =
        ::pread(descriptor_, static_cast<char*>(out) + done,
                static_cast<std::size_t>(nbytes - done), position + done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ScratchError("read", directory_, errno);
    if (count == 0) break;
    done += count;
  }
  return done;
}

}  // namespace firn::storage
