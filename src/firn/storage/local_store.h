#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "firn/core/runtime.h"
#include "firn/storage/object_store.h"

namespace firn::storage {

/// Objects as files under a directory, for whom the process's umask says.
///
/// A Put writes a temporary name beside the target, syncs it, renames (kIfAbsent:
/// links) it, and syncs the directory and the folders made on the way; a failed Put
/// leaves nothing. A process killed in it may leave a temporary file, which is never
/// listed. Should the last sync fail, the outcome is unknown. Delete leaves empty folders
/// alone. List syncs each folder in which it finds an object: another process may have
/// died between the rename and the sync. Symbolic links are followed. Thread-safe; many
/// processes may share a directory.
class LocalStore : public ObjectStore {
 public:
  /// Makes `root` and its missing parents; what is there keeps its mode. `runtime` must
  /// outlive the store.
  static Result<std::unique_ptr<LocalStore>> Make(Runtime& runtime,
                                                  std::string_view root);

  /// Makes nothing: a `root` that is missing holds no objects, and takes none.
  static Result<std::unique_ptr<LocalStore>> At(Runtime& runtime, std::string_view root);

  Status PutWhole(std::string_view key, std::string_view bytes,
                  PutMode mode = PutMode::kOverwrite) override;
  Result<std::unique_ptr<ObjectWriter>> PutInPieces(
      std::string_view key, PutMode mode = PutMode::kOverwrite) override;
  Result<std::string> GetRange(std::string_view key, std::int64_t offset,
                               std::int64_t length) override;
  Result<std::string> GetWhole(std::string_view key) override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  Status Delete(std::string_view key) override;
  std::string Location(std::string_view key) const override;

  /// The file of a key, for reading in place; of a folder too, "" being the root.
  std::string Path(std::string_view key) const;

 private:
  class Writer;

  LocalStore(Runtime& runtime, std::string root);

  Status EnsureFolder(const std::string& folder);
  /// Makes a folder's own name durable, and those of the folders above it.
  Status SyncEntriesOf(const std::string& folder);
  bool IsDurable(const std::string& folder);
  void RememberDurable(const std::string& folder);
  void ForgetDurable();

  Runtime& runtime_;
  /// Absolute, without a slash at its end: empty for "/".
  const std::string root_;
  Mutex mutex_;
  /// Folders below the root known to survive a power failure; guarded by mutex_.
  std::unordered_set<std::string> durable_folders_;
};

}  // namespace firn::storage
