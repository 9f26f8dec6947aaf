#include "firn/storage/upload_buffer.h"

#include "firn/storage/location.h"
#include "firn/storage/s3/s3_store.h"

namespace firn::storage {

std::int64_t UploadBufferBytes(std::string_view location) {
  const auto parsed = ParseLocation(location);
  const bool is_in_s3 = parsed.ok() && parsed->scheme.starts_with("s3");
  return is_in_s3 ? s3::S3StoreOptions().part_bytes : 0;
}

}  // namespace firn::storage
