#include "firn/storage/s3/multipart_upload.h"

#include "firn/storage/s3/s3_messages.h"

namespace firn::storage::s3 {
namespace {

class Upload {
 public:
  Upload(S3Client& client, const MultipartUpload& upload)
      : client_(client), upload_(upload) {}

  Status Start() {
    S3Request request = NewRequest("POST", {{"uploads", ""}});
    request.headers = upload_.headers;
    FIRN_ASSIGN_OR_RETURN(const http::Response response, Succeed(request, {}));
    return ParseUploadId(response.body).Value(&id_);
  }

  Status PutParts(std::string_view bytes) {
    const auto part_bytes = static_cast<std::size_t>(upload_.part_bytes);
    for (std::size_t from = 0; from < bytes.size(); from += part_bytes) {
      const std::string number = std::to_string(etags_.size() + 1);
      const S3Request request =
          NewRequest("PUT", {{"partNumber", number}, {"uploadId", id_}});
      FIRN_ASSIGN_OR_RETURN(const http::Response response,
                            Succeed(request, bytes.substr(from, part_bytes)));
      const auto etag = http::FindHeader(response.headers, "ETag");
      if (!etag.has_value()) {
        return Error(ErrorKind::kCorruption,
                     "PUT s3://{}/{}, part {}: an answer without ETag", upload_.bucket,
                     upload_.key, number);
      }
      etags_.emplace_back(*etag);
    }
    return Status::OK();
  }

  Result<S3Answer> Complete() {
    S3Request request = NewRequest("POST", {{"uploadId", id_}});
    request.headers = upload_.completion_headers;
    request.headers.push_back({.name = "Content-Type", .value = "application/xml"});
    request.may_fail_late = true;
    return client_.Send(request, CompletionText(etags_));
  }

  /// What is not aborted is left to the bucket's lifecycle rules.
  void Abort() { (void)client_.Send(NewRequest("DELETE", {{"uploadId", id_}})); }

 private:
  S3Request NewRequest(std::string method, Query query) const {
    return {.method = std::move(method),
            .bucket = upload_.bucket,
            .key = upload_.key,
            .query = std::move(query)};
  }

  Result<http::Response> Succeed(const S3Request& request, std::string_view body) {
    auto answer = client_.Send(request, body);
    // A part or an upload without an end is no object.
    if (IsError(answer.status(), ErrorKind::kOutcomeUnknown)) {
      return MakeError(ErrorKind::kUnavailable, ErrorText(answer.status()));
    }
    FIRN_RETURN_NOT_OK(answer.status());
    if (answer->response.status < 300) return std::move(answer->response);
    return FailureOf({request.method, request.bucket, request.key}, answer->response);
  }

  S3Client& client_;
  const MultipartUpload& upload_;
  std::string id_;
  std::vector<std::string> etags_;
};

}  // namespace

Result<S3Answer> UploadInParts(S3Client& client, const MultipartUpload& upload,
                               std::string_view bytes) {
  Upload running(client, upload);
  FIRN_RETURN_NOT_OK(running.Start());
  const Status put = running.PutParts(bytes);
  if (!put.ok()) {
    running.Abort();
    return put;
  }
  auto answer = running.Complete();
  if (!answer.ok() || answer->response.status >= 300) running.Abort();
  return answer;
}

}  // namespace firn::storage::s3
