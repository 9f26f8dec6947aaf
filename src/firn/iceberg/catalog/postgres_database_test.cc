#include "firn/iceberg/catalog/postgres_database.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/testing/postgres_schema.h"

namespace firn::iceberg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Duration kLong = std::chrono::seconds(10);
constexpr Duration kShort = std::chrono::milliseconds(300);

Status OpenError(const std::string& uri, Duration wait = kLong) {
  FIRN_ASSIGN_OR_RETURN(const PostgresAddress address, ParsePostgresUri(uri, wait));
  return PostgresDatabase::Open(address, SystemRuntime()).status();
}

TEST(PostgresAddressTest, IsShownWithoutWhatCouldBeASecret) {
  EXPECT_EQ(
      ParsePostgresUri("postgresql://u:s%40cret@h:1/d?sslpassword=s%40cret", kLong)->name,
      "postgresql://h:1/d");
  EXPECT_EQ(ParsePostgresUri("postgresql:///d", kLong)->name, "postgresql://:5432/d");
  EXPECT_EQ(ParsePostgresUri("postgresql://h", kLong)->name, "postgresql://h:5432/");
  for (const char* uri :
       {"postgresql://u:s%zzcret@h/d", "postgresql://u:s@cret@h/d",
        "postgresql://u:s/cret@h/d", "postgresql://u:p@h:s3cret/d",
        "postgresql://u:cret@h/d?no_such_option=1", "host=h password=cret"}) {
    const Status status = ParsePostgresUri(uri, kLong).status();
    EXPECT_FALSE(status.ok()) << uri;
    EXPECT_THAT(ErrorText(status), HasSubstr("%40 for an '@'"));
    EXPECT_THAT(ErrorText(status), Not(HasSubstr("cret"))) << uri;
  }
}

TEST(PostgresErrorsTest, EachCodeHasItsReaction) {
  const auto write = [](std::string_view code) {
    return KindOfSqlState(code, SqlEffect::kWrites);
  };
  EXPECT_EQ(write("23505"), ErrorKind::kAlreadyExists);
  EXPECT_EQ(write("40001"), ErrorKind::kConflict);
  EXPECT_EQ(write("40P01"), ErrorKind::kUnavailable);
  EXPECT_EQ(write("40003"), ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(write("55P03"), ErrorKind::kUnavailable);
  EXPECT_EQ(write("53300"), ErrorKind::kUnavailable);
  EXPECT_EQ(write("42703"), std::nullopt);
  for (const char* code : {"", "08006", "57P01", "57P02"}) {
    EXPECT_EQ(write(code), ErrorKind::kOutcomeUnknown) << code;
    EXPECT_EQ(KindOfSqlState(code, SqlEffect::kReads), ErrorKind::kUnavailable) << code;
  }
}

TEST(PostgresErrorsTest, TheCodeIsFoundInAReport) {
  EXPECT_EQ(SqlStateIn("connection to server at \"h\" (::1), port 1 failed: FATAL:  "
                       "28P01: password authentication failed"),
            "28P01");
  for (const char* report : {"", "FATAL:  28P01", "FATAL:  28p01: x", "a:  b", ":  "}) {
    EXPECT_EQ(SqlStateIn(report), "") << report;
  }
}

TEST(PostgresOpenTest, AServerThatIsNotThereIsUnavailable) {
  const Status status = OpenError("postgresql://u:secret@127.0.0.1:1/d");
  EXPECT_TRUE(IsError(status, ErrorKind::kUnavailable)) << status;
  EXPECT_THAT(ErrorText(status), HasSubstr("postgresql://127.0.0.1:1/d: "));
  EXPECT_THAT(ErrorText(status), Not(HasSubstr("secret")));
}

TEST(PostgresOpenTest, AServerThatIsSilentIsUnavailable) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{.sin_family = AF_INET,
                      .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof(address);
  auto* any_address = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener, any_address, size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, any_address, &size), 0);
  const Status status = OpenError(
      fmt::format("postgresql://127.0.0.1:{}/d", ntohs(address.sin_port)), kShort);
  EXPECT_TRUE(IsError(status, ErrorKind::kUnavailable)) << status;
  EXPECT_THAT(ErrorText(status), HasSubstr("does not answer"));
  ::close(listener);
}

/// All below need a server.
class PostgresDatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    if (schema_ == nullptr) GTEST_SKIP() << kNoPostgres;
    database_ = schema_->Open();
    Write("CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT)");
    Write("INSERT INTO t VALUES ('a', '1')");
  }

  std::int64_t Write(const char* sql) { return database_->Write(sql).ValueOrDie(); }

  std::optional<std::string> Value(const char* sql) {
    return database_->Query(sql).ValueOrDie().at(0).at(0);
  }

  /// A session for transactions of more than one statement.
  std::unique_ptr<PostgresConnection> Session() {
    return PostgresConnection::Open(ParsePostgresUri(schema_->Uri(), kLong).ValueOrDie(),
                                    SystemRuntime())
        .ValueOrDie();
  }

  static void Run(PostgresConnection& session, const char* sql) {
    ASSERT_TRUE(session.Run(sql, {}, SqlEffect::kWrites).ok()) << sql;
  }

  /// The statement that waits in the server for a lock, or sleeps there.
  static constexpr const char* kWaiting =
      "FROM pg_stat_activity WHERE application_name = $1 AND state = 'active' AND "
      "query LIKE '%waits%' AND wait_event IS NOT NULL";

  void AwaitWaiting() {
    while (OfWaiting("SELECT pid").empty()) {
    }
  }

  /// Ends the session of the waiting statement as an administrator would.
  void EndWaiting() {
    AwaitWaiting();
    EXPECT_EQ(OfWaiting("SELECT pg_terminate_backend(pid)").size(), 1U);
  }

  std::vector<SqlRow> OfWaiting(const char* select) {
    return database_->Query(fmt::format("{} {}", select, kWaiting), {schema_->name()})
        .ValueOrDie();
  }

  /// Ends all sessions that this test opened, but for the one that does it.
  void EndSessions() {
    ASSERT_TRUE(Session()
                    ->Run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                          "WHERE application_name = $1 AND pid <> pg_backend_pid()",
                          {schema_->name()}, SqlEffect::kReads)
                    .ok());
  }

  const std::unique_ptr<PostgresSchema> schema_ = PostgresSchema::Make();
  std::unique_ptr<PostgresDatabase> database_;
};

TEST_F(PostgresDatabaseTest, ValuesAreBoundAndNeverPasted) {
  const std::string awkward = "'; DROP TABLE t; -- \\ $1 \" é 😀";
  EXPECT_EQ(database_->Write("UPDATE t SET v = $2 WHERE k = $1", {"a", awkward}), 1);
  EXPECT_THAT(
      database_->Query("SELECT v, NULL, k FROM t WHERE v = $1", {awkward}).ValueOrDie(),
      ElementsAre(SqlRow{awkward, std::nullopt, "a"}));
  EXPECT_EQ(database_->Write("UPDATE t SET v = '' WHERE k = 'none'"), 0);
}

TEST_F(PostgresDatabaseTest, ValuesThatTextCannotHoldAreRefused) {
  for (const std::string& value : {std::string("a\0b", 3), std::string("\xff")}) {
    const Status status =
        database_->Query("SELECT v FROM t WHERE v = $1", {value}).status();
    EXPECT_TRUE(status.IsInvalid()) << status;
    EXPECT_EQ(status.detail(), nullptr);
  }
}

TEST_F(PostgresDatabaseTest, ColumnsAreThoseOfTheTable) {
  EXPECT_THAT(database_->ColumnsOf("t").ValueOrDie(), ElementsAre("k", "v"));
  EXPECT_THAT(database_->ColumnsOf("none").ValueOrDie(), IsEmpty());
}

TEST_F(PostgresDatabaseTest, ATakenKeyIsNamed) {
  const Status status = database_->Write("INSERT INTO t VALUES ('a', '2')").status();
  EXPECT_TRUE(IsError(status, ErrorKind::kAlreadyExists)) << status;
  EXPECT_THAT(ErrorText(status), HasSubstr(database_->name()));
}

TEST_F(PostgresDatabaseTest, AFailedStatementLeavesTheConnectionUsable) {
  EXPECT_THAT(ErrorText(database_->Query("SELECT none FROM t").status()),
              HasSubstr("column \"none\" does not exist"));
  EXPECT_EQ(Value("SELECT v FROM t"), "1");
}

TEST_F(PostgresDatabaseTest, ALockHeldForTooLongIsUnavailable) {
  auto other = Session();
  Run(*other, "BEGIN");
  Run(*other, "UPDATE t SET v = '2'");
  auto impatient = schema_->Open(kShort);
  const Status status = impatient->Write("UPDATE t SET v = '3'").status();
  EXPECT_TRUE(IsError(status, ErrorKind::kUnavailable)) << status;
  EXPECT_TRUE(impatient->Query("SELECT v FROM t").ok()) << "others are not held up";
  Run(*other, "ROLLBACK");
  EXPECT_TRUE(impatient->Write("UPDATE t SET v = '3'").ok());
}

TEST_F(PostgresDatabaseTest, ASerializableTransactionThatMeetsAnotherIsAConflict) {
  auto serializable =
      schema_->Open(kLong, " -cdefault_transaction_isolation=serializable");
  auto other = Session();
  Run(*other, "BEGIN");
  Run(*other, "UPDATE t SET v = '2'");
  Status status;
  {
    Thread thread(SystemRuntime(), "writer", [&] {
      status = serializable->Write("UPDATE t SET v = 'waits'").status();
    });
    AwaitWaiting();
    Run(*other, "COMMIT");
  }
  EXPECT_TRUE(IsError(status, ErrorKind::kConflict)) << status;
  EXPECT_EQ(Value("SELECT v FROM t"), "2");
}

TEST_F(PostgresDatabaseTest, AWriteWhoseConnectionIsLostIsUnknown) {
  Status status;
  {
    Thread thread(SystemRuntime(), "writer", [&] {
      status = database_->Write("UPDATE t SET v = 'waits' FROM pg_sleep(60)").status();
    });
    EndWaiting();
  }
  EXPECT_TRUE(IsError(status, ErrorKind::kOutcomeUnknown)) << status;
  EXPECT_EQ(Value("SELECT v FROM t"), "1");
}

TEST_F(PostgresDatabaseTest, AReadWhoseConnectionIsLostIsDoneAgain) {
  auto other = Session();
  Run(*other, "BEGIN");
  Run(*other, "LOCK TABLE t");
  Result<std::vector<SqlRow>> rows = std::vector<SqlRow>();
  {
    Thread thread(SystemRuntime(), "reader",
                  [&] { rows = database_->Query("SELECT v, 'waits' FROM t"); });
    EndWaiting();
    Run(*other, "COMMIT");
  }
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(*rows, ElementsAre(SqlRow{"1", "waits"}));
}

TEST_F(PostgresDatabaseTest, LostConnectionsAreReplaced) {
  for (int i = 0; i < 3; ++i) {
    EndSessions();
    EXPECT_EQ(Value("SELECT v FROM t"), "1");
    EndSessions();
    EXPECT_EQ(Write("UPDATE t SET v = '1'"), 1);
  }
}

TEST_F(PostgresDatabaseTest, AsManyMayAskAtOnceAsLike) {
  std::vector<Thread> threads;
  for (int i = 0; i < 3 * kPostgresConnectionsMax; ++i) {
    threads.emplace_back(SystemRuntime(), "asks", [&] {
      for (int j = 0; j < 10; ++j) EXPECT_EQ(Value("SELECT v FROM t"), "1");
    });
  }
  threads.clear();
  const auto sessions = database_->Query(
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1",
      {schema_->name()});
  EXPECT_LE(std::stoi(*sessions.ValueOrDie()[0][0]), kPostgresConnectionsMax);
}

TEST_F(PostgresDatabaseTest, CommitsSurviveACrashThoughTheServerWouldNotCare) {
  auto careless = schema_->Open(kLong, " -csynchronous_commit=off");
  const auto setting = [](PostgresDatabase& database) {
    return database.Query("SHOW synchronous_commit").ValueOrDie().at(0).at(0);
  };
  EXPECT_EQ(setting(*careless), "on");
  EXPECT_EQ(setting(*schema_->Open(kLong, " -csynchronous_commit=remote_apply")),
            "remote_apply");
}

/// The server's address with another user, password or database.
class PostgresRefusalTest : public PostgresDatabaseTest {
 protected:
  std::string Address(const std::string& login, const std::string& database) {
    const std::string server =
        database_->name().substr(std::string("postgresql://").size());
    return fmt::format("postgresql://{}@{}/{}", login, server.substr(0, server.find('/')),
                       database);
  }
};

TEST_F(PostgresRefusalTest, AWrongPasswordIsNoReasonToTryAgain) {
  const Status status = OpenError(Address("firn:s3cret", "firn"));
  EXPECT_EQ(status.detail(), nullptr) << status;
  EXPECT_THAT(ErrorText(status), HasSubstr("password authentication failed"));
  EXPECT_THAT(ErrorText(status), HasSubstr("put user and password into the uri"));
  EXPECT_THAT(ErrorText(status), Not(HasSubstr("s3cret")));
}

TEST_F(PostgresRefusalTest, TlsIsAsTheAddressWantsIt) {
  const Status status = OpenError(schema_->Uri() + "&sslmode=require");
  EXPECT_THAT(ErrorText(status), HasSubstr("SSL"));
}

}  // namespace
}  // namespace firn::iceberg
