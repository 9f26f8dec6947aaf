#include "firn/storage/local_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "firn/storage/request_checks.h"

namespace firn::storage {
namespace {

constexpr mode_t kFileMode = 0600;

std::string_view AdviceFor(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return "; free space there, or choose another directory";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; give this user access to it, or choose another directory";
    case ENOTDIR:
    case EISDIR:
      return "; a file and a directory are in each other's place: move one away";
    case EMFILE:
    case ENFILE:
      return "; raise the limit of open files (ulimit -n)";
    default:
      return "";
  }
}

Status WriteAll(const FileDescriptor& file, std::string_view bytes,
                const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Status::OK();
}

}  // namespace

Status FileError(std::string_view action, std::string_view path, int code) {
  std::string message =
      fmt::format("cannot {} {}: {}{}", action, path,
                  std::generic_category().message(code), AdviceFor(code));
  switch (code) {
    case ENOENT:
      return MakeError(ErrorKind::kNotFound, std::move(message));
    case EEXIST:
      return MakeError(ErrorKind::kAlreadyExists, std::move(message));
    case EMFILE:
    case ENFILE:
      return MakeError(ErrorKind::kUnavailable, std::move(message));
    default:
      return Status::IOError(std::move(message));
  }
}

bool IsNoObject(int code) { return code == ENOENT || code == ENOTDIR || code == EISDIR; }

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

Status SyncFolder(const std::string& folder) {
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open() || ::fsync(opened.number()) != 0) {
    return FileError("sync the directory", folder, errno);
  }
  return Status::OK();
}

Result<TemporaryFile> TemporaryFile::Make(Runtime& runtime, const std::string& folder) {
  std::string path = fmt::format("{}/{}put-{:016x}", folder == "/" ? "" : folder,
                                 kReservedNamePrefix, runtime.Random64());
  FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  if (!file.is_open()) return FileError("create", path, errno);
  return TemporaryFile(std::move(path), std::move(file));
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Status TemporaryFile::Append(std::string_view bytes) {
  return WriteAll(file_, bytes, path_);
}

Status TemporaryFile::Sync() {
  if (::fsync(file_.number()) != 0) return FileError("sync", path_, errno);
  return Status::OK();
}

Status TemporaryFile::Publish(const std::string& target, PutMode mode) {
  if (mode == PutMode::kIfAbsent) {
    // Unlike rename, link refuses a name that is taken, on every file system.
    if (::link(path_.c_str(), target.c_str()) == 0) return Status::OK();
    return FileError("create", target, errno);
  }
  if (::rename(path_.c_str(), target.c_str()) != 0) {
    return FileError("replace", target, errno);
  }
  path_.clear();
  return Status::OK();
}

}  // namespace firn::storage
