#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace firn::internal {

/// A thread of control without a thread of the operating system: a stack of its own, left
/// and entered again by a call. A simulation goes from one of its threads to another
/// hundreds of times in a run, which takes some microseconds through the kernel.
///
/// All fibers that switch to one another are made and used on one thread. An exception
/// may be under way in each of them.
class Fiber {
 public:
  /// The fiber that runs as long as no other one was switched to, on the thread's stack.
  Fiber();
  /// The first switch to it calls `entry`, which never returns: it switches away.
  explicit Fiber(std::function<void()> entry);
  /// Gives the stack back. What lies on it is not destroyed.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Goes on in `next`; returns once somebody switches here. REQUIRES: this one runs.
  void SwitchTo(Fiber& next);

 private:
  static void Enter();
  /// In the one that goes on.
  void Arrive();

  ucontext_t context_ = {};
  std::function<void()> entry_;
  /// Where its stack is mapped, with the guard page; null if that is the thread's.
  void* mapping_ = nullptr;
  /// What the sanitizers want to know.
  [[maybe_unused]] Fiber* came_from_ = nullptr;
  [[maybe_unused]] const void* stack_ = nullptr;
  [[maybe_unused]] std::size_t stack_bytes_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
};

}  // namespace firn::internal
