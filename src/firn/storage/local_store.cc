#include "firn/storage/local_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "firn/core/crash_point.h"
#include "firn/storage/local_file.h"
#include "firn/storage/location.h"
#include "firn/storage/request_checks.h"

namespace firn::storage {
namespace {

/// Of which the umask takes its part.
constexpr mode_t kFolderMode = 0777;
constexpr std::size_t kDurableFoldersMax = 65536;

Status ReadError(const std::string& path, int code) {
  return FileError("read", path, IsNoObject(code) ? ENOENT : code);
}

/// Makes one folder durably; OK if it is there.
Status MakeFolder(const std::string& folder) {
  const bool made = ::mkdir(folder.c_str(), kFolderMode) == 0;
  if (!made && errno != EEXIST) return FileError("make the directory", folder, errno);
  const Status synced = SyncFolder(FolderOf(folder));
  // A folder that was there may have been made this instant, so it is synced too; but its
  // parent need not be ours, and not being allowed to sync that is no failure.
  return made ? synced : Status::OK();
}

/// As SyncFolder, but nothing can be unsynced where nothing can be written.
Status SyncListed(const std::string& folder, int descriptor) {
  if (descriptor >= 0 && ::fsync(descriptor) == 0) return Status::OK();
  if (errno == EROFS || errno == EINVAL || errno == EACCES) return Status::OK();
  return FileError("sync the directory", folder, errno);
}

Status MakeMissingFolders(const std::string& folder) {
  std::error_code ignored;
  if (folder == "/" || std::filesystem::is_directory(folder, ignored))
    return Status::OK();
  FIRN_RETURN_NOT_OK(MakeMissingFolders(FolderOf(folder)));
  return MakeFolder(folder);
}

class OpenObject {
 public:
  static Result<OpenObject> Open(std::string path) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return ReadError(path, errno);
    struct stat info{};
    if (::fstat(file.number(), &info) != 0) return ReadError(path, errno);
    if (S_ISDIR(info.st_mode)) return ReadError(path, EISDIR);
    return OpenObject(std::move(path), std::move(file), info.st_size);
  }

  std::int64_t size_bytes() const { return size_bytes_; }

  Result<std::string> Read(std::int64_t offset, std::int64_t length) const {
    std::string bytes(static_cast<std::size_t>(length), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count =
          ::pread(file_.number(), bytes.data() + done, bytes.size() - done,
                  offset + static_cast<std::int64_t>(done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return ReadError(path_, errno);
      if (count == 0) {
        return Error(ErrorKind::kCorruption,
                     "{} was cut while it was read: objects must not be changed in place",
                     path_);
      }
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }

 private:
  OpenObject(std::string path, FileDescriptor file, std::int64_t size_bytes)
      : path_(std::move(path)), file_(std::move(file)), size_bytes_(size_bytes) {}

  const std::string path_;
  FileDescriptor file_;
  const std::int64_t size_bytes_;
};

std::int64_t Microseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1'000;
}

/// Collects the objects of a store. What disappears meanwhile is left out.
class ObjectWalk {
 public:
  ObjectWalk(std::string root, std::string_view prefix)
      : root_(std::move(root)), prefix_(prefix) {}

  /// `folder_key` is the folder's key with a slash at its end, or empty for the root.
  Status Visit(const std::string& folder_key) {
    const std::string folder = root_ + "/" + folder_key;
    const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()),
                                                     ::closedir);
    if (opened == nullptr) return Unlisted(folder, errno);
    const std::size_t found_before = objects_.size();
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(opened.get());
      if (entry == nullptr) break;
      FIRN_RETURN_NOT_OK(VisitEntry(folder_key, entry->d_name));
    }
    if (errno != 0) return Unlisted(folder, errno);
    if (objects_.size() == found_before) return Status::OK();
    return SyncListed(folder, ::dirfd(opened.get()));
  }

  bool has_found() const { return !objects_.empty(); }

  std::vector<ObjectInfo> TakeSorted() {
    std::ranges::sort(objects_, {}, &ObjectInfo::key);
    return std::move(objects_);
  }

 private:
  static Status Unlisted(const std::string& path, int code) {
    return IsNoObject(code) ? Status::OK() : FileError("list", path, code);
  }

  Status VisitEntry(const std::string& folder_key, const std::string& name) {
    if (name == "." || name == ".." || name.starts_with(kReservedNamePrefix)) {
      return Status::OK();
    }
    const std::string key = folder_key + name;
    if (!key.starts_with(prefix_)) return Status::OK();
    const std::string path = root_ + "/" + key;
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return Unlisted(path, errno);
    if (S_ISDIR(info.st_mode)) return Visit(key + "/");
    if (S_ISREG(info.st_mode)) {
      objects_.push_back({.key = key,
                          .size_bytes = info.st_size,
                          .modified_us = Microseconds(info.st_mtim)});
    }
    return Status::OK();
  }

  const std::string root_;
  const std::string prefix_;
  std::vector<ObjectInfo> objects_;
};

}  // namespace

LocalStore::LocalStore(Runtime& runtime, std::string root)
    : runtime_(runtime), root_(std::move(root)), mutex_(runtime) {}

Result<std::unique_ptr<LocalStore>> LocalStore::Make(Runtime& runtime,
                                                     std::string_view root) {
  FIRN_ASSIGN_OR_RETURN(auto store, At(runtime, root));
  const std::string path = store->Path("");
  std::error_code error;
  const bool was_there = std::filesystem::is_directory(path, error);
  FIRN_RETURN_NOT_OK(MakeMissingFolders(path));
  if (!std::filesystem::is_directory(path, error)) {
    return FileError("use as a directory", path, ENOTDIR);
  }
  // Who made it may have died before it was durable. Its parent need not be ours, and not
  // being allowed to sync that is no failure.
  if (was_there && path != "/") (void)SyncFolder(FolderOf(path));
  return store;
}

Result<std::unique_ptr<LocalStore>> LocalStore::At(Runtime& runtime,
                                                   std::string_view root) {
  if (root.empty()) return InvalidError("the directory of a local store has no name");
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(root, error);
  if (error) return FileError("find", root, error.value());
  FIRN_ASSIGN_OR_RETURN(const std::string path,
                        LocalPathOf(absolute.lexically_normal().string()));
  return std::unique_ptr<LocalStore>(
      new LocalStore(runtime, path == "/" ? std::string() : path));
}

/// An object that grows in a temporary file beside its place.
class LocalStore::Writer final : public ObjectWriter {
 public:
  Writer(std::string path, PutMode mode, TemporaryFile file)
      : path_(std::move(path)), mode_(mode), file_(std::move(file)) {}

  Status Append(std::string_view bytes) override { return file_.Append(bytes); }

  Status Finish() override {
    const std::string folder = FolderOf(path_);
    FIRN_RETURN_NOT_OK(file_.Sync());
    CrashPoint("storage.put.before_rename");
    const Status published = file_.Publish(path_, mode_);
    if (IsError(published, ErrorKind::kAlreadyExists)) {
      // Who made it may have died before it was durable, and callers go by it.
      FIRN_RETURN_NOT_OK(SyncFolder(folder));
    }
    FIRN_RETURN_NOT_OK(published);
    CrashPoint("storage.put.after_rename");
    const Status synced = SyncFolder(folder);
    if (synced.ok()) return synced;
    return Error(ErrorKind::kOutcomeUnknown,
                 "{} is there, but may not survive a crash: {}", path_,
                 ErrorText(synced));
  }

 private:
  const std::string path_;
  const PutMode mode_;
  TemporaryFile file_;
};

Result<std::unique_ptr<ObjectWriter>> LocalStore::PutInPieces(std::string_view key,
                                                              PutMode mode) {
  FIRN_RETURN_NOT_OK(ValidateKey(key));
  std::string path = Path(key);
  const std::string folder = FolderOf(path);
  FIRN_RETURN_NOT_OK(EnsureFolder(folder));
  Result<TemporaryFile> made = TemporaryFile::Make(runtime_, folder);
  if (IsError(made.status(), ErrorKind::kNotFound)) {
    // Somebody removed the folder since this store last saw it.
    ForgetDurable();
    FIRN_RETURN_NOT_OK(EnsureFolder(folder));
    made = TemporaryFile::Make(runtime_, folder);
  }
  FIRN_ASSIGN_OR_RETURN(TemporaryFile temporary, std::move(made));
  return std::make_unique<Writer>(std::move(path), mode, std::move(temporary));
}

Status LocalStore::PutWhole(std::string_view key, std::string_view bytes, PutMode mode) {
  FIRN_ASSIGN_OR_RETURN(const auto writer, PutInPieces(key, mode));
  FIRN_RETURN_NOT_OK(writer->Append(bytes));
  return writer->Finish();
}

Result<std::string> LocalStore::GetRange(std::string_view key, std::int64_t offset,
                                         std::int64_t length) {
  FIRN_RETURN_NOT_OK(ValidateKey(key));
  FIRN_ASSIGN_OR_RETURN(const OpenObject object, OpenObject::Open(Path(key)));
  FIRN_RETURN_NOT_OK(ValidateRange(key, offset, length, object.size_bytes()));
  return object.Read(offset, length);
}

Result<std::string> LocalStore::GetWhole(std::string_view key) {
  FIRN_RETURN_NOT_OK(ValidateKey(key));
  FIRN_ASSIGN_OR_RETURN(const OpenObject object, OpenObject::Open(Path(key)));
  return object.Read(0, object.size_bytes());
}

Result<std::vector<ObjectInfo>> LocalStore::List(std::string_view prefix) {
  FIRN_RETURN_NOT_OK(ValidatePrefix(prefix));
  // Everything that matches lies below the last folder that the prefix names in full.
  const std::string folder_key(prefix.substr(0, prefix.rfind('/') + 1));
  ObjectWalk walk(root_, prefix);
  FIRN_RETURN_NOT_OK(walk.Visit(folder_key));
  if (walk.has_found() && !folder_key.empty()) {
    const std::string_view folder =
        std::string_view(folder_key).substr(0, folder_key.size() - 1);
    FIRN_RETURN_NOT_OK(SyncEntriesOf(Path(folder)));
  }
  return walk.TakeSorted();
}

Status LocalStore::Delete(std::string_view key) {
  FIRN_RETURN_NOT_OK(ValidateKey(key));
  const std::string path = Path(key);
  if (::unlink(path.c_str()) == 0 || IsNoObject(errno)) return Status::OK();
  return FileError("delete", path, errno);
}

std::string LocalStore::Location(std::string_view key) const {
  return LocationOfLocalPath(Path(key));
}

std::string LocalStore::Path(std::string_view key) const {
  if (key.empty() && !root_.empty()) return root_;
  return fmt::format("{}/{}", root_, key);
}

Status LocalStore::EnsureFolder(const std::string& folder) {
  if (folder.size() <= std::max<std::size_t>(root_.size(), 1)) return Status::OK();
  if (IsDurable(folder)) return Status::OK();
  FIRN_RETURN_NOT_OK(EnsureFolder(FolderOf(folder)));
  FIRN_RETURN_NOT_OK(MakeFolder(folder));
  RememberDurable(folder);
  return Status::OK();
}

Status LocalStore::SyncEntriesOf(const std::string& folder) {
  if (folder.size() <= std::max<std::size_t>(root_.size(), 1)) return Status::OK();
  if (IsDurable(folder)) return Status::OK();
  const std::string parent = FolderOf(folder);
  FIRN_RETURN_NOT_OK(SyncEntriesOf(parent));
  const FileDescriptor opened(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  FIRN_RETURN_NOT_OK(SyncListed(parent, opened.number()));
  RememberDurable(folder);
  return Status::OK();
}

bool LocalStore::IsDurable(const std::string& folder) {
  MutexLock lock(mutex_);
  return durable_folders_.contains(folder);
}

void LocalStore::RememberDurable(const std::string& folder) {
  MutexLock lock(mutex_);
  if (durable_folders_.size() >= kDurableFoldersMax) durable_folders_.clear();
  durable_folders_.insert(folder);
}

void LocalStore::ForgetDurable() {
  MutexLock lock(mutex_);
  durable_folders_.clear();
}

}  // namespace firn::storage
