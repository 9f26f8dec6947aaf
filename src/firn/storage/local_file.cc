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

/// Of which the umask takes its part.
constexpr mode_t kFileMode = 0666;

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
                const std::string& folder) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("write a file in", folder, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Status::OK();
}

std::string NewTemporaryPath(Runtime& runtime, const std::string& folder) {
  return fmt::format("{}/{}put-{:016x}", folder == "/" ? "" : folder, kReservedNamePrefix,
                     runtime.Random64());
}

std::string PathInProc(const FileDescriptor& file) {
  return fmt::format("/proc/self/fd/{}", file.number());
}

/// Negative, with errno set, if it cannot be made, or could not be given a name.
int OpenWithoutName(const std::string& folder) {
  static const bool kCanBeNamed = ::access("/proc/self/fd", X_OK) == 0;
  if (kCanBeNamed) {
    return ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kFileMode);
  }
  errno = EOPNOTSUPP;
  return -1;
}

/// Of the file system, or the kernel (open(2), O_TMPFILE).
bool HasNoUnnamedFiles(int code) {
  return code == EOPNOTSUPP || code == EISDIR || code == EINVAL;
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
  TemporaryFile made(runtime, folder, OpenWithoutName(folder));
  if (made.file_.is_open()) return made;
  if (!HasNoUnnamedFiles(errno)) return FileError("create a file in", folder, errno);
  return MakeNamed(runtime, folder);
}

Result<TemporaryFile> TemporaryFile::MakeNamed(Runtime& runtime,
                                               const std::string& folder) {
  const std::string path = NewTemporaryPath(runtime, folder);
  TemporaryFile made(
      runtime, folder,
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  if (!made.file_.is_open()) return FileError("create a file in", folder, errno);
  made.path_ = path;
  return made;
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Status TemporaryFile::Append(std::string_view bytes) {
  return WriteAll(file_, bytes, folder_);
}

Status TemporaryFile::Sync() {
  if (::fsync(file_.number()) != 0) return FileError("sync a file in", folder_, errno);
  return Status::OK();
}

bool TemporaryFile::Link(const std::string& name) const {
  // Unlike rename, link refuses a name that is taken, on every file system.
  if (!path_.empty()) return ::link(path_.c_str(), name.c_str()) == 0;
  return ::linkat(AT_FDCWD, PathInProc(file_).c_str(), AT_FDCWD, name.c_str(),
                  AT_SYMLINK_FOLLOW) == 0;
}

Status TemporaryFile::Publish(const std::string& target, PutMode mode) {
  const bool replaces = mode == PutMode::kOverwrite;
  if (!replaces || path_.empty()) {
    if (Link(target)) return Status::OK();
    if (!replaces || errno != EEXIST) return FileError("create", target, errno);
  }
  // Only what has a name can take another's.
  if (path_.empty()) {
    const std::string path = NewTemporaryPath(runtime_, folder_);
    if (!Link(path)) return FileError("create", path, errno);
    path_ = path;
  }
  if (::rename(path_.c_str(), target.c_str()) != 0) {
    return FileError("replace", target, errno);
  }
  path_.clear();
  return Status::OK();
}

}  // namespace firn::storage
