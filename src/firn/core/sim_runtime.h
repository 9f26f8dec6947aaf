#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"

namespace firn {

class SimNode;

namespace internal {
class SimScheduler;
}  // namespace internal

struct SimOptions {
  std::uint64_t seed = 1;
  WallTime start = WallTime(std::chrono::seconds(1'700'000'000));
  /// How often, of 100 steps, another thread may go on though this one could.
  std::uint64_t switch_percent = 25;
  /// A run of more steps does not end by itself, and is ended as one that hangs.
  std::int64_t steps_max = 1'000'000;
};

/// Runs threads one at a time, in an order that a seed decides, on a clock that moves
/// only while all of them wait. So the same seed gives the same run. To the operating
/// system they are one thread, the caller's; each has a stack of its own.
///
/// Each start, end and join of a thread, each lock, wait and sleep, and each Yield is a
/// step: there the seed chooses who goes on. Between two steps a thread runs alone.
/// A wait on a condition sometimes wakes up for no reason. If all threads wait and none
/// for a time, or if `steps_max` is passed, the process ends with a report that names the
/// seed and says what each thread waits for.
///
/// The thread that makes it becomes its first one, "main", and destroys it, after all
/// others have ended. Threads are started through the nodes.
class SimRuntime {
 public:
  explicit SimRuntime(const SimOptions& options);
  ~SimRuntime();

  /// Another machine; lives as long as the SimRuntime.
  SimNode& NewNode(std::string name);

  /// Of all steps so far, who made them and when: equal if two runs were.
  std::uint64_t trace_hash() const;
  std::int64_t steps() const;

 private:
  std::unique_ptr<internal::SimScheduler> scheduler_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
};

/// One machine of a simulation, and the Runtime of what runs on it. For the threads of
/// one SimRuntime.
class SimNode : public Runtime {
 public:
  ~SimNode() override;

  WallTime Now() override;
  BootTime SinceBoot() override;
  void Sleep(Duration duration) override;
  std::uint64_t Random64() override;
  std::unique_ptr<internal::ThreadPrimitive> StartThread(
      std::string name, std::function<void()> body) override;
  std::unique_ptr<internal::LockPrimitive> MakeLock() override;
  std::unique_ptr<internal::ConditionPrimitive> MakeCondition() override;

  const std::string& name() const { return name_; }

  /// A step that does nothing.
  void Yield();

  /// From here on the node counts as dead, and what it was doing as lost.
  ///
  /// Its threads cannot be ended from outside: they go on as ghosts until they return.
  /// So whoever simulates what a node can reach (stores, catalogs, clients) asks
  /// `crashed` around each call, and lets no call of a ghost have any effect. A ghost
  /// does not sleep, and its waits with a time-out end at once.
  void Crash();
  bool crashed() const { return crashed_; }
  /// Crashes in the `steps`-th step that its threads make from now on.
  void CrashAfter(std::int64_t steps) { steps_to_crash_ = steps; }
  /// Fires when the node crashes.
  StopToken crash_token() const { return crash_.token(); }

  /// None of its threads goes on for so long: a machine that is suspended, or starved.
  void Pause(Duration duration);
  /// Moves the wall clock of this node, forward or back; SinceBoot goes on as before.
  void JumpClock(Duration by) { clock_offset_ += by; }

 private:
  friend class SimRuntime;
  friend class internal::SimScheduler;
  SimNode(internal::SimScheduler& scheduler, std::string name);

  internal::SimScheduler& scheduler_;
  const std::string name_;
  StopSource crash_;
  bool crashed_ = false;
  std::optional<std::int64_t> steps_to_crash_;
  Duration clock_offset_{0};
  /// In time since the start; before that none of its threads goes on.
  Duration paused_until_{0};
};

}  // namespace firn
