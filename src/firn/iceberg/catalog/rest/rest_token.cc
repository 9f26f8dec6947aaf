#include "firn/iceberg/catalog/rest/rest_token.h"

#include <algorithm>
#include <utility>

#include "firn/iceberg/catalog/rest/rest_messages.h"
#include "firn/iceberg/catalog/rest/rest_outcome.h"
#include "firn/storage/s3/uri.h"

namespace firn::iceberg::rest {
namespace {

using storage::s3::EncodeUriPart;

constexpr std::int64_t kLifetimeSecondsMax = 10LL * 365 * 86'400;

struct Client {
  /// Empty if the credential is a secret alone.
  std::string id;
  std::string secret;
};

Client ClientOf(const std::string& credential) {
  const std::size_t colon = credential.find(':');
  if (colon == std::string::npos) return {.id = {}, .secret = credential};
  return {.id = credential.substr(0, colon), .secret = credential.substr(colon + 1)};
}

std::string FormOf(const TokenOptions& options) {
  const Client client = ClientOf(options.credential);
  std::map<std::string, std::string> fields = options.parameters;
  fields["grant_type"] = "client_credentials";
  if (!client.id.empty()) fields["client_id"] = client.id;
  fields["client_secret"] = client.secret;
  std::string form;
  for (const auto& [name, value] : fields) {
    form += fmt::format("{}{}={}", form.empty() ? "" : "&", EncodeUriPart(name),
                        EncodeUriPart(value));
  }
  return form;
}

void Erase(const std::string& secret, std::string& text) {
  if (secret.empty()) return;
  for (std::size_t at = text.find(secret); at != std::string::npos;
       at = text.find(secret, at)) {
    text.replace(at, secret.size(), "***");
    at += 3;
  }
}

/// No answer about tokens means that a table is missing or broken.
Status WithoutKindOfTable(const Status& status) {
  if (IsError(status, ErrorKind::kUnavailable)) return status;
  return Status::Invalid(ErrorText(status));
}

}  // namespace

TokenSource::TokenSource(TokenOptions options, http::HttpClient& client, Runtime& runtime)
    : options_(std::move(options)),
      client_(client),
      runtime_(runtime),
      mutex_(runtime),
      token_(options_.token) {}

Result<std::string> TokenSource::Token() {
  MutexLock lock(mutex_);
  if (options_.credential.empty() || !IsDue()) return token_;
  const Status fetched = Fetch();
  const bool is_still_good = !token_.empty() && runtime_.SinceBoot() < expiry_;
  if (!fetched.ok() && !is_still_good) return fetched;
  return token_;
}

bool TokenSource::Discard(const std::string& token) {
  MutexLock lock(mutex_);
  if (token_ != token) return true;  // another thread has seen to it
  if (options_.credential.empty()) return false;
  token_.clear();
  return true;
}

std::string TokenSource::WithoutSecrets(std::string text) {
  MutexLock lock(mutex_);
  return CensoredOf(std::move(text));
}

std::string TokenSource::CensoredOf(std::string text) const {
  for (const std::string& secret :
       {options_.credential, ClientOf(options_.credential).secret, options_.token,
        token_}) {
    Erase(secret, text);
    Erase(EncodeUriPart(secret), text);
  }
  return text;
}

bool TokenSource::IsDue() const {
  return token_.empty() || (renewal_ && runtime_.SinceBoot() >= *renewal_);
}

Status TokenSource::Fetch() {
  const Call call = {.kind = CallKind::kRead,
                     .method = "POST",
                     .path = http::UrlForMessage(options_.server_uri)};
  const BootTime asked = runtime_.SinceBoot();
  FIRN_ASSIGN_OR_RETURN(const http::Response response, Ask());
  // The form may be among the server's words.
  const Status outcome = OutcomeOf(call, response.status, CensoredOf(response.body));
  if (!outcome.ok()) return WithoutKindOfTable(outcome);
  Result<OAuthToken> answer = ParseOAuthToken(response.body);
  if (!answer.ok()) return WithoutKindOfTable(BrokenAnswer(call, answer.status()));
  token_ = answer->access_token;
  renewal_ = expiry_ = std::nullopt;
  if (answer->expires_in_seconds) {
    const Duration lifetime = std::chrono::seconds(
        std::clamp<std::int64_t>(*answer->expires_in_seconds, 0, kLifetimeSecondsMax));
    expiry_ = asked + lifetime;
    renewal_ = *expiry_ - std::min(lifetime / kTokenRenewalDivisor, kTokenRenewalMax);
  }
  return Status::OK();
}

Result<http::Response> TokenSource::Ask() {
  Result<http::Response> response = client_.Send(
      {.method = "POST",
       .url = options_.server_uri,
       .headers = {{.name = "Content-Type", .value = "application/x-www-form-urlencoded"},
                   {.name = "Accept", .value = "application/json"}},
       .timeout = options_.timeout},
      FormOf(options_));
  // A token that was given and lost does no harm.
  if (!IsError(response.status(), ErrorKind::kOutcomeUnknown)) return response;
  return MakeError(ErrorKind::kUnavailable, ErrorText(response.status()));
}

}  // namespace firn::iceberg::rest
