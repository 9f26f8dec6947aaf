#include "firn/storage/s3/multipart_upload.h"

#include "firn/storage/s3/s3_messages.h"

namespace firn::storage::s3 {
namespace {

/// Whoever waits for it was told of a failure, or to stop.
constexpr int kAbortAttemptsMax = 2;

}  // namespace

MultipartUpload::~MultipartUpload() {
  if (id_.empty()) return;
  S3Request request = NewRequest("DELETE", {{"uploadId", id_}});
  request.attempts_max = kAbortAttemptsMax;
  // What is not aborted is left to the bucket's lifecycle rules.
  (void)client_.Send(request);
}

Status MultipartUpload::Start() {
  S3Request request = NewRequest("POST", {{"uploads", ""}});
  request.headers = object_.headers;
  FIRN_ASSIGN_OR_RETURN(const http::Response response, Succeed(request, {}));
  return ParseUploadId(response.body).Value(&id_);
}

Status MultipartUpload::Put(std::string_view part) {
  if (id_.empty()) FIRN_RETURN_NOT_OK(Start());
  const std::string number = std::to_string(etags_.size() + 1);
  const S3Request request =
      NewRequest("PUT", {{"partNumber", number}, {"uploadId", id_}});
  FIRN_ASSIGN_OR_RETURN(const http::Response response, Succeed(request, part));
  const auto etag = http::FindHeader(response.headers, "ETag");
  if (!etag.has_value()) {
    return Error(ErrorKind::kCorruption,
                 "PUT s3://{}/{}, part {}: an answer without ETag", object_.bucket,
                 object_.key, number);
  }
  etags_.emplace_back(*etag);
  return Status::OK();
}

Result<S3Answer> MultipartUpload::Complete() {
  S3Request request = NewRequest("POST", {{"uploadId", id_}});
  request.headers = object_.completion_headers;
  request.headers.push_back({.name = "Content-Type", .value = "application/xml"});
  request.may_fail_late = true;
  auto answer = client_.Send(request, CompletionText(etags_));
  if (answer.ok() && answer->response.status < 300) id_.clear();
  return answer;
}

S3Request MultipartUpload::NewRequest(std::string method, Query query) const {
  return {.method = std::move(method),
          .bucket = object_.bucket,
          .key = object_.key,
          .query = std::move(query)};
}

Result<http::Response> MultipartUpload::Succeed(const S3Request& request,
                                                std::string_view body) {
  auto answer = client_.Send(request, body);
  // A part or an upload without an end is no object.
  if (IsError(answer.status(), ErrorKind::kOutcomeUnknown)) {
    return MakeError(ErrorKind::kUnavailable, ErrorText(answer.status()));
  }
  FIRN_RETURN_NOT_OK(answer.status());
  if (answer->response.status < 300) return std::move(answer->response);
  return FailureOf({request.method, request.bucket, request.key}, answer->response);
}

}  // namespace firn::storage::s3
