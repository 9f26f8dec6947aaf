#include "firn/storage/faulty_store.h"

#include <utility>

namespace firn::storage {
namespace {

Status Injected(const StoreCall& call, const Fault& fault) {
  if (!fault.kind) {
    return Status::IOError(
        fmt::format("cannot write {}: No space left on device", call.key));
  }
  return Error(*fault.kind, "injected fault {} {} number {} of '{}'",
               fault.when == Fault::When::kBefore ? "before" : "after",
               StoreOperationName(call.operation), call.number, call.key);
}

}  // namespace

std::string_view StoreOperationName(StoreOperation operation) {
  switch (operation) {
    case StoreOperation::kPutWhole:
      return "PutWhole";
    case StoreOperation::kAppend:
      return "Append";
    case StoreOperation::kGetRange:
      return "GetRange";
    case StoreOperation::kGetWhole:
      return "GetWhole";
    case StoreOperation::kList:
      return "List";
    case StoreOperation::kDelete:
      return "Delete";
  }
  return "unknown";
}

FaultHook FailNth(StoreOperation operation, std::int64_t n, Fault fault) {
  return [=](const StoreCall& call) {
    return call.operation == operation && call.number == n ? fault : kPass;
  };
}

Fault FaultyStore::NextFault(StoreCall& call) {
  MutexLock lock(mutex_);
  call.number = ++calls_[static_cast<std::size_t>(call.operation)];
  return hook_(call);
}

template <typename Outcome, typename Apply>
Outcome FaultyStore::Call(StoreOperation operation, std::string_view key,
                          const Apply& apply) {
  StoreCall call{.operation = operation, .key = std::string(key), .number = 0};
  const Fault fault = NextFault(call);
  if (fault.when == Fault::When::kBefore) return Injected(call, fault);
  Outcome outcome = apply();
  if (fault.when == Fault::When::kAfter && outcome.ok()) return Injected(call, fault);
  return outcome;
}

Status FaultyStore::PutWhole(std::string_view key, std::string_view bytes, PutMode mode) {
  return Call<Status>(StoreOperation::kPutWhole, key,
                      [&] { return inner_.PutWhole(key, bytes, mode); });
}

class FaultyStore::Writer final : public ObjectWriter {
 public:
  Writer(FaultyStore& store, std::string_view key, std::unique_ptr<ObjectWriter> inner)
      : store_(store), key_(key), inner_(std::move(inner)) {}

  Status Append(std::string_view bytes) override {
    return store_.Call<Status>(StoreOperation::kAppend, key_,
                               [&] { return inner_->Append(bytes); });
  }

  Status Finish() override {
    return store_.Call<Status>(StoreOperation::kPutWhole, key_,
                               [&] { return inner_->Finish(); });
  }

 private:
  FaultyStore& store_;
  const std::string key_;
  const std::unique_ptr<ObjectWriter> inner_;
};

Result<std::unique_ptr<ObjectWriter>> FaultyStore::PutInPieces(std::string_view key,
                                                               PutMode mode) {
  FIRN_ASSIGN_OR_RETURN(auto inner, inner_.PutInPieces(key, mode));
  return std::make_unique<Writer>(*this, key, std::move(inner));
}

Result<std::string> FaultyStore::GetRange(std::string_view key, std::int64_t offset,
                                          std::int64_t length) {
  return Call<Result<std::string>>(StoreOperation::kGetRange, key,
                                   [&] { return inner_.GetRange(key, offset, length); });
}

Result<std::string> FaultyStore::GetWhole(std::string_view key) {
  return Call<Result<std::string>>(StoreOperation::kGetWhole, key,
                                   [&] { return inner_.GetWhole(key); });
}

Result<std::vector<ObjectInfo>> FaultyStore::List(std::string_view prefix) {
  return Call<Result<std::vector<ObjectInfo>>>(StoreOperation::kList, prefix,
                                               [&] { return inner_.List(prefix); });
}

Status FaultyStore::Delete(std::string_view key) {
  return Call<Status>(StoreOperation::kDelete, key, [&] { return inner_.Delete(key); });
}

std::string FaultyStore::Location(std::string_view key) const {
  return inner_.Location(key);
}

}  // namespace firn::storage
