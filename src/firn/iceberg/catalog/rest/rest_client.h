#pragma once

#include <optional>
#include <string>
#include <vector>

#include "firn/core/backoff.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/http/http_client.h"
#include "firn/iceberg/catalog/rest/rest_outcome.h"
#include "firn/iceberg/catalog/rest/rest_routes.h"
#include "firn/iceberg/catalog/rest/rest_token.h"

namespace firn::iceberg::rest {

struct RestClientOptions {
  /// Of the server, without a slash at the end: "https://catalog.example.com/api".
  std::string uri;
  /// Sent with every request, beside those that the client knows of itself.
  std::vector<http::Header> headers;
  /// Of one attempt, from connecting to the last byte. Zero: the HTTP client's.
  Duration timeout{0};
  /// Attempts at one call, the first one included.
  int attempts_max = 5;
  /// Between them, beside what the server asks for.
  Backoff backoff = {.first = std::chrono::milliseconds(200),
                     .max = std::chrono::seconds(5)};
  /// How long a server may ask to be left alone (Retry-After) and still be waited for.
  Duration retry_after_max = std::chrono::seconds(30);
  /// How long an idempotency key may be sent again; nothing: the server knows none.
  std::optional<Duration> idempotency_key_lifetime = std::nullopt;
  /// Once it asks, nothing is sent again: a call ends as its last attempt did.
  StopToken stop = {};
};

struct RestCall {
  CallKind kind = CallKind::kRead;
  std::string method = "GET";
  Route route;
  /// JSON; empty: none.
  std::string body = {};
};

/// Speaks to a REST catalog: authorization, attempts, and what an answer means.
///
/// A kRead is repeated while the server is not there, answers 5xx or asks to wait. Any
/// other call is repeated only when nothing was applied (429, no connection) or if the
/// server takes an idempotency key, which is then the same in every attempt. A refused
/// token is renewed once for each attempt. Thread-safe.
class RestClient {
 public:
  /// The references must outlive it.
  RestClient(RestClientOptions options, TokenSource& tokens, http::HttpClient& client,
             Runtime& runtime);

  /// The body of a 2xx. Errors are those of OutcomeOf; and once an attempt's outcome was
  /// unknown, every later failure is OutcomeUnknown: a conflict may be with ourselves.
  Result<std::string> Send(const RestCall& call);

 private:
  struct Attempt {
    Status outcome;
    std::string body = {};
    /// What the server asked for; nothing if it did not.
    std::optional<Duration> retry_after = std::nullopt;
  };

  Attempt TryOnce(const RestCall& call, const std::string& idempotency_key);
  Result<http::Response> SendWithToken(const RestCall& call,
                                       const std::string& idempotency_key);
  http::Request RequestOf(const RestCall& call, const std::string& token,
                          const std::string& idempotency_key) const;
  /// Nothing if the call is not to be sent again.
  std::optional<Duration> WaitAfter(const RestCall& call, const Attempt& attempt,
                                    int attempts);

  const RestClientOptions options_;
  TokenSource& tokens_;
  http::HttpClient& client_;
  Runtime& runtime_;
};

}  // namespace firn::iceberg::rest
