#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/http/testing/test_server.h"
#include "firn/iceberg/catalog/catalog.h"

namespace firn::iceberg {

struct RestServerOptions {
  /// Stands in the paths, and in the configuration's overrides.
  std::string prefix = {};
  /// "client:secret": requests then need a token that this gave.
  std::string credential = {};
  std::int64_t token_seconds = 3600;
  /// Names on one page of a list; all of them: 0.
  std::size_t page_size = 0;
  /// ISO 8601; idempotency keys are known if there is one.
  std::string idempotency_key_lifetime = {};
  /// Stand in every answer with a table, as JSON: "\"config\": {...}".
  std::string table_fields = {};
  /// What the endpoint for credentials answers; there is none if it is empty.
  std::string credentials = {};
};

/// Either may be empty. Called from the threads that serve.
struct RestServerFaults {
  /// What it gives is the answer; the catalog does not see the request.
  std::function<std::optional<http::Reply>(const http::ReceivedRequest&)> before = {};
  /// Changes the answer to a request that the catalog has carried out.
  std::function<http::Reply(const http::ReceivedRequest&, http::Reply)> after = {};
};

/// A REST catalog server for tests, in front of any catalog, that plays what goes wrong
/// between client and server.
class RestTestServer {
 public:
  using Options = RestServerOptions;
  using Faults = RestServerFaults;

  /// `catalog` must outlive the server.
  explicit RestTestServer(Catalog& catalog, Options options = {}, Faults faults = {});

  std::string uri() const { return server_.Url(); }
  std::vector<http::ReceivedRequest> Requests() { return server_.Requests(); }
  http::TestServer& server() { return server_; }

  /// No token that was given so far is good any more.
  void ForgetTokens();
  /// Tokens given so far.
  int tokens_given();

 private:
  struct Place;

  http::Reply Handle(const http::ReceivedRequest& request);
  http::Reply AnswerOnce(const http::ReceivedRequest& request);
  http::Reply Answer(const http::ReceivedRequest& request);
  http::Reply AnswerNamespaces(const http::ReceivedRequest& request, const Place& place);
  http::Reply AnswerTables(const http::ReceivedRequest& request, const Place& place);
  http::Reply AnswerTable(const http::ReceivedRequest& request, const Place& place);
  http::Reply GiveToken(const http::ReceivedRequest& request);
  bool IsAuthorized(const http::ReceivedRequest& request);
  http::Reply TableReply(const Result<LoadedTable>& table) const;

  Catalog& catalog_;
  const Options options_;
  const Faults faults_;
  Mutex mutex_;
  int tokens_given_ = 0;                         // guarded by mutex_
  int oldest_good_token_ = 1;                    // guarded by mutex_
  std::map<std::string, http::Reply> answered_;  // by key; guarded by mutex_
  http::TestServer server_;
};

}  // namespace firn::iceberg
