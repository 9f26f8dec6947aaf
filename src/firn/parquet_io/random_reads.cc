#include "firn/parquet_io/random_reads.h"

#include <cstring>

#include <arrow/buffer.h>

namespace firn::parquet_io {
namespace {

Status NoSequentialReads() {
  return Status::NotImplemented("sequential reads of a file for random reads");
}

}  // namespace

Result<std::int64_t> RandomReads::ReadAt(std::int64_t position, std::int64_t nbytes,
                                         void* out) {
  FIRN_ASSIGN_OR_RETURN(const auto bytes, ReadAt(position, nbytes));
  std::memcpy(out, bytes->data(), static_cast<std::size_t>(bytes->size()));
  return bytes->size();
}

Result<std::int64_t> RandomReads::Read(std::int64_t, void*) {
  return NoSequentialReads();
}

Result<std::shared_ptr<arrow::Buffer>> RandomReads::Read(std::int64_t) {
  return NoSequentialReads();
}

Status RandomReads::Seek(std::int64_t) { return NoSequentialReads(); }

Result<std::int64_t> RandomReads::Tell() const { return NoSequentialReads(); }

}  // namespace firn::parquet_io
