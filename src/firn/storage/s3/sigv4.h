#pragma once

#include <string>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/http/http_client.h"
#include "firn/storage/s3/credentials.h"
#include "firn/storage/s3/uri.h"

namespace firn::storage::s3 {

/// What a signature covers.
struct RequestToSign {
  std::string method;
  /// Absolute, encoded as it is sent.
  std::string path;
  Query query;
  /// All that are sent and are to be protected; Host must be among them.
  std::vector<http::Header> headers;
  /// In hexadecimal digits.
  std::string payload_sha256;
};

/// Where and when a signature is good.
struct SigningScope {
  WallTime time;
  std::string region;
  std::string service;
};

/// The headers to add: X-Amz-Date, X-Amz-Security-Token for credentials with a session
/// token, and Authorization, whose signature covers those two as well. AWS Signature
/// Version 4; the path is encoded once, as S3 wants it. Pure.
std::vector<http::Header> Sign(const RequestToSign& request, const SigningScope& scope,
                               const Credentials& credentials);

}  // namespace firn::storage::s3
