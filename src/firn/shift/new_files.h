#pragma once

#include <memory>
#include <set>
#include <string>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"

namespace firn::shift {

/// The data files of an iteration while no commit names them. Thread-safe.
class NewFiles {
 public:
  /// Both must outlive the files.
  NewFiles(Runtime& runtime, const iceberg::FileIo& io) : io_(io), mutex_(runtime) {}

  /// As FileIo::OpenNew, whose location it is.
  Result<std::unique_ptr<storage::ObjectWriter>> Open(const std::string& location) {
    return io_.OpenNew(location);
  }

  /// Finishes a file that Open opened.
  Status Finish(const std::string& location, storage::ObjectWriter& file);

  /// Deletes what was written, or may have been; false if something may be left, or come
  /// late: an orphan like those that a crash leaves. REQUIRES: nothing names the files,
  /// and nobody writes.
  bool DeleteAll();

 private:
  const iceberg::FileIo& io_;
  Mutex mutex_;
  // All guarded by mutex_.
  std::set<std::string> locations_;
  /// A write that failed may still be applied.
  bool may_come_late_ = false;
};

}  // namespace firn::shift
