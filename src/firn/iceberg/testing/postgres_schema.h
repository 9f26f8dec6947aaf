#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "firn/core/runtime.h"
#include "firn/core/ulid.h"
#include "firn/iceberg/catalog/postgres_database.h"

namespace firn::iceberg {

/// What a test that needs a server says when it is skipped.
inline constexpr const char* kNoPostgres =
    "needs FIRN_TEST_POSTGRES_URI, the address of a PostgreSQL database";

/// For tests: a schema of its own in the database that FIRN_TEST_POSTGRES_URI names, so
/// that no test sees another one's tables. Dropped at the end.
class PostgresSchema {
 public:
  /// Nothing if the variable is not set.
  static std::unique_ptr<PostgresSchema> Make() {
    const char* uri = std::getenv("FIRN_TEST_POSTGRES_URI");
    if (uri == nullptr) return nullptr;
    return std::unique_ptr<PostgresSchema>(new PostgresSchema(uri));
  }

  ~PostgresSchema() {
    (void)server_->Write(fmt::format("DROP SCHEMA {} CASCADE", name_));
  }

  /// Of the database; tables are found and made in the schema. `settings` are the
  /// session's, "-cname=value" each with a blank before it.
  std::string Uri(const std::string& settings = "") const {
    std::string options;
    for (const char c : fmt::format("-csearch_path={}{}", name_, settings)) {
      const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
      options += is_plain ? std::string(1, c) : fmt::format("%{:02X}", c);
    }
    const char separator = uri_.find('?') == std::string::npos ? '?' : '&';
    return fmt::format("{}{}application_name={}&options={}", uri_, separator, name_,
                       options);
  }

  /// Of the schema, and of the application that sessions call themselves.
  const std::string& name() const { return name_; }

  std::unique_ptr<PostgresDatabase> Open(Duration wait = std::chrono::seconds(10),
                                         const std::string& settings = "") const {
    return PostgresDatabase::Open(ParsePostgresUri(Uri(settings), wait).ValueOrDie(),
                                  SystemRuntime())
        .ValueOrDie();
  }

 private:
  explicit PostgresSchema(std::string uri) : uri_(std::move(uri)) {
    std::ranges::transform(name_, name_.begin(),
                           [](unsigned char c) { return std::tolower(c); });
    server_ = PostgresDatabase::Open(
                  ParsePostgresUri(uri_, std::chrono::seconds(10)).ValueOrDie(),
                  SystemRuntime())
                  .ValueOrDie();
    server_->Write(fmt::format("CREATE SCHEMA {}", name_)).ValueOrDie();
  }

  const std::string uri_;
  std::string name_ = "test_" + NewUlid(SystemRuntime());
  std::unique_ptr<PostgresDatabase> server_;
};

}  // namespace firn::iceberg
