#pragma once

#include <cstddef>
#include <functional>

#include "firn/core/bounded_queue.h"
#include "firn/core/runtime.h"

namespace firn::jobs {

/// Runs tasks that may wait, one after another, on a thread of its own. Thread-safe.
class TaskQueue {
 public:
  TaskQueue(Runtime& runtime, std::size_t waiting_max)
      : tasks_(runtime, waiting_max), thread_(runtime, "tasks", [this] {
          while (const auto task = tasks_.Pop()) (*task)();
        }) {}
  ~TaskQueue() { Close(); }

  /// Runs what waits, and ends. For one thread.
  void Close() {
    tasks_.Close();
    thread_.Join();
  }

  /// False if too many wait, or it is closed.
  bool TryRun(std::function<void()> task) { return tasks_.TryPush(std::move(task)); }

 private:
  BoundedQueue<std::function<void()>> tasks_;
  Thread thread_;
};

}  // namespace firn::jobs
