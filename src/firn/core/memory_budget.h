#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "firn/core/runtime.h"

namespace firn {

class MemoryBudget;

/// Bytes taken from a MemoryBudget, given back by the destructor. Move-only.
class MemoryReservation {
 public:
  MemoryReservation() = default;
  MemoryReservation(MemoryReservation&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryReservation& operator=(MemoryReservation&& other) noexcept;
  ~MemoryReservation() { Release(); }

  std::int64_t bytes() const { return bytes_; }
  void Release();
  /// Takes over what `other` holds. REQUIRES: both are of one budget, or one holds
  /// nothing.
  void Add(MemoryReservation other);

 private:
  friend class MemoryBudget;
  MemoryReservation(MemoryBudget* budget, std::int64_t bytes)
      : budget_(budget), bytes_(bytes) {}

  MemoryBudget* budget_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// The one limit on memory that buffers, merges and encoders share. Thread-safe.
class MemoryBudget {
 public:
  MemoryBudget(Runtime& runtime, std::int64_t limit_bytes)
      : limit_bytes_(limit_bytes), mutex_(runtime), released_(runtime) {}

  /// Waits until `bytes` are free. Cancelled if `stop` fires first.
  ///
  /// More than the whole limit is granted once nothing else is taken: a single piece of
  /// work that is larger than its limit runs alone instead of never.
  Result<MemoryReservation> Reserve(std::int64_t bytes, const StopToken& stop);

  /// As Reserve, but nothing where that would wait.
  std::optional<MemoryReservation> TryReserve(std::int64_t bytes) {
    return TryReserve(bytes, limit_bytes_);
  }
  /// The same, as if the limit were `limit_bytes`: what may be refused leaves the rest to
  /// what has begun.
  std::optional<MemoryReservation> TryReserve(std::int64_t bytes,
                                              std::int64_t limit_bytes);

  std::int64_t limit_bytes() const { return limit_bytes_; }
  std::int64_t used_bytes();

 private:
  friend class MemoryReservation;
  void Release(std::int64_t bytes);
  /// REQUIRES: mutex_ is held.
  bool Fits(std::int64_t bytes, std::int64_t limit_bytes) const {
    return used_bytes_ == 0 || bytes <= limit_bytes - used_bytes_;
  }

  const std::int64_t limit_bytes_;
  Mutex mutex_;
  CondVar released_;
  std::int64_t used_bytes_ = 0;  // guarded by mutex_
};

/// What one kind of work may take of a budget: it is refused once `limit_bytes` of the
/// budget are taken, by whomever. The budget must outlive it.
struct MemoryShare {
  MemoryBudget* budget = nullptr;
  std::int64_t limit_bytes = 0;

  std::optional<MemoryReservation> TryReserve(std::int64_t bytes) const {
    return budget->TryReserve(bytes, limit_bytes);
  }
};

}  // namespace firn
