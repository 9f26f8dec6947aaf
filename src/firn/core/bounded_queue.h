#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "firn/core/runtime.h"

namespace firn {

/// A FIFO queue of at most `capacity` items: Push blocks while it is full, Pop while it
/// is empty. Thread-safe.
template <typename T>
class BoundedQueue {
 public:
  BoundedQueue(Runtime& runtime, std::size_t capacity)
      : capacity_(capacity), mutex_(runtime), changed_(runtime) {}

  /// False, and `item` is dropped, if the queue was closed.
  bool Push(T item) {
    MutexLock lock(mutex_);
    while (!closed_ && items_.size() >= capacity_) changed_.Wait(mutex_);
    if (closed_) return false;
    items_.push_back(std::move(item));
    changed_.NotifyAll();
    return true;
  }

  /// False, and `item` is dropped, if the queue is full or was closed.
  bool TryPush(T item) {
    MutexLock lock(mutex_);
    if (closed_ || items_.size() >= capacity_) return false;
    items_.push_back(std::move(item));
    changed_.NotifyAll();
    return true;
  }

  /// Nothing once the queue is closed and empty.
  std::optional<T> Pop() {
    MutexLock lock(mutex_);
    while (!closed_ && items_.empty()) changed_.Wait(mutex_);
    if (items_.empty()) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    changed_.NotifyAll();
    return item;
  }

  /// What was pushed can still be popped.
  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }

 private:
  const std::size_t capacity_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<T> items_;  // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_
};

}  // namespace firn
