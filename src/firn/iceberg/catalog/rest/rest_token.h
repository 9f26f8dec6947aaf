#pragma once

#include <map>
#include <optional>
#include <string>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/http/http_client.h"

namespace firn::iceberg::rest {

struct TokenOptions {
  /// A token that is used as it is, until the server refuses it.
  std::string token;
  /// "<client id>:<secret>", or a secret alone.
  std::string credential;
  /// Absolute URL that gives tokens for credentials.
  std::string server_uri;
  /// Sent with the credential: scope, audience, resource.
  std::map<std::string, std::string> parameters;
  Duration timeout = std::chrono::seconds(30);

  bool operator==(const TokenOptions&) const = default;
};

/// A token that has this share of its life left, or kTokenRenewalMax, is renewed.
inline constexpr int kTokenRenewalDivisor = 10;
inline constexpr Duration kTokenRenewalMax = std::chrono::minutes(1);

/// The bearer token of a catalog's requests, by OAuth2 client credentials (RFC 6749,
/// section 4.4) if there is a credential.
///
/// Thread-safe; one thread asks the server, the others wait for what it gets.
class TokenSource {
 public:
  /// The references must outlive it.
  TokenSource(TokenOptions options, http::HttpClient& client, Runtime& runtime);

  /// Empty if requests need none. Asks the server if there is no token yet, or the one
  /// there is about to expire; one that is still good is given if the server is not
  /// there. Errors: Unavailable; without a kind if the server refuses the credential.
  Result<std::string> Token();

  /// The catalog refused `token`: true if Token() will now give another one.
  bool Discard(const std::string& token);

  /// `text` without the secrets that a server may have repeated in it.
  std::string WithoutSecrets(std::string text);

 private:
  // REQUIRES, for all: mutex_ is held.
  bool IsDue() const;
  std::string CensoredOf(std::string text) const;
  Status Fetch();
  Result<http::Response> Ask();

  const TokenOptions options_;
  http::HttpClient& client_;
  Runtime& runtime_;

  Mutex mutex_;
  // All guarded by mutex_.
  std::string token_;
  std::optional<BootTime> renewal_;
  std::optional<BootTime> expiry_;
};

}  // namespace firn::iceberg::rest
