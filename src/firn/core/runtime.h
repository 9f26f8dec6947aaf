#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "firn/core/status.h"

namespace firn {

using Duration = std::chrono::microseconds;
/// Wall-clock time, microseconds since 1970-01-01T00:00:00Z.
using WallTime = std::chrono::sys_time<Duration>;
/// Time since boot, suspension included; never goes back.
using BootTime = std::chrono::time_point<struct BootClockTag, Duration>;

namespace internal {

class LockPrimitive {
 public:
  virtual ~LockPrimitive() = default;
  virtual void Lock() = 0;
  virtual void Unlock() = 0;
};

class ConditionPrimitive {
 public:
  virtual ~ConditionPrimitive() = default;
  virtual void Wait(LockPrimitive& lock) = 0;
  /// False if `timeout` passed first.
  virtual bool WaitFor(LockPrimitive& lock, Duration timeout) = 0;
  virtual void NotifyOne() = 0;
  virtual void NotifyAll() = 0;
};

class ThreadPrimitive {
 public:
  virtual ~ThreadPrimitive() = default;
  virtual void Join() = 0;
};

}  // namespace internal

/// The one door to threads, locks, clocks and random numbers.
///
/// Everything that waits or asks for the time does so through a Runtime, so that a
/// simulation can run the same code one thread at a time on a seeded schedule and a
/// manual clock. Thread-safe. Outlives whatever was made from it.
class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual WallTime Now() = 0;
  virtual BootTime SinceBoot() = 0;
  virtual void Sleep(Duration duration) = 0;
  virtual std::uint64_t Random64() = 0;

  virtual std::unique_ptr<internal::ThreadPrimitive> StartThread(
      std::string name, std::function<void()> body) = 0;
  virtual std::unique_ptr<internal::LockPrimitive> MakeLock() = 0;
  virtual std::unique_ptr<internal::ConditionPrimitive> MakeCondition() = 0;
};

/// The operating system's threads, clocks and random numbers.
Runtime& SystemRuntime();

class Mutex {
 public:
  explicit Mutex(Runtime& runtime) : lock_(runtime.MakeLock()) {}
  void Lock() { lock_->Lock(); }
  void Unlock() { lock_->Unlock(); }

 private:
  friend class CondVar;
  const std::unique_ptr<internal::LockPrimitive> lock_;
};

class MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// REQUIRES for both waits: the caller holds `mutex`. Wakes up spuriously: wait in a
/// loop.
class CondVar {
 public:
  explicit CondVar(Runtime& runtime) : condition_(runtime.MakeCondition()) {}
  void Wait(Mutex& mutex) { condition_->Wait(*mutex.lock_); }
  bool WaitFor(Mutex& mutex, Duration timeout) {
    return condition_->WaitFor(*mutex.lock_, timeout);
  }
  void NotifyOne() { condition_->NotifyOne(); }
  void NotifyAll() { condition_->NotifyAll(); }

 private:
  const std::unique_ptr<internal::ConditionPrimitive> condition_;
};

/// Joined by the destructor, so a thread never outlives what it was given.
class Thread {
 public:
  Thread() = default;
  Thread(Runtime& runtime, std::string name, std::function<void()> body)
      : thread_(runtime.StartThread(std::move(name), std::move(body))) {}
  Thread(Thread&&) = default;
  Thread& operator=(Thread&& other) {
    Join();
    thread_ = std::move(other.thread_);
    return *this;
  }
  ~Thread() { Join(); }

  /// Waits until the body has returned; does nothing the second time.
  void Join() {
    if (thread_ != nullptr) thread_->Join();
    thread_ = nullptr;
  }

 private:
  std::unique_ptr<internal::ThreadPrimitive> thread_;
};

/// Tells whether its StopSource was asked to stop. A default-constructed token is never
/// stopped.
class StopToken {
 public:
  StopToken() = default;
  bool stop_requested() const { return flag_ != nullptr && flag_->load(); }
  /// Cancelled once a stop was requested.
  Status Check() const {
    if (stop_requested()) return MakeError(ErrorKind::kCancelled, "stopped on request");
    return Status::OK();
  }

 private:
  friend class StopSource;
  explicit StopToken(std::shared_ptr<const std::atomic<bool>> flag)
      : flag_(std::move(flag)) {}
  std::shared_ptr<const std::atomic<bool>> flag_;
};

/// RequestStop is async-signal-safe.
class StopSource {
 public:
  void RequestStop() { flag_->store(true); }
  StopToken token() const { return StopToken(flag_); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace firn
