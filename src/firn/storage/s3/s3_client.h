#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/backoff.h"
#include "firn/core/runtime.h"
#include "firn/http/http_client.h"
#include "firn/storage/s3/credentials.h"
#include "firn/storage/s3/s3_answer.h"
#include "firn/storage/s3/uri.h"

namespace firn::storage::s3 {

struct S3Endpoint {
  /// "https://host:port", perhaps with a path. Empty: AWS's for the region.
  std::string url;
  std::string region = "us-east-1";
  enum class Addressing {
    /// "host/bucket/key"
    kPath,
    /// "bucket.host/key"
    kVirtualHost,
  };
  Addressing addressing = Addressing::kVirtualHost;
};

struct S3ClientOptions {
  S3Endpoint endpoint;
  /// For a request without a body; a body adds a second per MiB.
  Duration request_timeout = std::chrono::seconds(30);
  int attempts_max = 6;
  Backoff backoff = {.first = std::chrono::milliseconds(100),
                     .max = std::chrono::seconds(10)};
  /// Once it asks, nothing is tried again.
  StopToken stop;
};

struct S3Request {
  std::string method;
  std::string bucket;
  /// From the bucket on; empty for the bucket itself.
  std::string key;
  Query query;
  std::vector<http::Header> headers;
  std::int64_t response_bytes_max = 8 << 20;
  /// About how many bytes will come back: adds to the time-out as a body does.
  std::int64_t expected_bytes = 0;
  /// Of CompleteMultipartUpload: status 200 may be a failure, and is taken for a 500
  /// then.
  bool may_fail_late = false;
  /// Zero: the client's.
  int attempts_max = 0;
};

struct S3Answer {
  http::Response response;
  /// An earlier attempt of the same request may have been carried out.
  bool repeated = false;
};

/// `failure` of a request that changes something, where an earlier attempt of the same
/// may have been carried out: OutcomeUnknown.
Status OfUnknownOutcome(const Status& failure);

/// Signs requests, sends them, and tries again what may succeed. Thread-safe.
class S3Client {
 public:
  /// All must outlive the client. Invalid if the endpoint is no URL.
  static Result<S3Client> Make(Runtime& runtime, http::HttpClient& http,
                               CredentialsProvider& credentials, S3ClientOptions options);

  /// The first answer that is final, whatever its status: the same bytes are sent, at
  /// most `attempts_max` times, after time-outs, lost connections, throttling, and
  /// failures of the server. Unavailable if all attempts failed so, Cancelled if some
  /// were not made because of a stop; OutcomeUnknown for any failure behind an attempt
  /// that may have been carried out and changes something.
  Result<S3Answer> Send(const S3Request& request, std::string_view body = {});

 private:
  S3Client(Runtime& runtime, http::HttpClient& http, CredentialsProvider& credentials,
           S3ClientOptions options)
      : runtime_(&runtime),
        http_(&http),
        credentials_(&credentials),
        options_(std::move(options)) {}

  struct Attempt {
    Result<http::Response> response = Status::UnknownError("not sent");
    Verdict verdict = Verdict::kFinal;
  };
  Attempt Try(const S3Request& request, std::string_view body);
  Result<http::Response> SendOnce(const S3Request& request, std::string_view body,
                                  const Credentials& credentials);

  Runtime* runtime_;
  http::HttpClient* http_;
  CredentialsProvider* credentials_;
  S3ClientOptions options_;
  /// Of `options_.endpoint.url`: "https", "host:port", "/path" or nothing.
  std::string scheme_;
  std::string authority_;
  std::string base_path_;
};

}  // namespace firn::storage::s3
