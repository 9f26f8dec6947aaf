#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/storage/s3/s3_client.h"

namespace firn::storage::s3 {

/// An object that is put in parts, and is there only once it is whole.
struct ObjectInParts {
  std::string bucket;
  std::string key;
  /// Of the object.
  std::vector<http::Header> headers;
  /// Of the last step: conditions.
  std::vector<http::Header> completion_headers;
};

/// One upload in parts. Its destructor aborts it unless it is complete, so that no part
/// is kept (and paid for). Errors as S3Client's; those of steps before the last are
/// Unavailable at worst: there is no object then. Not thread-safe.
class MultipartUpload {
 public:
  /// `client` must outlive it. Sends nothing yet.
  MultipartUpload(S3Client& client, ObjectInParts object)
      : client_(client), object_(std::move(object)) {}
  MultipartUpload(const MultipartUpload&) = delete;
  MultipartUpload& operator=(const MultipartUpload&) = delete;
  ~MultipartUpload();

  /// The next part. Each but the last has 5 MiB at least (S3 wants that).
  Status Put(std::string_view part);

  /// The answer to the last step, a final one.
  Result<S3Answer> Complete();

 private:
  Status Start();
  S3Request NewRequest(std::string method, Query query) const;
  Result<http::Response> Succeed(const S3Request& request, std::string_view body);

  S3Client& client_;
  const ObjectInParts object_;
  /// Empty before it is started, and once there is nothing to abort.
  std::string id_;
  std::vector<std::string> etags_;
};

}  // namespace firn::storage::s3
