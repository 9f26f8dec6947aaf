#include "firn/core/runtime.h"

#include <pthread.h>
#include <time.h>

#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

namespace firn {
namespace {

class SystemLock : public internal::LockPrimitive {
 public:
  void Lock() override { mutex_.lock(); }
  void Unlock() override { mutex_.unlock(); }
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
};

class SystemCondition : public internal::ConditionPrimitive {
 public:
  void Wait(internal::LockPrimitive& lock) override {
    std::unique_lock held = Adopt(lock);
    condition_.wait(held);
    held.release();
  }

  bool WaitFor(internal::LockPrimitive& lock, Duration timeout) override {
    std::unique_lock held = Adopt(lock);
    const bool notified =
        condition_.wait_for(held, timeout) == std::cv_status::no_timeout;
    held.release();
    return notified;
  }

  void NotifyOne() override { condition_.notify_one(); }
  void NotifyAll() override { condition_.notify_all(); }

 private:
  static std::unique_lock<std::mutex> Adopt(internal::LockPrimitive& lock) {
    return {static_cast<SystemLock&>(lock).mutex(), std::adopt_lock};
  }

  std::condition_variable condition_;
};

class SystemThread : public internal::ThreadPrimitive {
 public:
  SystemThread(std::string name, std::function<void()> body)
      : thread_([name = std::move(name), body = std::move(body)] {
          // The kernel keeps 15 bytes of a thread's name.
          pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
          body();
        }) {}
  void Join() override { thread_.join(); }

 private:
  std::thread thread_;
};

class SystemRuntimeImpl : public Runtime {
 public:
  WallTime Now() override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }

  BootTime SinceBoot() override {
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return BootTime(std::chrono::duration_cast<Duration>(
        std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
  }

  void Sleep(Duration duration) override { std::this_thread::sleep_for(duration); }

  std::uint64_t Random64() override {
    thread_local std::mt19937_64 engine = [] {
      std::random_device device;
      std::seed_seq seed{device(), device(), device(), device()};
      return std::mt19937_64(seed);
    }();
    return engine();
  }

  std::unique_ptr<internal::ThreadPrimitive> StartThread(
      std::string name, std::function<void()> body) override {
    return std::make_unique<SystemThread>(std::move(name), std::move(body));
  }
  std::unique_ptr<internal::LockPrimitive> MakeLock() override {
    return std::make_unique<SystemLock>();
  }
  std::unique_ptr<internal::ConditionPrimitive> MakeCondition() override {
    return std::make_unique<SystemCondition>();
  }
};

}  // namespace

Runtime& SystemRuntime() {
  static SystemRuntimeImpl runtime;
  return runtime;
}

}  // namespace firn
