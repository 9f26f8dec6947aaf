#pragma once

#include <optional>
#include <string_view>

#include "firn/core/status.h"

namespace firn::iceberg {

/// What a statement that fails leaves behind.
enum class SqlEffect { kReads, kWrites };

/// The reaction to a PostgreSQL error code (SQLSTATE; PostgreSQL's documentation,
/// appendix A); nothing for a plain failure. A code that the server sent with its answer
/// means that the transaction was undone, but for those of a connection that ends. An
/// empty code is a connection that was lost.
std::optional<ErrorKind> KindOfSqlState(std::string_view sql_state, SqlEffect effect);

/// The code in libpq's verbose report of a failed connection ("FATAL:  28P01: ..."),
/// empty if there is none. libpq has no other way to tell it.
std::string_view SqlStateIn(std::string_view report);

/// What a person can do about an error code: "; create the database first". Empty if the
/// server's words say it all.
std::string_view AdviceOn(std::string_view sql_state);

}  // namespace firn::iceberg
