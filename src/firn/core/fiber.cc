#include "firn/core/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "firn/core/status.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIRN_HAS_ASAN
#elif __has_feature(thread_sanitizer)
#define FIRN_HAS_TSAN
#endif
#endif

#ifdef FIRN_HAS_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIRN_HAS_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace firn::internal {
namespace {

/// As little of it is in memory as is used.
constexpr std::size_t kStackBytes = 1 << 20;

/// Whom Enter is called for.
thread_local Fiber* g_entered = nullptr;

/// The exceptions that a thread has caught and not yet left, and how many are in flight
/// (Itanium C++ ABI: Exception Handling, 2.2.2).
using CaughtExceptions = std::array<std::byte, 2 * sizeof(void*)>;

CaughtExceptions SaveExceptions() {
  CaughtExceptions saved;
  std::memcpy(saved.data(), abi::__cxa_get_globals(), saved.size());
  return saved;
}

void RestoreExceptions(const CaughtExceptions& saved) {
  std::memcpy(abi::__cxa_get_globals(), saved.data(), saved.size());
}

}  // namespace

Fiber::Fiber() {
#ifdef FIRN_HAS_TSAN
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
}

Fiber::Fiber(std::function<void()> entry) : entry_(std::move(entry)) {
  const auto guard_bytes = static_cast<std::size_t>(getpagesize());
  stack_bytes_ = kStackBytes;
  mapping_ = mmap(nullptr, guard_bytes + stack_bytes_, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  FIRN_CHECK(mapping_ != MAP_FAILED);
  FIRN_CHECK(mprotect(mapping_, guard_bytes, PROT_NONE) == 0);
  void* const stack = static_cast<std::byte*>(mapping_) + guard_bytes;
  stack_ = stack;
  FIRN_CHECK(getcontext(&context_) == 0);
  context_.uc_stack.ss_sp = stack;
  context_.uc_stack.ss_size = stack_bytes_;
  makecontext(&context_, Enter, 0);
#ifdef FIRN_HAS_TSAN
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  if (mapping_ == nullptr) return;
#ifdef FIRN_HAS_TSAN
  __tsan_destroy_fiber(tsan_fiber_);
#endif
  munmap(mapping_, static_cast<std::size_t>(getpagesize()) + stack_bytes_);
}

void Fiber::SwitchTo(Fiber& next) {
  const CaughtExceptions exceptions = SaveExceptions();
  next.came_from_ = this;
  g_entered = &next;
#ifdef FIRN_HAS_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, next.stack_, next.stack_bytes_);
#endif
#ifdef FIRN_HAS_TSAN
  __tsan_switch_to_fiber(next.tsan_fiber_, 0);
#endif
  FIRN_CHECK(swapcontext(&context_, &next.context_) == 0);
  Arrive();
  RestoreExceptions(exceptions);
}

void Fiber::Enter() {
  Fiber& self = *g_entered;
  self.Arrive();
  RestoreExceptions({});
  self.entry_();
  FIRN_CHECK(false, "a fiber has returned");
}

void Fiber::Arrive() {
#ifdef FIRN_HAS_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &came_from_->stack_,
                                  &came_from_->stack_bytes_);
#endif
}

}  // namespace firn::internal
