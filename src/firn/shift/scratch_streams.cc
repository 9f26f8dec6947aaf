#include "firn/shift/scratch_streams.h"

#include <arrow/buffer.h>

namespace firn::shift {

Result<std::shared_ptr<arrow::Buffer>> ScratchReads::ReadAt(std::int64_t position,
                                                            std::int64_t nbytes) {
  FIRN_ASSIGN_OR_RETURN(auto bytes, arrow::AllocateResizableBuffer(nbytes));
  FIRN_ASSIGN_OR_RETURN(const std::int64_t count,
                        file_->ReadAt(position, nbytes, bytes->mutable_data()));
  FIRN_RETURN_NOT_OK(bytes->Resize(count));
  return bytes;
}

Status ScratchSink::Write(const void* data, std::int64_t nbytes) {
  return file_->Append(
      {static_cast<const char*>(data), static_cast<std::size_t>(nbytes)});
}

}  // namespace firn::shift
