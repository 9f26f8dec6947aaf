#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"

struct sqlite3;

namespace firn::iceberg {

/// One row of a result; nothing for NULL.
using SqlRow = std::vector<std::optional<std::string>>;

enum class SqliteMode {
  /// Makes the file, for the owner only, if it is missing.
  kCreate,
  /// Makes nothing.
  kExisting,
};

/// A SQLite database in a file that other processes use, too.
///
/// Errors: Unavailable (another process held its lock for too long; nothing was done),
/// AlreadyExists (a key is taken), Corruption, OutcomeUnknown (an input or output error
/// in a write), no kind otherwise; all name the file. A write is durable once it returns
/// OK. Thread-safe.
class SqliteDatabase {
 public:
  /// NotFound if the file is missing and not to be made. `runtime` must outlive the
  /// database.
  static Result<std::unique_ptr<SqliteDatabase>> Open(const std::string& path,
                                                      std::int64_t busy_timeout_ms,
                                                      SqliteMode mode, Runtime& runtime);
  ~SqliteDatabase();

  /// `values` are bound to ?1, ?2, ...
  Result<std::vector<SqlRow>> Query(std::string_view sql,
                                    const std::vector<std::string>& values = {});

  /// The number of rows that were written.
  Result<std::int64_t> Write(std::string_view sql,
                             const std::vector<std::string>& values = {});

 private:
  SqliteDatabase(std::string path, Runtime& runtime)
      : path_(std::move(path)), mutex_(runtime) {}

  Result<std::vector<SqlRow>> Run(std::string_view sql,
                                  const std::vector<std::string>& values, bool writes);
  Status ErrorOf(int code, bool writes) const;

  const std::string path_;
  Mutex mutex_;
  sqlite3* handle_ = nullptr;  // guarded by mutex_
};

}  // namespace firn::iceberg
