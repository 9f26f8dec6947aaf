#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"

namespace firn::iceberg {

/// One row of a result; nothing for NULL.
using SqlRow = std::vector<std::optional<std::string>>;

/// A database that other processes use, too, reached by SQL that all of them understand.
///
/// Each statement is a transaction of its own. `values` are bound as text to $1, $2, ...
/// in the statement, never pasted into it. Errors: Unavailable (nothing was done, try
/// later), Conflict (another transaction was first), AlreadyExists (a key is taken),
/// OutcomeUnknown (a write may have been done), Corruption, no kind otherwise; all name
/// the database, none a secret. Thread-safe.
class SqlDatabase {
 public:
  virtual ~SqlDatabase() = default;

  /// How messages name it: a path, or "postgresql://host:5432/database".
  virtual const std::string& name() const = 0;

  virtual Result<std::vector<SqlRow>> Query(
      std::string_view sql, const std::vector<std::string>& values = {}) = 0;

  /// The number of rows that were written; durable once it returns OK.
  virtual Result<std::int64_t> Write(std::string_view sql,
                                     const std::vector<std::string>& values = {}) = 0;

  /// The names of a table's columns in their order; none if there is no such table.
  virtual Result<std::vector<std::string>> ColumnsOf(std::string_view table) = 0;
};

}  // namespace firn::iceberg
