#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/storage/s3/s3_client.h"

namespace firn::storage::s3 {

/// An object that is put in parts, and is there only once it is whole.
struct MultipartUpload {
  std::string bucket;
  std::string key;
  /// Of the object.
  std::vector<http::Header> headers;
  /// Of the last step: conditions.
  std::vector<http::Header> completion_headers;
  std::int64_t part_bytes = 16 << 20;
};

/// The answer to the last step, a final one; if it is no success, or anything before
/// failed, the upload is aborted, so that no part is kept (and paid for). Errors as
/// S3Client's; those of a step before the last are Unavailable at worst: there is no
/// object then.
Result<S3Answer> UploadInParts(S3Client& client, const MultipartUpload& upload,
                               std::string_view bytes);

}  // namespace firn::storage::s3
