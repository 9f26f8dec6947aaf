#include "firn/storage/s3/s3_answer.h"

#include <algorithm>
#include <array>

#include "firn/storage/s3/s3_messages.h"

namespace firn::storage::s3 {
namespace {

/// Of a foreign server's words, so much is shown.
constexpr std::size_t kShownBytesMax = 300;

/// One line, for a terminal.
std::string Shown(std::string_view text) {
  std::string shown(text.substr(0, kShownBytesMax));
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      ' ');
  return shown;
}

/// Empty code if the answer does not say.
ErrorMessage ErrorOf(const http::Response& response) {
  ErrorMessage error = ParseError(response.body).ValueOr(ErrorMessage{});
  if (error.request_id.empty()) {
    error.request_id =
        http::FindHeader(response.headers, "x-amz-request-id").value_or("");
  }
  return error;
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::ranges::find(texts, text) != texts.end();
}

/// "; the bucket is in region eu-west-1: set s3.region", if the server says so.
std::string RegionHint(const http::Response& response) {
  const auto region = http::FindHeader(response.headers, "x-amz-bucket-region");
  const bool is_about_region =
      response.status == 301 || response.status == 307 || response.status == 400;
  if (!is_about_region || !region.has_value()) return {};
  return fmt::format("; the bucket is in region {}: set s3.region", Shown(*region));
}

std::string Words(const http::Response& response, const ErrorMessage& error) {
  std::string words = error.code.empty() ? fmt::format("HTTP status {}", response.status)
                                         : Shown(error.code);
  if (!error.message.empty()) words += ": " + Shown(error.message);
  words += RegionHint(response);
  if (!error.request_id.empty()) {
    words += fmt::format(" (request {})", Shown(error.request_id));
  }
  return words;
}

}  // namespace

std::string WordsOf(const http::Response& response) {
  return Words(response, ErrorOf(response));
}

Verdict Judge(const http::Response& response) {
  const int status = response.status;
  if (status < 300) return Verdict::kFinal;
  if (status == 429) return Verdict::kThrottled;
  const std::string code = ErrorOf(response).code;
  if (IsOneOf(code, {"ExpiredToken", "TokenRefreshRequired"})) {
    return Verdict::kExpiredCredentials;
  }
  // Two conditional requests for one name at once; or the body came too slowly.
  if (IsOneOf(code,
              {"SlowDown", "ServiceUnavailable", "Throttling", "RequestLimitExceeded",
               "ConditionalRequestConflict", "RequestTimeout"})) {
    return Verdict::kThrottled;
  }
  // A proxy in front of the server answers 503 for a server that it gave up on.
  if (status >= 500 && status != 501) return Verdict::kServerFailed;
  return Verdict::kFinal;
}

Status FailureOf(const Subject& subject, const http::Response& response) {
  const ErrorMessage error = ErrorOf(response);
  const std::string where =
      fmt::format("{} s3://{}/{}", subject.method, subject.bucket, subject.key);
  const bool has_no_body = subject.method == "HEAD";
  if (error.code == "NoSuchKey" || (has_no_body && response.status == 404)) {
    return Error(ErrorKind::kNotFound, "there is no object s3://{}/{}", subject.bucket,
                 subject.key);
  }
  if (error.code == "NoSuchBucket") {
    return Status::IOError(
        fmt::format("{}: there is no bucket {:?}; make it, or mend the "
                    "location or the endpoint",
                    where, subject.bucket));
  }
  const std::string text = fmt::format("{}: {}", where, Words(response, error));
  if (response.status == 416) return MakeError(ErrorKind::kCorruption, text);
  if (Judge(response) != Verdict::kFinal) return MakeError(ErrorKind::kUnavailable, text);
  return Status::IOError(text);
}

}  // namespace firn::storage::s3
