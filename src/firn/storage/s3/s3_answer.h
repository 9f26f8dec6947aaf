#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/http/http_client.h"

namespace firn::storage::s3 {

/// What a request was about, for messages.
struct Subject {
  std::string method;
  std::string bucket;
  /// Empty for the bucket itself.
  std::string key;
};

/// What a client does with an answer.
enum class Verdict {
  /// A success, or a failure that a further attempt would meet again.
  kFinal,
  /// The server did not carry the request out, and says: not now.
  kThrottled,
  /// The server failed; it may have carried the request out.
  kServerFailed,
  /// The credentials were good once.
  kExpiredCredentials,
};
Verdict Judge(const http::Response& response);

/// Why a request with a status of 300 or above failed, with the server's words and the
/// request's id, which S3's operators ask for. NotFound: no such object (no such bucket
/// is an error without a kind). Unavailable: throttled or failed. Corruption: a range
/// behind the end. No kind for all else.
Status FailureOf(const Subject& subject, const http::Response& response);

/// The server's own words, on one line: "AccessDenied: Access Denied (request 4A5B)".
std::string WordsOf(const http::Response& response);

}  // namespace firn::storage::s3
