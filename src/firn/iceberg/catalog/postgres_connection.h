#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/postgres_errors.h"
#include "firn/iceberg/catalog/sql_database.h"

struct pg_conn;

namespace firn::iceberg {

/// Where a PostgreSQL database is, and how long an answer from there may take.
struct PostgresAddress {
  /// As libpq reads it: with the password, so not for messages.
  std::string uri;
  /// For messages: "postgresql://host:5432/database".
  std::string name;
  /// Of a statement, or of connecting. The server gives a statement up after this time,
  /// and so knows that it was undone; a server that is silent for twice as long is lost.
  Duration wait;
};

/// Invalid, without a word of `uri`, which may hold a password, if libpq cannot read it.
Result<PostgresAddress> ParsePostgresUri(const std::string& uri, Duration wait);

/// One connection to a PostgreSQL server; the one place that knows libpq. For one thread
/// at a time.
class PostgresConnection {
 public:
  struct Answer {
    std::vector<SqlRow> rows = {};
    /// Rows that were written.
    std::int64_t changed = 0;
  };

  /// Unavailable if the server cannot be reached, or takes no more connections; no kind
  /// if it refuses the user or has no such database. TLS and everything else as the uri
  /// and libpq's environment say. `runtime` must outlive the connection.
  static Result<std::unique_ptr<PostgresConnection>> Open(const PostgresAddress& address,
                                                          Runtime& runtime);
  ~PostgresConnection();
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  /// Errors as SqlDatabase's.
  Result<Answer> Run(std::string_view sql, const std::vector<std::string>& values,
                     SqlEffect effect);

  /// False once the connection was lost, or the server has said something unasked, as it
  /// does when it ends one.
  bool IsUsable() const;

 private:
  PostgresConnection(PostgresAddress address, Runtime& runtime)
      : address_(std::move(address)), runtime_(runtime) {}

  Status Connect();
  Status Configure();
  Status WaitUntilConnected();
  /// False if the time was up first.
  bool WaitForSocket(short events, BootTime until) const;
  Status SendStatement(std::string_view sql, const std::vector<std::string>& values,
                       SqlEffect effect);
  Status WaitForAnswer(SqlEffect effect);
  Result<Answer> TakeAnswer(SqlEffect effect);
  Status ConnectError() const;
  Status LostError(SqlEffect effect, std::string_view reason);

  const PostgresAddress address_;
  Runtime& runtime_;
  pg_conn* connection_ = nullptr;
  bool is_lost_ = false;
};

}  // namespace firn::iceberg
