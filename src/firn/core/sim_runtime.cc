#include "firn/core/sim_runtime.h"

#include <algorithm>
#include <random>
#include <utility>

#include "firn/core/fiber.h"

namespace firn {
namespace internal {
namespace {

/// One in so many waits on a condition ends for no reason.
constexpr std::uint64_t kSpuriousWakeUp = 16;

/// A stack that runs one body after another: most threads of a simulation do little.
class Worker {
 public:
  /// Returns whose turn it is then.
  using Body = std::function<Fiber&()>;

  Worker() : fiber_([this] { RunBodies(); }) {}

  /// What the next switch to the fiber begins. REQUIRES: the body before has returned.
  void Prepare(Body body) { body_ = std::move(body); }
  Fiber& fiber() { return fiber_; }

 private:
  [[noreturn]] void RunBodies() {
    while (true) {
      Fiber& next = std::exchange(body_, nullptr)();
      fiber_.SwitchTo(next);
    }
  }

  Body body_;
  Fiber fiber_;
};

}  // namespace

/// Who runs. All threads of a simulation are fibers of one thread: nothing is locked.
class SimScheduler {
 public:
  enum class State { kReady, kWaiting, kFinished };

  struct SimThread {
    std::string name;
    SimNode* node = nullptr;
    State state = State::kReady;
    /// If it waits: on what, in words, and until when.
    const void* waits_on = nullptr;
    std::string_view waits_for = {};
    std::optional<Duration> wake_at = std::nullopt;
    bool timed_out = false;
    std::int64_t steps = 0;
    /// In order of their start.
    std::uint64_t number = 0;
    /// Nothing for "main", which has a fiber of its own.
    std::unique_ptr<Worker> worker = {};
  };

  explicit SimScheduler(const SimOptions& options)
      : options_(options),
        schedule_(options.seed),
        random_(options.seed ^ 0x9e3779b97f4a7c15) {
    current_ = Add("main", nullptr);
  }

  ~SimScheduler() {
    FIRN_CHECK(threads_.size() == 1, "{}",
               Report("the simulation ended before its threads"));
  }

  WallTime start() const { return options_.start; }
  Duration elapsed() const { return elapsed_; }
  std::uint64_t trace_hash() const { return trace_hash_; }
  std::int64_t steps() const { return steps_; }
  std::uint64_t Random64() { return random_(); }
  bool IsSpurious() { return schedule_() % kSpuriousWakeUp == 0; }
  SimThread* current() { return current_; }

  SimThread* Start(SimNode& node, std::string name, std::function<void()> body) {
    SimThread* thread = Add(fmt::format("{}/{}", node.name(), name), &node);
    thread->worker = TakeWorker();
    thread->worker->Prepare([this, thread, body = std::move(body)]() mutable -> Fiber& {
      body();
      // With what it holds, while it counts as running.
      body = nullptr;
      return Finish(*thread);
    });
    Step();
    return thread;
  }

  void Join(SimThread* thread) {
    Step();
    while (thread->state != State::kFinished) Wait(thread, "the end of a thread");
    idle_workers_.push_back(std::move(thread->worker));
    std::erase_if(threads_, [&](const auto& entry) { return entry.get() == thread; });
  }

  /// Lets the seed choose who goes on.
  void Step() {
    ++steps_;
    ++current_->steps;
    CountTowardsCrash();
    if (steps_ > options_.steps_max) End("too many steps, it may never end");
    const bool must_stop = PausedUntil(*current_) > elapsed_;
    if (must_stop || schedule_() % 100 < options_.switch_percent) Switch();
  }

  /// Until somebody wakes it, or the time has come: then false.
  bool Wait(const void* on, std::string_view what,
            std::optional<Duration> timeout = std::nullopt) {
    SimThread& self = *current_;
    self.state = State::kWaiting;
    self.waits_on = on;
    self.waits_for = what;
    self.timed_out = false;
    self.wake_at = std::nullopt;
    if (timeout) self.wake_at = elapsed_ + (IsGhost(self) ? Duration(0) : *timeout);
    Switch();
    return !self.timed_out;
  }

  void Sleep(Duration duration) {
    Step();
    Wait(nullptr, "a time to pass", std::max(duration, Duration(0)));
  }

  void WakeAll(const void* on) {
    for (const auto& thread : threads_) {
      if (thread->state == State::kWaiting && thread->waits_on == on) Wake(*thread);
    }
  }

  void WakeOne(const void* on) {
    std::vector<SimThread*> waiting;
    for (const auto& thread : threads_) {
      const bool waits = thread->state == State::kWaiting && thread->waits_on == on;
      if (waits) waiting.push_back(thread.get());
    }
    if (!waiting.empty()) Wake(*waiting[schedule_() % waiting.size()]);
  }

  /// Ghosts wait for no time.
  void EndTimedWaits(const SimNode& node) {
    for (const auto& thread : threads_) {
      if (thread->node == &node && thread->wake_at) thread->wake_at = elapsed_;
    }
  }

 private:
  static bool IsGhost(const SimThread& thread) {
    return thread.node != nullptr && thread.node->crashed();
  }

  Duration PausedUntil(const SimThread& thread) const {
    return thread.node == nullptr ? Duration(0) : thread.node->paused_until_;
  }

  SimThread* Add(std::string name, SimNode* node) {
    auto thread = std::make_unique<SimThread>();
    thread->name = std::move(name);
    thread->node = node;
    thread->number = started_++;
    threads_.push_back(std::move(thread));
    return threads_.back().get();
  }

  std::unique_ptr<Worker> TakeWorker() {
    if (idle_workers_.empty()) return std::make_unique<Worker>();
    std::unique_ptr<Worker> worker = std::move(idle_workers_.back());
    idle_workers_.pop_back();
    return worker;
  }

  Fiber& FiberOf(SimThread& thread) {
    return thread.worker == nullptr ? main_fiber_ : thread.worker->fiber();
  }

  void Wake(SimThread& thread) {
    thread.state = State::kReady;
    thread.waits_on = nullptr;
    thread.wake_at.reset();
  }

  void CountTowardsCrash() {
    SimNode* node = current_->node;
    if (node == nullptr || !node->steps_to_crash_) return;
    if (--*node->steps_to_crash_ > 0) return;
    node->steps_to_crash_.reset();
    node->Crash();
  }

  /// Lets another one go on, and comes back once it is this one's turn again.
  void Switch() {
    SimThread& self = *current_;
    SimThread& next = Choose();
    if (&next == &self) return;
    current_ = &next;
    FiberOf(self).SwitchTo(FiberOf(next));
  }

  /// Returns who goes on.
  Fiber& Finish(SimThread& self) {
    self.state = State::kFinished;
    WakeAll(&self);
    current_ = &Choose();
    return FiberOf(*current_);
  }

  SimThread& Choose() {
    for (;;) {
      std::vector<SimThread*>& ready = ready_;
      ready.clear();
      for (const auto& thread : threads_) {
        const bool may_go_on =
            thread->state == State::kReady && PausedUntil(*thread) <= elapsed_;
        if (may_go_on) ready.push_back(thread.get());
      }
      if (ready.empty()) {
        LetTimePass();
        continue;
      }
      SimThread& chosen = *ready[schedule_() % ready.size()];
      Trace(chosen.number);
      return chosen;
    }
  }

  /// To the next moment at which somebody may go on.
  void LetTimePass() {
    std::optional<Duration> next;
    for (const auto& thread : threads_) {
      const std::optional<Duration> at = NextMove(*thread);
      if (at && (!next || *at < *next)) next = at;
    }
    if (!next) End("every thread waits for another one");
    elapsed_ = std::max(elapsed_, *next);
    Trace(static_cast<std::uint64_t>(elapsed_.count()));
    for (const auto& thread : threads_) {
      const bool is_due = thread->state == State::kWaiting && thread->wake_at &&
                          *thread->wake_at <= elapsed_;
      if (!is_due) continue;
      Wake(*thread);
      thread->timed_out = true;
    }
  }

  /// When it may go on if nobody wakes it; nothing = never.
  std::optional<Duration> NextMove(const SimThread& thread) const {
    if (thread.state == State::kReady) return PausedUntil(thread);
    if (thread.state == State::kWaiting) return thread.wake_at;
    return std::nullopt;
  }

  void Trace(std::uint64_t what) {
    trace_hash_ = (trace_hash_ ^ what) * 0x100000001b3 + 0x9e3779b97f4a7c15;
  }

  [[noreturn]] void End(std::string_view reason) const {
    CheckFailed(__FILE__, __LINE__, "the simulation goes on", Report(reason));
  }

  std::string Report(std::string_view reason) const {
    std::string text = fmt::format("{} (seed {}, step {}, {} us after the start)", reason,
                                   options_.seed, steps_, elapsed_.count());
    for (const auto& thread : threads_) {
      text += fmt::format("\n  {}: {}, after {} steps", thread->name, Doing(*thread),
                          thread->steps);
    }
    return text;
  }

  static std::string Doing(const SimThread& thread) {
    if (thread.state == State::kReady) return "could go on";
    if (thread.state == State::kFinished) return "has ended, and nobody joined it";
    return fmt::format("waits for {}", thread.waits_for);
  }

  const SimOptions options_;
  std::mt19937_64 schedule_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<SimThread>> threads_;
  std::vector<SimThread*> ready_;  // reused by Choose
  SimThread* current_ = nullptr;
  Fiber main_fiber_;
  std::vector<std::unique_ptr<Worker>> idle_workers_;
  Duration elapsed_{0};
  std::uint64_t started_ = 0;
  std::int64_t steps_ = 0;
  std::uint64_t trace_hash_ = 0;
};

namespace {

class SimLock : public LockPrimitive {
 public:
  explicit SimLock(SimScheduler& scheduler) : scheduler_(scheduler) {}

  void Lock() override {
    scheduler_.Step();
    Take();
  }

  void Unlock() override {
    FIRN_CHECK(owner_ == scheduler_.current());
    owner_ = nullptr;
    scheduler_.WakeAll(this);
  }

  void Take() {
    FIRN_CHECK(owner_ != scheduler_.current(), "a thread locks what it holds");
    while (owner_ != nullptr) scheduler_.Wait(this, "a lock");
    owner_ = scheduler_.current();
  }

 private:
  SimScheduler& scheduler_;
  const SimScheduler::SimThread* owner_ = nullptr;
};

class SimCondition : public ConditionPrimitive {
 public:
  explicit SimCondition(SimScheduler& scheduler) : scheduler_(scheduler) {}

  void Wait(LockPrimitive& lock) override { WaitUntil(lock, std::nullopt); }
  bool WaitFor(LockPrimitive& lock, Duration timeout) override {
    return WaitUntil(lock, timeout);
  }
  void NotifyOne() override { scheduler_.WakeOne(this); }
  void NotifyAll() override { scheduler_.WakeAll(this); }

 private:
  bool WaitUntil(LockPrimitive& lock, std::optional<Duration> timeout) {
    lock.Unlock();
    bool notified = true;
    if (scheduler_.IsSpurious()) {
      scheduler_.Step();
    } else {
      notified = scheduler_.Wait(this, "a condition", timeout);
    }
    static_cast<SimLock&>(lock).Take();
    return notified;
  }

  SimScheduler& scheduler_;
};

class SimThreadHandle : public ThreadPrimitive {
 public:
  SimThreadHandle(SimScheduler& scheduler, SimScheduler::SimThread* thread)
      : scheduler_(scheduler), thread_(thread) {}
  void Join() override { scheduler_.Join(thread_); }

 private:
  SimScheduler& scheduler_;
  SimScheduler::SimThread* const thread_;
};

}  // namespace
}  // namespace internal

SimRuntime::SimRuntime(const SimOptions& options)
    : scheduler_(std::make_unique<internal::SimScheduler>(options)) {}

SimRuntime::~SimRuntime() = default;

SimNode& SimRuntime::NewNode(std::string name) {
  nodes_.push_back(std::unique_ptr<SimNode>(new SimNode(*scheduler_, std::move(name))));
  return *nodes_.back();
}

std::uint64_t SimRuntime::trace_hash() const { return scheduler_->trace_hash(); }
std::int64_t SimRuntime::steps() const { return scheduler_->steps(); }

SimNode::SimNode(internal::SimScheduler& scheduler, std::string name)
    : scheduler_(scheduler), name_(std::move(name)) {}
SimNode::~SimNode() = default;

WallTime SimNode::Now() {
  return scheduler_.start() + scheduler_.elapsed() + clock_offset_;
}
BootTime SimNode::SinceBoot() { return BootTime(scheduler_.elapsed()); }
void SimNode::Sleep(Duration duration) { scheduler_.Sleep(duration); }
std::uint64_t SimNode::Random64() { return scheduler_.Random64(); }

std::unique_ptr<internal::ThreadPrimitive> SimNode::StartThread(
    std::string name, std::function<void()> body) {
  return std::make_unique<internal::SimThreadHandle>(
      scheduler_, scheduler_.Start(*this, std::move(name), std::move(body)));
}

std::unique_ptr<internal::LockPrimitive> SimNode::MakeLock() {
  return std::make_unique<internal::SimLock>(scheduler_);
}

std::unique_ptr<internal::ConditionPrimitive> SimNode::MakeCondition() {
  return std::make_unique<internal::SimCondition>(scheduler_);
}

void SimNode::Yield() { scheduler_.Step(); }

void SimNode::Crash() {
  crashed_ = true;
  crash_.RequestStop();
  scheduler_.EndTimedWaits(*this);
}

void SimNode::Pause(Duration duration) {
  paused_until_ = std::max(paused_until_, scheduler_.elapsed() + duration);
}

}  // namespace firn
