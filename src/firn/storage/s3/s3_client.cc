#include "firn/storage/s3/s3_client.h"

#include <algorithm>
#include <utility>

#include "firn/core/stoppable_sleep.h"
#include "firn/storage/s3/digest.h"
#include "firn/storage/s3/s3_messages.h"
#include "firn/storage/s3/sigv4.h"

namespace firn::storage::s3 {
namespace {

/// XML and headers around what a caller asked for.
constexpr std::int64_t kResponseSlackBytes = 64 << 10;
constexpr std::int64_t kBytesPerSecondMin = 1 << 20;

std::string AwsEndpoint(const std::string& region) {
  const char* domain = region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return fmt::format("https://s3.{}.{}", region, domain);
}

Duration TimeoutOf(std::int64_t bytes, Duration base) {
  return base + std::chrono::seconds(bytes / kBytesPerSecondMin);
}

bool ChangesSomething(const S3Request& request) {
  return request.method != "GET" && request.method != "HEAD";
}

bool IsWorthRepeating(Verdict verdict) {
  return verdict == Verdict::kThrottled || verdict == Verdict::kServerFailed;
}

Subject SubjectOf(const S3Request& request) {
  return {.method = request.method, .bucket = request.bucket, .key = request.key};
}

}  // namespace

Result<S3Client> S3Client::Make(Runtime& runtime, http::HttpClient& http,
                                CredentialsProvider& credentials,
                                S3ClientOptions options) {
  std::string url = options.endpoint.url;
  if (url.empty()) url = AwsEndpoint(options.endpoint.region);
  const std::size_t scheme_end = url.find("://");
  const std::string scheme = url.substr(0, scheme_end);
  const bool is_http = scheme == "http" || scheme == "https";
  const bool is_plain = url.find_first_of("@?#") == std::string_view::npos;
  if (scheme_end == std::string_view::npos || !is_http || !is_plain) {
    return InvalidError(
        "the S3 endpoint {:?} is not of the form https://host:port or http://host:port",
        http::UrlForMessage(url));
  }
  S3Client client(runtime, http, credentials, std::move(options));
  const std::string rest = url.substr(scheme_end + 3);
  const std::size_t path_start = std::min(rest.find('/'), rest.size());
  client.scheme_ = scheme;
  client.authority_ = rest.substr(0, path_start);
  client.base_path_ = rest.substr(path_start);
  while (client.base_path_.ends_with('/')) client.base_path_.pop_back();
  if (client.authority_.empty())
    return InvalidError("the S3 endpoint {:?} has no host", url);
  return client;
}

Result<http::Response> S3Client::SendOnce(const S3Request& request, std::string_view body,
                                          const Credentials& credentials) {
  std::string host = authority_;
  std::string path = base_path_;
  if (options_.endpoint.addressing == S3Endpoint::Addressing::kPath) {
    path += "/" + request.bucket;
  } else {
    host = fmt::format("{}.{}", request.bucket, authority_);
  }
  path += "/" + EncodeUriPath(request.key);

  RequestToSign to_sign{.method = request.method,
                        .path = path,
                        .query = request.query,
                        .headers = request.headers,
                        .payload_sha256 = Sha256Hex(body)};
  to_sign.headers.push_back({.name = "Host", .value = host});
  to_sign.headers.push_back(
      {.name = "X-Amz-Content-Sha256", .value = to_sign.payload_sha256});
  const auto added =
      Sign(to_sign,
           {.time = runtime_->Now(), .region = options_.endpoint.region, .service = "s3"},
           credentials);
  http::Request sent{.method = request.method,
                     .url = fmt::format("{}://{}{}", scheme_, host, path),
                     .headers = std::move(to_sign.headers)};
  if (!request.query.empty()) sent.url += "?" + EncodeQuery(request.query);
  sent.headers.insert(sent.headers.end(), added.begin(), added.end());
  sent.response_bytes_max = request.response_bytes_max + kResponseSlackBytes;
  sent.timeout =
      TimeoutOf(static_cast<std::int64_t>(body.size()) + request.expected_bytes,
                options_.request_timeout);
  return http_->Send(sent, body);
}

S3Client::Attempt S3Client::Try(const S3Request& request, std::string_view body) {
  auto credentials = credentials_->Get();
  if (!credentials.ok()) return {.response = credentials.status()};
  Attempt attempt{.response = SendOnce(request, body, *credentials)};
  if (!attempt.response.ok()) {
    const Status status = attempt.response.status();
    if (IsError(status, ErrorKind::kUnavailable)) attempt.verdict = Verdict::kThrottled;
    if (IsError(status, ErrorKind::kOutcomeUnknown)) {
      attempt.verdict = Verdict::kServerFailed;
    }
    return attempt;
  }
  http::Response& response = *attempt.response;
  const bool failed_late =
      request.may_fail_late && response.status == 200 && !SaysComplete(response.body);
  if (failed_late) response.status = 500;
  attempt.verdict = Judge(response);
  if (attempt.verdict == Verdict::kExpiredCredentials) credentials_->Forget(*credentials);
  return attempt;
}

Result<S3Answer> S3Client::Send(const S3Request& request, std::string_view body) {
  const int attempts_max =
      request.attempts_max > 0 ? request.attempts_max : options_.attempts_max;
  bool may_be_done = false;
  bool stopped = false;
  int expired = 0;
  Attempt attempt;
  for (int number = 1; number <= attempts_max; ++number) {
    if (number > 1) {
      const Duration wait = WaitAfter(number - 1, options_.backoff, *runtime_);
      stopped = !SleepUnlessStopped(*runtime_, wait, options_.stop).ok();
      if (stopped) break;
    }
    attempt = Try(request, body);
    // New ones that are refused as well will not get better.
    if (attempt.verdict == Verdict::kExpiredCredentials && ++expired == 1) continue;
    if (!IsWorthRepeating(attempt.verdict)) break;
    if (attempt.verdict == Verdict::kServerFailed) {
      may_be_done = may_be_done || ChangesSomething(request);
    }
  }
  const bool is_final = !IsWorthRepeating(attempt.verdict);
  if (is_final && attempt.response.ok()) {
    return S3Answer{.response = *std::move(attempt.response), .repeated = may_be_done};
  }
  Status failure = attempt.response.ok()
                       ? FailureOf(SubjectOf(request), *attempt.response)
                       : attempt.response.status();
  if (stopped) {
    failure = Error(ErrorKind::kCancelled, "{}; stopped on request", ErrorText(failure));
  } else if (!is_final) {
    failure = Error(ErrorKind::kUnavailable, "{}; given up after {} attempts",
                    ErrorText(failure), attempts_max);
  }
  return may_be_done ? OfUnknownOutcome(failure) : failure;
}

Status OfUnknownOutcome(const Status& failure) {
  return Error(ErrorKind::kOutcomeUnknown, "{}; an attempt may have been carried out",
               ErrorText(failure));
}

}  // namespace firn::storage::s3
