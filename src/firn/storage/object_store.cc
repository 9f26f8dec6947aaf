#include "firn/storage/object_store.h"

#include "firn/storage/request_checks.h"

namespace firn::storage {
namespace {

class HoldingWriter final : public ObjectWriter {
 public:
  HoldingWriter(ObjectStore& store, std::string_view key, PutMode mode)
      : store_(store), key_(key), mode_(mode) {}

  Status Append(std::string_view bytes) override {
    bytes_.append(bytes);
    return Status::OK();
  }

  Status Finish() override { return store_.PutWhole(key_, bytes_, mode_); }

 private:
  ObjectStore& store_;
  const std::string key_;
  const PutMode mode_;
  std::string bytes_;
};

}  // namespace

Result<std::unique_ptr<ObjectWriter>> ObjectStore::PutInPieces(std::string_view key,
                                                               PutMode mode) {
  FIRN_RETURN_NOT_OK(ValidateKey(key));
  return std::make_unique<HoldingWriter>(*this, key, mode);
}

}  // namespace firn::storage
