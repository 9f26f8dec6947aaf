#include "firn/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <vector>

namespace firn {

Status ForEachInParallel(Runtime& runtime, std::size_t count,
                         const ParallelOptions& options,
                         const std::function<Status(std::size_t)>& body) {
  std::atomic<std::size_t> next = 0;
  // All below it are called, also those that others begin after it has failed.
  std::atomic<std::size_t> first_failed = count;
  Mutex mutex(runtime);
  Status failure;  // of first_failed; guarded by mutex
  const auto work = [&] {
    for (std::size_t i = next++; i < first_failed; i = next++) {
      Status status = body(i);
      if (status.ok()) continue;
      MutexLock lock(mutex);
      if (i > first_failed) continue;
      first_failed = i;
      failure = std::move(status);
    }
  };
  std::vector<Thread> threads;
  for (std::size_t i = 1; i < std::min(options.threads_max, count); ++i) {
    threads.emplace_back(runtime, options.thread_name, work);
  }
  work();
  threads.clear();
  return failure;
}

}  // namespace firn
