#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog_properties.h"
#include "firn/iceberg/catalog/sql_database.h"

struct sqlite3;

namespace firn::iceberg {

/// A SQLite database in a file that other processes use, too.
///
/// Unavailable: another process held its lock for too long. OutcomeUnknown: an input or
/// output error in a write.
class SqliteDatabase : public SqlDatabase {
 public:
  /// Makes the file if it is missing and the mode says so; NotFound
  /// otherwise. `runtime` must outlive the database.
  static Result<std::unique_ptr<SqliteDatabase>> Open(const std::string& path,
                                                      std::int64_t busy_timeout_ms,
                                                      CatalogMode mode, Runtime& runtime);
  ~SqliteDatabase() override;

  const std::string& name() const override { return path_; }
  Result<std::vector<SqlRow>> Query(std::string_view sql,
                                    const std::vector<std::string>& values = {}) override;
  Result<std::int64_t> Write(std::string_view sql,
                             const std::vector<std::string>& values = {}) override;
  Result<std::vector<std::string>> ColumnsOf(std::string_view table) override;

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
