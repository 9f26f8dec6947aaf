#include <utility>

#include "firn/storage/s3/multipart_upload.h"
#include "firn/storage/s3/s3_store.h"

namespace firn::storage::s3 {

/// Holds one part: a smaller object is put whole, a larger one as it comes.
class S3Store::Writer final : public ObjectWriter {
 public:
  Writer(S3Store& store, std::string_view key, PutMode mode)
      : store_(store), key_(key), mode_(mode), mark_(store.NewMark()) {}

  Status Append(std::string_view bytes) override {
    const auto part_bytes = static_cast<std::size_t>(store_.options_.part_bytes);
    while (!bytes.empty()) {
      if (held_.size() == part_bytes) FIRN_RETURN_NOT_OK(PutHeld());
      const std::string_view taken = bytes.substr(0, part_bytes - held_.size());
      held_.append(taken);
      bytes.remove_prefix(taken.size());
    }
    return Status::OK();
  }

  Status Finish() override {
    if (!upload_) return store_.PutWhole(key_, held_, mode_);
    FIRN_RETURN_NOT_OK(PutHeld());
    const Result<S3Answer> answer = upload_->Complete();
    upload_.reset();
    FIRN_RETURN_NOT_OK(answer.status());
    return store_.OutcomeOfPut(key_, mode_, mark_, *answer);
  }

 private:
  Status PutHeld() {
    if (!upload_) {
      upload_.emplace(store_.client_, store_.InParts(key_, mode_, mark_));
    }
    FIRN_RETURN_NOT_OK(upload_->Put(held_));
    held_.clear();
    return Status::OK();
  }

  S3Store& store_;
  const std::string key_;
  const PutMode mode_;
  const std::string mark_;
  std::string held_;
  std::optional<MultipartUpload> upload_;
};

Result<std::unique_ptr<ObjectWriter>> S3Store::PutInPieces(std::string_view key,
                                                           PutMode mode) {
  FIRN_RETURN_NOT_OK(CheckKey(key));
  return std::make_unique<Writer>(*this, key, mode);
}

}  // namespace firn::storage::s3
