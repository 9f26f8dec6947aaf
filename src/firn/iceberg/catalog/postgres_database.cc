#include "firn/iceberg/catalog/postgres_database.h"

#include <utility>

namespace firn::iceberg {

class PostgresDatabase::Lease {
 public:
  explicit Lease(PostgresDatabase& database)
      : database_(database), connection_(database.TakePlace()) {}
  ~Lease() { database_.GiveBack(std::move(connection_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  Result<PostgresConnection::Answer> Run(std::string_view sql,
                                         const std::vector<std::string>& values,
                                         SqlEffect effect) {
    FIRN_RETURN_NOT_OK(Connect());
    return connection_->Run(sql, values, effect);
  }

  Status Connect() {
    if (connection_ != nullptr) return Status::OK();
    return PostgresConnection::Open(database_.address_, database_.runtime_)
        .Value(&connection_);
  }

  bool is_lost() const { return connection_ != nullptr && !connection_->IsUsable(); }

 private:
  PostgresDatabase& database_;
  Connection connection_;
};

Result<std::unique_ptr<PostgresDatabase>> PostgresDatabase::Open(PostgresAddress address,
                                                                 Runtime& runtime) {
  std::unique_ptr<PostgresDatabase> database(
      new PostgresDatabase(std::move(address), runtime));
  FIRN_RETURN_NOT_OK(Lease(*database).Connect());
  return database;
}

Result<std::vector<SqlRow>> PostgresDatabase::Query(
    std::string_view sql, const std::vector<std::string>& values) {
  constexpr int kAttempts = 2;
  for (int attempt = 1;; ++attempt) {
    Lease lease(*this);
    auto answer = lease.Run(sql, values, SqlEffect::kReads);
    if (answer.ok()) return std::move(answer->rows);
    if (!lease.is_lost() || attempt == kAttempts) return answer.status();
  }
}

Result<std::int64_t> PostgresDatabase::Write(std::string_view sql,
                                             const std::vector<std::string>& values) {
  FIRN_ASSIGN_OR_RETURN(const auto answer,
                        Lease(*this).Run(sql, values, SqlEffect::kWrites));
  return answer.changed;
}

Result<std::vector<std::string>> PostgresDatabase::ColumnsOf(std::string_view table) {
  FIRN_ASSIGN_OR_RETURN(
      const auto rows,
      Query("SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND "
            "attnum > 0 AND NOT attisdropped ORDER BY attnum",
            {std::string(table)}));
  std::vector<std::string> columns;
  for (const SqlRow& row : rows) columns.push_back(row[0].value_or(""));
  return columns;
}

PostgresDatabase::Connection PostgresDatabase::TakePlace() {
  MutexLock lock(mutex_);
  // Each place comes free in time: statements and connecting have time-outs.
  while (taken_ == kPostgresConnectionsMax) free_.Wait(mutex_);
  ++taken_;
  while (!idle_.empty()) {
    Connection connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->IsUsable()) return connection;
  }
  return nullptr;
}

void PostgresDatabase::GiveBack(Connection connection) {
  MutexLock lock(mutex_);
  --taken_;
  if (connection != nullptr && connection->IsUsable()) {
    idle_.push_back(std::move(connection));
  }
  free_.NotifyOne();
}

}  // namespace firn::iceberg
