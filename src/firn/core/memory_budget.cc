#include "firn/core/memory_budget.h"

namespace firn {
namespace {

// A stop request cannot notify a condition (it may come from a signal handler), so waits
// look at it this often.
constexpr Duration kStopPollInterval = std::chrono::milliseconds(50);

}  // namespace

MemoryReservation& MemoryReservation::operator=(MemoryReservation&& other) noexcept {
  if (this == &other) return *this;
  Release();
  budget_ = std::exchange(other.budget_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void MemoryReservation::Release() {
  if (budget_ != nullptr) budget_->Release(bytes_);
  budget_ = nullptr;
  bytes_ = 0;
}

void MemoryReservation::Add(MemoryReservation other) {
  if (other.budget_ == nullptr) return;
  FIRN_CHECK(budget_ == nullptr || budget_ == other.budget_);
  budget_ = std::exchange(other.budget_, nullptr);
  bytes_ += std::exchange(other.bytes_, 0);
}

Result<MemoryReservation> MemoryBudget::Reserve(std::int64_t bytes,
                                                const StopToken& stop) {
  MutexLock lock(mutex_);
  while (!Fits(bytes, limit_bytes_)) {
    FIRN_RETURN_NOT_OK(stop.Check());
    released_.WaitFor(mutex_, kStopPollInterval);
  }
  used_bytes_ += bytes;
  return MemoryReservation(this, bytes);
}

std::optional<MemoryReservation> MemoryBudget::TryReserve(std::int64_t bytes,
                                                          std::int64_t limit_bytes) {
  MutexLock lock(mutex_);
  if (!Fits(bytes, limit_bytes)) return std::nullopt;
  used_bytes_ += bytes;
  return MemoryReservation(this, bytes);
}

std::int64_t MemoryBudget::used_bytes() {
  MutexLock lock(mutex_);
  return used_bytes_;
}

void MemoryBudget::Release(std::int64_t bytes) {
  MutexLock lock(mutex_);
  used_bytes_ -= bytes;
  FIRN_CHECK(used_bytes_ >= 0);
  released_.NotifyAll();
}

}  // namespace firn
