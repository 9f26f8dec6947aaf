#include "firn/iceberg/catalog/postgres_connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

namespace firn::iceberg {
namespace {

/// A peer that vanished is noticed by the kernel, too, where nothing waits for it.
constexpr const char* kKeepAliveSeconds = "30";

/// What each session is told. A commit that a crash of the server could undo is none, and
/// a statement that was given up by the server was certainly undone.
constexpr const char* kConfigure =
    "SELECT set_config('statement_timeout', $1, false), set_config('synchronous_commit', "
    "CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' "
    "ELSE current_setting('synchronous_commit') END, false)";

struct ResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPointer = std::unique_ptr<PGresult, ResultDeleter>;

struct OptionsDeleter {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

/// libpq ends its messages with a line break, and says the places in its own source.
std::string OneLine(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view part = text.substr(0, end);
    part.remove_prefix(std::min(part.find_first_not_of(" \t"), part.size()));
    if (!part.empty() && !part.starts_with("LOCATION:")) {
      if (!line.empty()) line += "; ";
      line += part;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return line;
}

/// What an address says, by libpq's names; nothing if libpq cannot read it.
std::optional<std::map<std::string, std::string>> ReadUri(const std::string& uri) {
  if (!uri.starts_with("postgresql://")) return std::nullopt;
  const std::unique_ptr<PQconninfoOption, OptionsDeleter> options(
      PQconninfoParse(uri.c_str(), nullptr));
  if (options == nullptr) return std::nullopt;
  std::map<std::string, std::string> given;
  for (const auto* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) given[option->keyword] = option->val;
  }
  return given;
}

bool IsPortList(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return (c >= '0' && c <= '9') || c == ','; });
}

std::string FieldOf(const PGresult* result, int field) {
  const char* text = PQresultErrorField(result, field);
  return text == nullptr ? "" : text;
}

SqlRow RowOf(const PGresult* result, int row) {
  SqlRow values;
  for (int column = 0; column < PQnfields(result); ++column) {
    if (PQgetisnull(result, row, column) != 0) {
      values.emplace_back();
    } else {
      values.emplace_back(
          std::string(PQgetvalue(result, row, column),
                      static_cast<std::size_t>(PQgetlength(result, row, column))));
    }
  }
  return values;
}

std::int64_t ChangedRows(PGresult* result) {
  const std::string_view text = PQcmdTuples(result);
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

Status Failed(std::optional<ErrorKind> kind, std::string message) {
  if (kind) return MakeError(*kind, std::move(message));
  return Status::Invalid(std::move(message));
}

}  // namespace

Result<PostgresAddress> ParsePostgresUri(const std::string& uri, Duration wait) {
  const auto read = ReadUri(uri);
  auto given = read.value_or(std::map<std::string, std::string>());
  // An '@', ':' or '/' in a password that is not escaped makes parts of it the host or
  // the port, which libpq's messages would show.
  const bool is_clear =
      given["host"].find('@') == std::string::npos && IsPortList(given["port"]);
  if (!read || !is_clear) {
    return InvalidError(
        "the uri is no address of a PostgreSQL database; write "
        "postgresql://<user>:<password>@<host>:<port>/<database>, with %40 for an '@', "
        "%2F for a '/', %3A for a ':' and %25 for a '%' in user and password");
  }
  const std::string port = given["port"].empty() ? "5432" : given["port"];
  return PostgresAddress{
      .uri = uri,
      .name = fmt::format("postgresql://{}:{}/{}", given["host"], port, given["dbname"]),
      .wait = wait};
}

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::Open(
    const PostgresAddress& address, Runtime& runtime) {
  std::unique_ptr<PostgresConnection> connection(
      new PostgresConnection(address, runtime));
  FIRN_RETURN_NOT_OK(connection->Connect());
  FIRN_RETURN_NOT_OK(connection->Configure());
  return connection;
}

PostgresConnection::~PostgresConnection() { PQfinish(connection_); }

Status PostgresConnection::Connect() {
  // Later ones win: the address over what is only a default, and text is always UTF-8.
  const char* const names[] = {"fallback_application_name", "keepalives_idle", "dbname",
                               "client_encoding", nullptr};
  const char* const values[] = {"firn", kKeepAliveSeconds, address_.uri.c_str(), "UTF8",
                                nullptr};
  connection_ = PQconnectStartParams(names, values, 1);
  if (connection_ == nullptr) return Status::OutOfMemory("libpq");
  // With the error's code, see SqlStateIn.
  PQsetErrorVerbosity(connection_, PQERRORS_VERBOSE);
  // Notices would go to stderr.
  PQsetNoticeReceiver(connection_, [](void*, const PGresult*) {}, nullptr);
  return WaitUntilConnected();
}

Status PostgresConnection::WaitUntilConnected() {
  const BootTime until = runtime_.SinceBoot() + address_.wait;
  // As documented: the first wait is for writing, whatever the state is.
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (PQstatus(connection_) != CONNECTION_BAD) {
    const short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (!WaitForSocket(events, until)) {
      return Error(ErrorKind::kUnavailable, "{} does not answer; is it the right host?",
                   address_.name);
    }
    state = PQconnectPoll(connection_);
    if (state == PGRES_POLLING_OK) return Status::OK();
    if (state == PGRES_POLLING_FAILED) break;
  }
  return ConnectError();
}

Status PostgresConnection::ConnectError() const {
  const std::string report = OneLine(PQerrorMessage(connection_));
  const std::string_view code = SqlStateIn(report);
  std::optional<ErrorKind> kind = KindOfSqlState(code, SqlEffect::kReads);
  std::string_view advice = AdviceOn(code);
  if (PQconnectionNeedsPassword(connection_) != 0) {
    kind = std::nullopt;
    advice = AdviceOn("28P01");
  }
  return Failed(kind, fmt::format("{}: {}{}", address_.name, report, advice));
}

Status PostgresConnection::Configure() {
  const auto wait_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(address_.wait).count();
  return Run(kConfigure, {fmt::format("{}", wait_ms)}, SqlEffect::kReads).status();
}

bool PostgresConnection::WaitForSocket(short events, BootTime until) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::max(until - runtime_.SinceBoot(), Duration::zero()));
    pollfd socket{.fd = PQsocket(connection_), .events = events, .revents = 0};
    const int ready = ::poll(&socket, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return true;  // libpq will say what is wrong
  }
}

bool PostgresConnection::IsUsable() const {
  if (is_lost_ || PQstatus(connection_) != CONNECTION_OK) return false;
  return !WaitForSocket(POLLIN, runtime_.SinceBoot());
}

Result<PostgresConnection::Answer> PostgresConnection::Run(
    std::string_view sql, const std::vector<std::string>& values, SqlEffect effect) {
  FIRN_RETURN_NOT_OK(SendStatement(sql, values, effect));
  return TakeAnswer(effect);
}

Status PostgresConnection::SendStatement(std::string_view sql,
                                         const std::vector<std::string>& values,
                                         SqlEffect effect) {
  std::vector<const char*> pointers;
  for (const std::string& value : values) {
    if (value.find('\0') != std::string::npos) {
      return InvalidError("{}: a value holds a zero byte", address_.name);
    }
    pointers.push_back(value.c_str());
  }
  const int sent = PQsendQueryParams(connection_, std::string(sql).c_str(),
                                     static_cast<int>(values.size()), nullptr,
                                     pointers.data(), nullptr, nullptr, 0);
  if (sent == 1) return Status::OK();
  return LostError(effect, PQerrorMessage(connection_));
}

Status PostgresConnection::WaitForAnswer(SqlEffect effect) {
  const BootTime until = runtime_.SinceBoot() + 2 * address_.wait;
  while (PQisBusy(connection_) != 0) {
    if (!WaitForSocket(POLLIN, until)) return LostError(effect, "it does not answer");
    if (PQconsumeInput(connection_) == 0) {
      return LostError(effect, PQerrorMessage(connection_));
    }
  }
  return Status::OK();
}

Result<PostgresConnection::Answer> PostgresConnection::TakeAnswer(SqlEffect effect) {
  Answer answer;
  Status failure;
  while (true) {
    FIRN_RETURN_NOT_OK(WaitForAnswer(effect));
    const ResultPointer result(PQgetResult(connection_));
    if (result == nullptr) break;
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
      for (int row = 0; row < PQntuples(result.get()); ++row) {
        answer.rows.push_back(RowOf(result.get(), row));
      }
      answer.changed = ChangedRows(result.get());
      continue;
    }
    const std::string code = FieldOf(result.get(), PG_DIAG_SQLSTATE);
    if (code.empty()) return LostError(effect, PQresultErrorMessage(result.get()));
    failure = Failed(
        KindOfSqlState(code, effect),
        fmt::format("{}: {}{}", address_.name,
                    FieldOf(result.get(), PG_DIAG_MESSAGE_PRIMARY), AdviceOn(code)));
  }
  if (PQstatus(connection_) != CONNECTION_OK) is_lost_ = true;
  FIRN_RETURN_NOT_OK(failure);
  return answer;
}

Status PostgresConnection::LostError(SqlEffect effect, std::string_view reason) {
  is_lost_ = true;
  return Error(*KindOfSqlState("", effect), "{}: the connection was lost: {}",
               address_.name, OneLine(reason));
}

}  // namespace firn::iceberg
