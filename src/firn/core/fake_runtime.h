#pragma once

#include <atomic>
#include <mutex>
#include <random>

#include "firn/core/runtime.h"

namespace firn {

/// A Runtime for tests: real threads and locks, a clock that moves only when told to,
/// seeded random numbers.
///
/// Sleep moves the clock forward and returns at once. Thread-safe.
class FakeRuntime : public Runtime {
 public:
  explicit FakeRuntime(std::uint64_t seed = 1,
                       WallTime start = WallTime(std::chrono::seconds(1'700'000'000)))
      : start_(start), engine_(seed) {}

  void Advance(Duration duration) { elapsed_us_ += duration.count(); }

  WallTime Now() override { return start_ + Duration(elapsed_us_.load()); }
  BootTime SinceBoot() override { return BootTime(Duration(elapsed_us_.load())); }
  void Sleep(Duration duration) override { Advance(duration); }

  std::uint64_t Random64() override {
    std::lock_guard lock(mutex_);
    return engine_();
  }

  std::unique_ptr<internal::ThreadPrimitive> StartThread(
      std::string name, std::function<void()> body) override {
    return SystemRuntime().StartThread(std::move(name), std::move(body));
  }
  std::unique_ptr<internal::LockPrimitive> MakeLock() override {
    return SystemRuntime().MakeLock();
  }
  std::unique_ptr<internal::ConditionPrimitive> MakeCondition() override {
    return SystemRuntime().MakeCondition();
  }

 private:
  const WallTime start_;
  std::atomic<std::int64_t> elapsed_us_ = 0;
  std::mutex mutex_;
  std::mt19937_64 engine_;  // guarded by mutex_
};

}  // namespace firn
