#include "firn/iceberg/catalog/sqlite_database.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace firn::iceberg {
namespace {

/// Finalized however the function is left.
class Statement {
 public:
  ~Statement() { sqlite3_finalize(statement_); }
  sqlite3_stmt** out() { return &statement_; }
  sqlite3_stmt* get() const { return statement_; }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

/// SQLite takes $1 for a name, and numbers names as they come.
void BindAll(sqlite3_stmt* statement, const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string name = fmt::format("${}", i + 1);
    sqlite3_bind_text(statement, sqlite3_bind_parameter_index(statement, name.c_str()),
                      values[i].data(), static_cast<int>(values[i].size()),
                      SQLITE_STATIC);
  }
}

SqlRow RowOf(sqlite3_stmt* statement) {
  SqlRow row;
  for (int column = 0; column < sqlite3_column_count(statement); ++column) {
    const void* text = sqlite3_column_blob(statement, column);
    const bool is_null = sqlite3_column_type(statement, column) == SQLITE_NULL;
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    if (is_null) {
      row.emplace_back();
    } else {
      row.emplace_back(std::string(static_cast<const char*>(text), size));
    }
  }
  return row;
}

}  // namespace

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(const std::string& path,
                                                             std::int64_t busy_timeout_ms,
                                                             CatalogMode mode,
                                                             Runtime& runtime) {
  const bool creates = mode == CatalogMode::kCreate;
  if (!creates && ::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
    return Error(ErrorKind::kNotFound, "there is no catalog {}", path);
  }
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(path, runtime));
  const int code = sqlite3_open_v2(
      path.c_str(), &database->handle_,
      SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX,
      nullptr);
  if (code != SQLITE_OK) return database->ErrorOf(code, false);
  sqlite3_extended_result_codes(database->handle_, 1);
  sqlite3_busy_timeout(database->handle_, static_cast<int>(busy_timeout_ms));
  // With less, a power failure may bring back the journal of a finished write, and undo
  // it.
  FIRN_RETURN_NOT_OK(database->Query("PRAGMA synchronous = EXTRA"));
  // The first read of the file: says here whether it is a database at all.
  FIRN_RETURN_NOT_OK(database->Query("SELECT count(*) FROM sqlite_master"));
  return database;
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close_v2(handle_); }

Result<std::vector<SqlRow>> SqliteDatabase::Query(
    std::string_view sql, const std::vector<std::string>& values) {
  MutexLock lock(mutex_);
  return Run(sql, values, false);
}

Result<std::int64_t> SqliteDatabase::Write(std::string_view sql,
                                           const std::vector<std::string>& values) {
  MutexLock lock(mutex_);
  FIRN_RETURN_NOT_OK(Run(sql, values, true));
  return sqlite3_changes(handle_);
}

Result<std::vector<std::string>> SqliteDatabase::ColumnsOf(std::string_view table) {
  FIRN_ASSIGN_OR_RETURN(
      const auto rows,
      Query("SELECT name FROM pragma_table_info($1) ORDER BY cid", {std::string(table)}));
  std::vector<std::string> columns;
  for (const SqlRow& row : rows) columns.push_back(row[0].value_or(""));
  return columns;
}

Result<std::vector<SqlRow>> SqliteDatabase::Run(std::string_view sql,
                                                const std::vector<std::string>& values,
                                                bool writes) {
  Statement statement;
  const int prepared = sqlite3_prepare_v2(
      handle_, sql.data(), static_cast<int>(sql.size()), statement.out(), nullptr);
  if (prepared != SQLITE_OK) return ErrorOf(prepared, false);
  BindAll(statement.get(), values);
  std::vector<SqlRow> rows;
  while (true) {
    const int code = sqlite3_step(statement.get());
    if (code == SQLITE_DONE) return rows;
    if (code != SQLITE_ROW) return ErrorOf(code, writes);
    rows.push_back(RowOf(statement.get()));
  }
}

Status SqliteDatabase::ErrorOf(int code, bool writes) const {
  const std::string text =
      handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(ErrorKind::kUnavailable,
                   "{} stays locked by another process; end that one, or try again later "
                   "({})",
                   path_, text);
    case SQLITE_CONSTRAINT:
      return Error(ErrorKind::kAlreadyExists, "{}: {}", path_, text);
    case SQLITE_CORRUPT:
      return Error(
          ErrorKind::kCorruption,
          "{} is damaged; put it back from a backup, or let 'sqlite3' recover it "
          "({})",
          path_, text);
    case SQLITE_FULL:
      return InvalidError("{}: no space is left there; free some ({})", path_, text);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return InvalidError(
          "{} cannot be opened or written; give this user access to it and to its "
          "directory ({})",
          path_, text);
    case SQLITE_ERROR:
      return InvalidError(
          "{} has other tables than an Iceberg catalog; name another file with "
          "catalog.uri ({})",
          path_, text);
    case SQLITE_NOTADB:
      return InvalidError("{} is not a SQLite database", path_);
    case SQLITE_IOERR:
      if (writes) return Error(ErrorKind::kOutcomeUnknown, "{}: {}", path_, text);
      break;
    default:
      break;
  }
  return InvalidError("SQLite database {}: {}", path_, text);
}

}  // namespace firn::iceberg
