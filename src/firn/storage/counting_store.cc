#include "firn/storage/counting_store.h"

#include <utility>

namespace firn::storage {

Status CountingStore::Counted(Count& requests, Status status) {
  ++requests;
  if (!status.ok()) ++failures_;
  return status;
}

Result<std::string> CountingStore::CountedGet(Result<std::string> bytes) {
  if (Counted(gets_, bytes.status()).ok()) {
    get_bytes_ += static_cast<std::int64_t>(bytes->size());
  }
  return bytes;
}

Status CountingStore::PutWhole(std::string_view key, std::string_view bytes,
                               PutMode mode) {
  FIRN_RETURN_NOT_OK(Counted(puts_, inner_.PutWhole(key, bytes, mode)));
  put_bytes_ += static_cast<std::int64_t>(bytes.size());
  return Status::OK();
}

class CountingStore::Writer final : public ObjectWriter {
 public:
  Writer(CountingStore& store, std::unique_ptr<ObjectWriter> inner)
      : store_(store), inner_(std::move(inner)) {}

  Status Append(std::string_view bytes) override {
    const Status appended = inner_->Append(bytes);
    if (!appended.ok()) return store_.Counted(store_.puts_, appended);
    bytes_ += static_cast<std::int64_t>(bytes.size());
    return appended;
  }

  Status Finish() override {
    FIRN_RETURN_NOT_OK(store_.Counted(store_.puts_, inner_->Finish()));
    store_.put_bytes_ += bytes_;
    return Status::OK();
  }

 private:
  CountingStore& store_;
  const std::unique_ptr<ObjectWriter> inner_;
  std::int64_t bytes_ = 0;
};

Result<std::unique_ptr<ObjectWriter>> CountingStore::PutInPieces(std::string_view key,
                                                                 PutMode mode) {
  auto inner = inner_.PutInPieces(key, mode);
  if (!inner.ok()) return Counted(puts_, inner.status());
  return std::make_unique<Writer>(*this, *std::move(inner));
}

Result<std::string> CountingStore::GetRange(std::string_view key, std::int64_t offset,
                                            std::int64_t length) {
  return CountedGet(inner_.GetRange(key, offset, length));
}

Result<std::string> CountingStore::GetWhole(std::string_view key) {
  return CountedGet(inner_.GetWhole(key));
}

Result<std::vector<ObjectInfo>> CountingStore::List(std::string_view prefix) {
  Result<std::vector<ObjectInfo>> listed = inner_.List(prefix);
  FIRN_RETURN_NOT_OK(Counted(lists_, listed.status()));
  return listed;
}

Status CountingStore::Delete(std::string_view key) {
  return Counted(deletes_, inner_.Delete(key));
}

std::string CountingStore::Location(std::string_view key) const {
  return inner_.Location(key);
}

RequestCounts CountingStore::counts() const {
  return {.puts = puts_,
          .gets = gets_,
          .lists = lists_,
          .deletes = deletes_,
          .failures = failures_,
          .put_bytes = put_bytes_,
          .get_bytes = get_bytes_};
}

}  // namespace firn::storage
