#pragma once

#include <cstdint>
#include <string_view>

namespace firn::storage {

/// The most bytes that a writer of ObjectStore::PutInPieces holds back of an object at
/// `location`: in S3 a part of its upload, elsewhere nothing that counts.
std::int64_t UploadBufferBytes(std::string_view location);

}  // namespace firn::storage
