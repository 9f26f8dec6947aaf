#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "firn/core/runtime.h"
#include "firn/storage/object_store.h"

namespace firn::storage {

enum class StoreOperation {
  /// The last step of PutInPieces, too.
  kPutWhole,
  /// A piece of PutInPieces.
  kAppend,
  kGetRange,
  kGetWhole,
  kList,
  kDelete,
};

std::string_view StoreOperationName(StoreOperation operation);

struct StoreCall {
  StoreOperation operation = StoreOperation::kPutWhole;
  /// The prefix, for kList.
  std::string key;
  /// 1 for the first call of this operation, 2 for the next, ...
  std::int64_t number = 0;
};

/// What becomes of a call.
struct Fault {
  enum class When {
    kNever,
    /// The call does nothing but fail.
    kBefore,
    /// The call is carried out, and then fails all the same.
    kAfter,
  };
  When when = When::kNever;
  /// Nothing: no space is left, which is of no kind and final.
  std::optional<ErrorKind> kind = ErrorKind::kUnavailable;
};

inline constexpr Fault kPass{};
inline constexpr Fault kFailBefore{.when = Fault::When::kBefore};
inline constexpr Fault kNoSpaceLeft{.when = Fault::When::kBefore, .kind = std::nullopt};
/// The answer that got lost: applied, but the caller is not told.
inline constexpr Fault kApplyThenUnknown{.when = Fault::When::kAfter,
                                         .kind = ErrorKind::kOutcomeUnknown};

/// Asked once before every call, one call at a time.
using FaultHook = std::function<Fault(const StoreCall&)>;

/// Strikes the n-th call of one operation, counted from 1, and no other.
FaultHook FailNth(StoreOperation operation, std::int64_t n, Fault fault);

/// A store that fails as its hook says; with a hook that depends on the call alone, the
/// same calls fail alike each time. Thread-safe.
class FaultyStore : public ObjectStore {
 public:
  /// `runtime` and `inner` must outlive the store.
  FaultyStore(Runtime& runtime, ObjectStore& inner, FaultHook hook)
      : inner_(inner), mutex_(runtime), hook_(std::move(hook)) {}

  Status PutWhole(std::string_view key, std::string_view bytes,
                  PutMode mode = PutMode::kOverwrite) override;
  Result<std::unique_ptr<ObjectWriter>> PutInPieces(
      std::string_view key, PutMode mode = PutMode::kOverwrite) override;
  Result<std::string> GetRange(std::string_view key, std::int64_t offset,
                               std::int64_t length) override;
  Result<std::string> GetWhole(std::string_view key) override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  Status Delete(std::string_view key) override;
  std::string Location(std::string_view key) const override;

 private:
  class Writer;
  static constexpr std::size_t kOperations = 6;

  template <typename Outcome, typename Apply>
  Outcome Call(StoreOperation operation, std::string_view key, const Apply& apply);
  Fault NextFault(StoreCall& call);

  ObjectStore& inner_;
  Mutex mutex_;
  const FaultHook hook_;                  // called with mutex_ held
  std::int64_t calls_[kOperations] = {};  // by operation; guarded by mutex_
};

}  // namespace firn::storage
