#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/storage/object_store.h"
#include "firn/storage/s3/credentials.h"

/// The XML that S3 answers with, read strictly: Corruption, with what was expected, if a
/// text is no XML, has another root element, lacks what must be there, or holds a number
/// or time that is none. Elements that are not named here are passed over.
namespace firn::storage::s3 {

/// <Error>, or <ErrorResponse> of AWS's token service: why a request failed.
struct ErrorMessage {
  /// "NoSuchKey"
  std::string code;
  std::string message;
  /// May be empty, as the message.
  std::string request_id;
};
Result<ErrorMessage> ParseError(std::string_view xml);

/// <ListBucketResult> of ListObjectsV2, asked for with encoding-type=url; keys decoded.
struct ListPage {
  std::vector<ObjectInfo> objects;
  /// Empty on the last page.
  std::string next_token;
};
Result<ListPage> ParseListPage(std::string_view xml);

/// <InitiateMultipartUploadResult>: the upload's id.
Result<std::string> ParseUploadId(std::string_view xml);

/// Whether an answer to CompleteMultipartUpload says that the object is there: an <Error>
/// may come with status 200, where the server began to answer before it knew the end.
bool SaysComplete(std::string_view xml);

/// <CompleteMultipartUpload>; the parts are numbered from 1 on.
std::string CompletionText(const std::vector<std::string>& etags);

/// <AssumeRoleWithWebIdentityResponse> of AWS's token service.
Result<Credentials> ParseAssumedRole(std::string_view xml);

}  // namespace firn::storage::s3
