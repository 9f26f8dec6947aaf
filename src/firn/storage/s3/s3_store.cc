#include "firn/storage/s3/s3_store.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "firn/core/whole_number.h"
#include "firn/storage/request_checks.h"
#include "firn/storage/s3/multipart_upload.h"
#include "firn/storage/s3/s3_messages.h"

namespace firn::storage::s3 {
namespace {

constexpr const char* kMarkHeader = "x-amz-meta-firn-put";
/// The largest object that is read whole.
constexpr std::int64_t kWholeBytesMax = 2LL << 30;

/// Headers of the request that makes an object.
std::vector<http::Header> Conditions(PutMode mode) {
  if (mode == PutMode::kOverwrite) return {};
  return {{.name = "If-None-Match", .value = "*"}};
}

/// Bucket, and key in the bucket.
std::pair<std::string, std::string> SplitPath(std::string_view path) {
  const std::size_t bucket_end = std::min(path.find('/'), path.size());
  const std::size_t key_start = std::min(bucket_end + 1, path.size());
  return {std::string(path.substr(0, bucket_end)), std::string(path.substr(key_start))};
}

/// "bytes 0-9/10": where an answer's bytes stand, and in how many.
struct ContentRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

std::optional<ContentRange> ParseContentRange(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash)
    return std::nullopt;
  const auto first = ParseWholeNumber<std::int64_t>(text.substr(0, dash));
  const auto last =
      ParseWholeNumber<std::int64_t>(text.substr(dash + 1, slash - dash - 1));
  if (!first || !last) return std::nullopt;
  return ContentRange{.first = *first, .last = *last};
}

}  // namespace

Result<std::unique_ptr<S3Store>> S3Store::Make(Runtime& runtime, http::HttpClient& http,
                                               CredentialsProvider& credentials,
                                               S3StoreOptions options) {
  if (!options.root.empty()) FIRN_RETURN_NOT_OK(ValidateKey(options.root));
  FIRN_ASSIGN_OR_RETURN(S3Client client,
                        S3Client::Make(runtime, http, credentials, options.client));
  return std::unique_ptr<S3Store>(
      new S3Store(runtime, std::move(client), std::move(options)));
}

std::string S3Store::Path(std::string_view key) const {
  if (options_.root.empty()) return std::string(key);
  return fmt::format("{}/{}", options_.root, key);
}

Status S3Store::CheckKey(std::string_view key) const {
  FIRN_RETURN_NOT_OK(ValidateKey(key));
  if (!SplitPath(Path(key)).second.empty()) return Status::OK();
  return InvalidError("object key '{}' names a bucket and nothing in it", key);
}

S3Request S3Store::NewRequest(std::string method, std::string_view key) const {
  auto [bucket, in_bucket] = SplitPath(Path(key));
  return {.method = std::move(method),
          .bucket = std::move(bucket),
          .key = std::move(in_bucket)};
}

Status S3Store::FailureOfAnswer(const S3Request& request, const S3Answer& answer) const {
  if (answer.response.status < 300) return Status::OK();
  const Status failure =
      FailureOf({request.method, request.bucket, request.key}, answer.response);
  return answer.repeated ? OfUnknownOutcome(failure) : failure;
}

std::string S3Store::Location(std::string_view key) const {
  return "s3://" + (key.empty() ? options_.root : Path(key));
}

std::string S3Store::NewMark() const {
  return fmt::format("{:016x}{:016x}", runtime_.Random64(), runtime_.Random64());
}

Status S3Store::PutWhole(std::string_view key, std::string_view bytes, PutMode mode) {
  FIRN_RETURN_NOT_OK(CheckKey(key));
  const std::string mark = NewMark();
  FIRN_ASSIGN_OR_RETURN(const S3Answer answer, PutOnce(key, bytes, mode, mark));
  return OutcomeOfPut(key, mode, mark, answer);
}

Status S3Store::OutcomeOfPut(std::string_view key, PutMode mode, const std::string& mark,
                             const S3Answer& answer) {
  const int status = answer.response.status;
  // The condition does not hold; or, of an upload in parts, it is complete already.
  if (answer.repeated && (status == 412 || status == 404)) return WhosePutWon(key, mark);
  if (mode == PutMode::kIfAbsent && status == 412) {
    return Error(ErrorKind::kAlreadyExists, "object {} is there already", Location(key));
  }
  return FailureOfAnswer(NewRequest("PUT", key), answer);
}

ObjectInParts S3Store::InParts(std::string_view key, PutMode mode,
                               const std::string& mark) const {
  S3Request request = NewRequest("PUT", key);
  return {.bucket = std::move(request.bucket),
          .key = std::move(request.key),
          .headers = {{.name = kMarkHeader, .value = mark}},
          .completion_headers = Conditions(mode)};
}

Result<S3Answer> S3Store::PutOnce(std::string_view key, std::string_view bytes,
                                  PutMode mode, const std::string& mark) {
  if (static_cast<std::int64_t>(bytes.size()) <= options_.single_put_bytes_max) {
    S3Request request = NewRequest("PUT", key);
    request.headers = Conditions(mode);
    request.headers.push_back({.name = kMarkHeader, .value = mark});
    return client_.Send(request, bytes);
  }
  MultipartUpload upload(client_, InParts(key, mode, mark));
  const auto part_bytes = static_cast<std::size_t>(options_.part_bytes);
  for (std::size_t from = 0; from < bytes.size(); from += part_bytes) {
    FIRN_RETURN_NOT_OK(upload.Put(bytes.substr(from, part_bytes)));
  }
  return upload.Complete();
}

/// Of a put whose earlier attempt may have been carried out: was it that one?
Status S3Store::WhosePutWon(std::string_view key, const std::string& mark) {
  const S3Request request = NewRequest("HEAD", key);
  FIRN_ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
  const auto found = http::FindHeader(answer.response.headers, kMarkHeader);
  if (found == mark) return Status::OK();
  if (answer.response.status < 300 && found.has_value()) {
    return Error(ErrorKind::kAlreadyExists, "object {} is there already", Location(key));
  }
  return Error(ErrorKind::kOutcomeUnknown,
               "PUT {}: an attempt got no answer, and what is there now does not say who "
               "put it",
               Location(key));
}

Result<std::int64_t> S3Store::SizeOf(std::string_view key) {
  const S3Request request = NewRequest("HEAD", key);
  FIRN_ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
  FIRN_RETURN_NOT_OK(FailureOfAnswer(request, answer));
  const auto length = http::FindHeader(answer.response.headers, "Content-Length");
  const auto size_bytes = ParseWholeNumber<std::int64_t>(length.value_or(""));
  if (size_bytes) return *size_bytes;
  return Error(ErrorKind::kCorruption, "HEAD {}: an answer without length",
               Location(key));
}

Result<std::string> S3Store::GetRange(std::string_view key, std::int64_t offset,
                                      std::int64_t length) {
  FIRN_RETURN_NOT_OK(CheckKey(key));
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  FIRN_RETURN_NOT_OK(ValidateRange(key, offset, length, kMax));
  // No range is empty in HTTP.
  if (length == 0) {
    FIRN_ASSIGN_OR_RETURN(const std::int64_t size_bytes, SizeOf(key));
    FIRN_RETURN_NOT_OK(ValidateRange(key, offset, length, size_bytes));
    return std::string();
  }
  const std::int64_t last = offset + length - 1;
  S3Request request = NewRequest("GET", key);
  request.response_bytes_max = std::min(length, kWholeBytesMax);
  request.expected_bytes = request.response_bytes_max;
  request.headers.push_back(
      {.name = "Range", .value = fmt::format("bytes={}-{}", offset, last)});
  FIRN_ASSIGN_OR_RETURN(S3Answer answer, client_.Send(request));
  http::Response& response = answer.response;
  if (response.status == 416) {
    return Error(ErrorKind::kCorruption,
                 "object '{}' ends too early: {} bytes wanted at {}", key, length,
                 offset);
  }
  FIRN_RETURN_NOT_OK(FailureOfAnswer(request, answer));

  const auto header = http::FindHeader(response.headers, "Content-Range");
  const auto range = ParseContentRange(header.value_or(""));
  const auto got_bytes = static_cast<std::int64_t>(response.body.size());
  const bool is_range = response.status == 206 && range && range->first == offset &&
                        range->last - range->first + 1 == got_bytes &&
                        range->last <= last;
  if (!is_range) {
    return Error(ErrorKind::kUnavailable,
                 "GET {}: asked for bytes {}-{}, the server sent {} ({}, status {})",
                 Location(key), offset, last, got_bytes, header.value_or("no range"),
                 response.status);
  }
  FIRN_RETURN_NOT_OK(ValidateRange(key, offset, length, offset + got_bytes));
  return std::move(response.body);
}

Result<std::string> S3Store::GetWhole(std::string_view key) {
  FIRN_RETURN_NOT_OK(CheckKey(key));
  S3Request request = NewRequest("GET", key);
  request.response_bytes_max = kWholeBytesMax;
  // Its size is not known; a server that is silent is given up all the same.
  request.expected_bytes = kWholeBytesMax;
  FIRN_ASSIGN_OR_RETURN(S3Answer answer, client_.Send(request));
  FIRN_RETURN_NOT_OK(FailureOfAnswer(request, answer));
  return std::move(answer.response.body);
}

Status S3Store::ListPageInto(std::string_view prefix, std::string& token,
                             std::vector<ObjectInfo>& listed) {
  S3Request request = NewRequest("GET", prefix);
  const std::string wanted = std::exchange(request.key, "");
  request.query = {{"list-type", "2"}, {"encoding-type", "url"}, {"prefix", wanted}};
  if (!token.empty()) request.query.emplace_back("continuation-token", token);
  FIRN_ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
  FIRN_RETURN_NOT_OK(FailureOfAnswer(request, answer));
  auto page = ParseListPage(answer.response.body);
  FIRN_RETURN_NOT_OK(
      AddContext(page.status(), fmt::format("listing {}", Location(prefix))));
  // Or the list would never end.
  if (!page->next_token.empty() && page->next_token == token) {
    return Error(ErrorKind::kCorruption, "listing {}: the server gives one page twice",
                 Location(prefix));
  }
  token = std::move(page->next_token);
  const std::size_t root_bytes = Path("").size();
  for (ObjectInfo& object : page->objects) {
    if (!object.key.starts_with(wanted)) {
      return Error(ErrorKind::kCorruption, "listing {}: the server lists {:?}",
                   Location(prefix), object.key);
    }
    object.key = fmt::format("{}/{}", request.bucket, object.key).substr(root_bytes);
    if (ValidateKey(object.key).ok()) listed.push_back(std::move(object));
  }
  return Status::OK();
}

Result<std::vector<ObjectInfo>> S3Store::List(std::string_view prefix) {
  FIRN_RETURN_NOT_OK(ValidatePrefix(prefix));
  if (options_.root.empty() && prefix.find('/') == std::string_view::npos) {
    return InvalidError("cannot list all buckets: name one, and a slash");
  }
  std::vector<ObjectInfo> listed;
  std::string token;
  do {
    FIRN_RETURN_NOT_OK(ListPageInto(prefix, token, listed));
  } while (!token.empty());
  // Not every server lists in order of bytes.
  std::ranges::sort(listed, {}, &ObjectInfo::key);
  return listed;
}

Status S3Store::Delete(std::string_view key) {
  FIRN_RETURN_NOT_OK(CheckKey(key));
  const S3Request request = NewRequest("DELETE", key);
  FIRN_ASSIGN_OR_RETURN(const S3Answer answer, client_.Send(request));
  const Subject subject{request.method, request.bucket, request.key};
  const bool is_gone = answer.response.status == 404 &&
                       IsError(FailureOf(subject, answer.response), ErrorKind::kNotFound);
  return is_gone ? Status::OK() : FailureOfAnswer(request, answer);
}

}  // namespace firn::storage::s3
