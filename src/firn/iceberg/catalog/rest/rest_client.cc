#include "firn/iceberg/catalog/rest/rest_client.h"

#include <utility>

#include "firn/core/stoppable_sleep.h"
#include "firn/core/ulid.h"
#include "firn/core/whole_number.h"

namespace firn::iceberg::rest {
namespace {

/// The metadata of a table with very many snapshots.
constexpr std::int64_t kResponseBytesMax = std::int64_t{1} << 30;

constexpr int kUnauthorized = 401;
/// "AuthenticationTimeoutResponse" of the specification.
constexpr int kAuthenticationTimeout = 419;

/// Seconds; the other form, a date, counts as none.
std::optional<Duration> RetryAfter(const http::Response& response) {
  const auto value = http::FindHeader(response.headers, "Retry-After");
  if (!value) return std::nullopt;
  const auto seconds = ParseWholeNumber<std::int32_t>(*value);
  if (!seconds || *seconds < 0) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

Call Described(const RestCall& call) {
  return {
      .kind = call.kind, .method = call.method, .path = std::string(call.route.path())};
}

/// What the HTTP client says, sorted as OutcomeOf sorts answers.
Status Unanswered(const RestCall& call, const Status& failure) {
  const bool may_have_been_sent = IsError(failure, ErrorKind::kOutcomeUnknown);
  if (call.kind != CallKind::kRead || !may_have_been_sent) return failure;
  return MakeError(ErrorKind::kUnavailable, ErrorText(failure));
}

/// Once one attempt may have been applied, no later answer tells that none was.
Status AfterUnknown(const Status& status) {
  if (IsError(status, ErrorKind::kOutcomeUnknown)) return status;
  return Error(ErrorKind::kOutcomeUnknown, "sent again after no answer: {}",
               ErrorText(status));
}

}  // namespace

RestClient::RestClient(RestClientOptions options, TokenSource& tokens,
                       http::HttpClient& client, Runtime& runtime)
    : options_(std::move(options)), tokens_(tokens), client_(client), runtime_(runtime) {}

Result<std::string> RestClient::Send(const RestCall& call) {
  const bool has_key =
      call.kind != CallKind::kRead && options_.idempotency_key_lifetime.has_value();
  const std::string key = has_key ? NewUuidV7(runtime_) : std::string();
  const BootTime begun = runtime_.SinceBoot();
  bool is_unknown = false;
  for (int attempts = 1;; ++attempts) {
    Attempt attempt = TryOnce(call, key);
    if (attempt.outcome.ok()) return std::move(attempt.body);
    is_unknown = is_unknown || IsError(attempt.outcome, ErrorKind::kOutcomeUnknown);
    const std::optional<Duration> wait = WaitAfter(call, attempt, attempts);
    const bool is_key_spent =
        has_key && wait &&
        runtime_.SinceBoot() + *wait - begun > *options_.idempotency_key_lifetime;
    const bool is_last =
        !wait || is_key_spent || !SleepUnlessStopped(runtime_, *wait, options_.stop).ok();
    if (is_last) return is_unknown ? AfterUnknown(attempt.outcome) : attempt.outcome;
  }
}

RestClient::Attempt RestClient::TryOnce(const RestCall& call,
                                        const std::string& idempotency_key) {
  Result<http::Response> response = SendWithToken(call, idempotency_key);
  if (!response.ok()) return {.outcome = Unanswered(call, response.status())};
  const Status outcome = OutcomeOf(Described(call), response->status, response->body);
  if (outcome.ok()) return {.outcome = outcome, .body = std::move(response->body)};
  return {.outcome = outcome.WithMessage(tokens_.WithoutSecrets(outcome.message())),
          .retry_after = RetryAfter(*response)};
}

Result<http::Response> RestClient::SendWithToken(const RestCall& call,
                                                 const std::string& idempotency_key) {
  FIRN_ASSIGN_OR_RETURN(const std::string token, tokens_.Token());
  FIRN_ASSIGN_OR_RETURN(http::Response response,
                        client_.Send(RequestOf(call, token, idempotency_key), call.body));
  const bool is_refused =
      response.status == kUnauthorized || response.status == kAuthenticationTimeout;
  if (!is_refused || !tokens_.Discard(token)) return response;
  FIRN_ASSIGN_OR_RETURN(const std::string renewed, tokens_.Token());
  return client_.Send(RequestOf(call, renewed, idempotency_key), call.body);
}

http::Request RestClient::RequestOf(const RestCall& call, const std::string& token,
                                    const std::string& idempotency_key) const {
  http::Request request = {.method = call.method,
                           .url = options_.uri + call.route.target,
                           .headers = options_.headers,
                           .timeout = options_.timeout,
                           .response_bytes_max = kResponseBytesMax};
  const auto add = [&](const char* name, std::string value) {
    // The user's own header wins: another kind of authorization, say.
    if (http::FindHeader(options_.headers, name)) return;
    request.headers.push_back({.name = name, .value = std::move(value)});
  };
  add("Accept", "application/json");
  if (!call.body.empty()) add("Content-Type", "application/json");
  if (!token.empty()) add("Authorization", "Bearer " + token);
  if (!idempotency_key.empty()) add("Idempotency-Key", idempotency_key);
  return request;
}

std::optional<Duration> RestClient::WaitAfter(const RestCall& call,
                                              const Attempt& attempt, int attempts) {
  if (attempts >= options_.attempts_max) return std::nullopt;
  const bool is_worth_it =
      IsError(attempt.outcome, ErrorKind::kUnavailable) ||
      (IsError(attempt.outcome, ErrorKind::kOutcomeUnknown) &&
       call.kind != CallKind::kRead && options_.idempotency_key_lifetime.has_value());
  if (!is_worth_it) return std::nullopt;
  const Duration asked = attempt.retry_after.value_or(Duration(0));
  if (asked > options_.retry_after_max) return std::nullopt;
  return asked + firn::WaitAfter(attempts, options_.backoff, runtime_);
}

}  // namespace firn::iceberg::rest
