#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/storage/object_store.h"

/// What LocalStore does with files and folders, one system call at a time. For the .cc
/// files of this folder only.

namespace firn::storage {

/// A failed system call as this project says it: `code` is its errno.
Status FileError(std::string_view action, std::string_view path, int code);

/// In an open() or read() these mean that no object has this key.
bool IsNoObject(int code);

/// Of an absolute path.
std::string FolderOf(const std::string& path);

/// An open file or folder, closed by the destructor; negative if it could not be opened.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor();
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

/// Makes the names in a folder survive a power failure.
Status SyncFolder(const std::string& folder);

/// A new file in the folder of its target; gone with the destructor, and with the process
/// too, however that ends, where the file system has files without a name (Linux,
/// O_TMPFILE). Not thread-safe.
class TemporaryFile {
 public:
  /// `runtime` must outlive the file.
  static Result<TemporaryFile> Make(Runtime& runtime, const std::string& folder);
  /// As where files must have a name.
  static Result<TemporaryFile> MakeNamed(Runtime& runtime, const std::string& folder);

  TemporaryFile(TemporaryFile&& other) noexcept
      : runtime_(other.runtime_),
        folder_(std::move(other.folder_)),
        path_(std::exchange(other.path_, {})),
        file_(std::move(other.file_)) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  Status Append(std::string_view bytes);
  /// Makes the bytes survive a power failure.
  Status Sync();
  /// Gives it its name, which is durable once the folder is synced.
  Status Publish(const std::string& target, PutMode mode);

 private:
  TemporaryFile(Runtime& runtime, std::string folder, int descriptor)
      : runtime_(runtime), folder_(std::move(folder)), file_(descriptor) {}

  /// A further name; false, with errno set, if it is taken or cannot be.
  bool Link(const std::string& name) const;

  Runtime& runtime_;
  std::string folder_;
  std::string path_;  // empty if it has no name of its own
  FileDescriptor file_;
};

}  // namespace firn::storage
