#include <atomic>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/test_table.h"
#include "firn/iceberg/catalog/rest/rest_catalog.h"
#include "firn/iceberg/testing/rest_test_server.h"
#include "firn/metrics/metrics.h"

/// What goes wrong between a committer and a REST catalog's server: docs/faults.md.
namespace firn::commit {
namespace {

using http::ReceivedRequest;
using http::Reply;

constexpr const char* kCredential = "firn:secret";

Reply ServerError(int status) {
  return {.status = status, .body = "<html>a proxy's page</html>"};
}

/// In a REST catalog's own words.
Reply Refusal(int status, const char* type) {
  return {.status = status,
          .body = fmt::format(R"({{"error":{{"message":"no","type":"{}","code":{}}}}})",
                              type, status)};
}

enum class What {
  kConflict,
  kBadGatewayAfterApplying,
  kDropAfterApplying,
  kTruncatedAfterApplying,
  kAnswerToASecondSending,
  kNotFoundAfterApplying,
  kBadRequestAfterApplying,
  kUnprocessableAfterApplying,
  kTimeOutAndAppliedLater,
  kServerErrorForAConflict,
  kServerErrorBeforeApplying,
  kTokenExpires,
  kTooManyRequests,
};

struct FaultCase {
  What what;
  const char* name;
  /// What the committer was told, of all attempts.
  const char* counted;
  const char* idempotency_key_lifetime = "";
};

std::vector<FaultCase> AllFaults() {
  return {
      {What::kConflict, "conflict", "committed 1, conflict 1"},
      {What::kBadGatewayAfterApplying, "502_after_applying", "unknown 1"},
      {What::kDropAfterApplying, "dropped_after_applying", "unknown 1"},
      {What::kTruncatedAfterApplying, "truncated_after_applying", "unknown 1"},
      {What::kAnswerToASecondSending, "409_to_a_second_sending", "conflict 1"},
      // What other servers answer to a request that a proxy sent twice.
      {What::kNotFoundAfterApplying, "404_after_applying", "refused 1"},
      {What::kBadRequestAfterApplying, "400_after_applying", "refused 1"},
      {What::kUnprocessableAfterApplying, "422_after_applying", "refused 1"},
      {What::kTimeOutAndAppliedLater, "time_out_applied_later", "conflict 1, unknown 1"},
      {What::kServerErrorForAConflict, "500_for_a_conflict", "committed 1, unknown 1"},
      {What::kServerErrorBeforeApplying, "503_not_applied", "committed 1, unknown 1"},
      {What::kTokenExpires, "401_in_the_middle", "committed 1"},
      {What::kTooManyRequests, "429", "committed 1"},
      {What::kBadGatewayAfterApplying, "502_with_key", "committed 1", "PT30M"},
      {What::kDropAfterApplying, "dropped_with_key", "committed 1", "PT30M"},
      // A conflict that answers a second sending may be with ourselves.
      {What::kServerErrorForAConflict, "500_for_a_conflict_with_key",
       "committed 1, unknown 1", "PT30M"},
  };
}

/// A table with one segment; batches 2 and 3 are committed as one through the server,
/// and something happens to that commit's first request.
class RestFaultTest : public testing::TestWithParam<FaultCase> {
 protected:
  RestFaultTest() {
    EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
    table_.store_faults() = [this](const storage::StoreCall& call) {
      deletions_ += call.operation == storage::StoreOperation::kDelete ? 1 : 0;
      return storage::kPass;
    };
    server_.emplace(
        table_.catalog(),
        iceberg::RestTestServer::Options{
            .credential = kCredential,
            .idempotency_key_lifetime = GetParam().idempotency_key_lifetime},
        iceberg::RestTestServer::Faults{
            .before = [this](const ReceivedRequest& request) { return Before(request); },
            .after = [this](const ReceivedRequest& request,
                            Reply reply) { return After(request, std::move(reply)); }});
    catalog_ = OpenCatalog();
  }

  std::unique_ptr<iceberg::RestCatalog> OpenCatalog() {
    const bool waits = GetParam().what == What::kTimeOutAndAppliedLater;
    return iceberg::RestCatalog::Open(
               {{"uri", server_->uri()},
                {"credential", kCredential},
                {"rest.client.request-timeout-ms", waits ? "300" : "60000"}},
               http::MakeHttpClient(SystemRuntime(), {}).ValueOrDie(), table_.runtime())
        .ValueOrDie();
  }

  static bool IsCommit(const ReceivedRequest& request) {
    return request.method == "POST" &&
           request.target.find("/tables/") != std::string::npos;
  }

  std::optional<Reply> Before(const ReceivedRequest& request) {
    if (!IsCommit(request)) return std::nullopt;
    const bool is_first = ++commits_ == 1;
    if (GetParam().what == What::kTimeOutAndAppliedLater) {
      return HoldBackFirst(is_first);
    }
    return is_first ? Strike() : std::nullopt;
  }

  /// The first request is applied when the second one, which was made without it, comes.
  std::optional<Reply> HoldBackFirst(bool is_first) {
    if (is_first) {
      second_is_here_.Wait();
    } else {
      second_is_here_.Open();
      first_is_applied_.Wait();
    }
    return std::nullopt;
  }

  std::optional<Reply> Strike() {
    switch (GetParam().what) {
      case What::kConflict:
        table_.AppendForeignFile("foreign");
        return std::nullopt;
      case What::kServerErrorForAConflict:
        table_.AppendForeignFile("foreign");
        return ServerError(500);
      case What::kServerErrorBeforeApplying:
        return ServerError(503);
      case What::kTokenExpires:
        server_->ForgetTokens();
        return std::nullopt;
      case What::kTooManyRequests:
        return ServerError(429);
      default:
        return std::nullopt;
    }
  }

  Reply After(const ReceivedRequest& request, Reply reply) {
    if (!IsCommit(request) || is_answered_.exchange(true)) return reply;
    first_is_applied_.Open();
    switch (GetParam().what) {
      case What::kBadGatewayAfterApplying:
        return ServerError(502);
      case What::kNotFoundAfterApplying:
        return Refusal(404, "NoSuchTableException");
      case What::kBadRequestAfterApplying:
        return Refusal(400, "BadRequestException");
      case What::kUnprocessableAfterApplying:
        return Refusal(422, "UnprocessableEntityException");
      case What::kDropAfterApplying:
        return http::Drop();
      case What::kTruncatedAfterApplying:
        reply.end = Reply::End::kTruncate;
        return reply;
      case What::kAnswerToASecondSending:
        return SendAgain(request);
      default:
        return reply;
    }
  }

  /// What a proxy does that lost the answer of the server behind it.
  Reply SendAgain(const ReceivedRequest& request) {
    http::Request again = {.method = request.method,
                           .url = server_->server().Url(request.target)};
    for (const http::Header& header : request.headers) {
      if (header.name == "Authorization") again.headers.push_back(header);
    }
    const auto response = http::MakeHttpClient(SystemRuntime(), {})
                              .ValueOrDie()
                              ->Send(again, request.body)
                              .ValueOrDie();
    EXPECT_EQ(response.status, 409);
    return {.status = response.status, .body = response.body};
  }

  std::string Commit() {
    Committer committer(*catalog_, table_.io(), table_.runtime(),
                        {.table = table_.identifier(),
                         .table_uuid = table_.Load().table_uuid,
                         .wal = TestWal(),
                         .metrics = &metrics_});
    const auto outcomes = committer.Commit({TestBatch(2, 1, 2), TestBatch(3, 2, 3)});
    if (!outcomes.ok()) return outcomes.status().ToString();
    return outcomes->at(0).state == BatchState::kCommitted &&
                   outcomes->at(1).state == BatchState::kCommitted
               ? "committed"
               : "superseded";
  }

  /// "committed 1, unknown 2": what is not zero.
  std::string Counted() {
    std::string counted;
    for (const char* outcome :
         {"committed", "conflict", "unknown", "unavailable", "refused"}) {
      const std::int64_t count =
          registry_
              .GetCounter({.name = "firn_commit_attempts_total",
                           .help = "Attempts to commit, by what the catalog said.",
                           .labels = {{"table", "t"}, {"outcome", outcome}}})
              .value();
      if (count == 0) continue;
      counted += fmt::format("{}{} {}", counted.empty() ? "" : ", ", outcome, count);
    }
    return counted;
  }

  std::vector<std::string> OurFiles() {
    std::vector<std::string> files = table_.LiveFiles();
    std::erase_if(files, [](const std::string& name) { return name == "foreign"; });
    return files;
  }

  TestTable table_;
  metrics::Registry registry_{SystemRuntime()};
  CommitMetrics metrics_{registry_, "t"};
  http::Gate second_is_here_{SystemRuntime()};
  http::Gate first_is_applied_{SystemRuntime()};
  std::atomic<int> commits_ = 0;
  std::atomic<bool> is_answered_ = false;
  int deletions_ = 0;
  std::optional<iceberg::RestTestServer> server_;
  std::unique_ptr<iceberg::RestCatalog> catalog_;
};

TEST_P(RestFaultTest, NothingIsLostNothingTwiceAndEachOutcomeIsCounted) {
  EXPECT_EQ(Commit(), "committed");
  EXPECT_GE(commits_, 1);
  EXPECT_EQ(Counted(), GetParam().counted);
  EXPECT_THAT(OurFiles(), testing::ElementsAre("1", "2", "3"));
  EXPECT_EQ(deletions_, 0);
  // The next one goes on from there.
  EXPECT_EQ(table_.Commit({TestBatch(4, 3, 4)}), "committed");
  EXPECT_THAT(OurFiles(), testing::ElementsAre("1", "2", "3", "4"));
}

INSTANTIATE_TEST_SUITE_P(Faults, RestFaultTest, testing::ValuesIn(AllFaults()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace firn::commit
