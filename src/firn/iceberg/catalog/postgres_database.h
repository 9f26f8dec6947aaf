#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/postgres_connection.h"
#include "firn/iceberg/catalog/sql_database.h"

namespace firn::iceberg {

/// Connections of one process to one database; a commit that waits for a row's lock holds
/// one, and the other tables go on.
inline constexpr int kPostgresConnectionsMax = 4;

/// A PostgreSQL database.
///
/// Connections are made when they are needed, kept, and made anew once they were lost. A
/// read whose connection was lost is done again once; a write whose connection was lost
/// is OutcomeUnknown. Conflict: a serializable transaction met another one. Unavailable:
/// the server cannot be reached, or gave a statement up because of a lock, a deadlock, or
/// its time.
class PostgresDatabase : public SqlDatabase {
 public:
  /// Connects once, so that an address that cannot be used is known here. Errors as
  /// PostgresConnection's. `runtime` must outlive the database.
  static Result<std::unique_ptr<PostgresDatabase>> Open(PostgresAddress address,
                                                        Runtime& runtime);

  const std::string& name() const override { return address_.name; }
  Result<std::vector<SqlRow>> Query(std::string_view sql,
                                    const std::vector<std::string>& values = {}) override;
  Result<std::int64_t> Write(std::string_view sql,
                             const std::vector<std::string>& values = {}) override;
  Result<std::vector<std::string>> ColumnsOf(std::string_view table) override;

 private:
  using Connection = std::unique_ptr<PostgresConnection>;

  /// Holds one of the kPostgresConnectionsMax places.
  class Lease;

  PostgresDatabase(PostgresAddress address, Runtime& runtime)
      : address_(std::move(address)),
        runtime_(runtime),
        mutex_(runtime),
        free_(runtime) {}

  /// Waits for a place. A connection that is usable, or nothing where one is to be made.
  Connection TakePlace();
  /// Keeps the connection if it is usable.
  void GiveBack(Connection connection);

  const PostgresAddress address_;
  Runtime& runtime_;
  Mutex mutex_;
  CondVar free_;
  int taken_ = 0;                 // guarded by mutex_
  std::vector<Connection> idle_;  // guarded by mutex_
};

}  // namespace firn::iceberg
