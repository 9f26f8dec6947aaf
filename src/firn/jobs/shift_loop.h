#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "firn/core/bounded_queue.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/jobs/events.h"
#include "firn/metrics/metrics.h"
#include "firn/shift/table_shift.h"

namespace firn::jobs {

/// When the WAL of a table is shifted.
struct ShiftTrigger {
  /// Size of its segments, as files, that are not in the table.
  std::int64_t start_bytes = 256LL << 20;
  /// Age of the oldest of them.
  Duration max_age = std::chrono::seconds(60);
  /// How often manifests and drained segments are tidied while nothing is shifted.
  Duration tidy_interval = std::chrono::minutes(10);
};

/// Each shift holds one while it runs: so many tables are shifted at once, first come,
/// first served.
class ShiftPermits {
 public:
  ShiftPermits(Runtime& runtime, int count);
  /// Waits; false once they are closed.
  bool Take() { return permits_.Pop().has_value(); }
  void GiveBack() { permits_.Push(0); }
  void Close() { permits_.Close(); }

 private:
  BoundedQueue<int> permits_;
};

/// Shifts one table whenever its WAL holds enough, on a thread of its own, until it is
/// stopped.
///
/// It knows at once of segments that this process writes (OnSegment), and looks for
/// others, also those that an earlier process left, as often as `max_age`. After a
/// failure it waits, longer each time, and tries again: no other table is held up.
class ShiftLoop {
 public:
  struct Environment {
    Runtime& runtime;
    ShiftPermits& permits;
    metrics::Registry& metrics;
    const EventSink& events;
  };

  /// `shift` is used by the loop alone. `load` gives the table as it is now, whenever the
  /// WAL is looked at; an error of it counts as one of the shift.
  ShiftLoop(const Environment& environment, std::string table,
            std::unique_ptr<shift::TableShift> shift, ShiftTrigger trigger,
            std::function<Result<iceberg::TableMetadata>()> load);
  ~ShiftLoop();

  /// This process made a segment of so many bytes durable. Thread-safe.
  void OnSegment(std::int64_t bytes);

  /// Of segments that are not in the table, as far as it knows. Thread-safe.
  std::int64_t uncommitted_bytes();

  /// Begins nothing new: a shift that has not begun its commit is given up, one that has
  /// is finished. Does not wait.
  void BeginStop();
  /// Waits until that is done.
  void Join() { thread_.Join(); }

 private:
  enum class Step { kShift, kLook, kStop };

  void Run();
  Step AwaitStep();
  /// REQUIRES for all three: mutex_ is held.
  void SetUncommitted(std::int64_t bytes);
  bool IsDue(BootTime now) const;
  BootTime NextDue() const;
  /// True if a shift is due for what others have written.
  Result<bool> Look();
  void Shift();
  Result<shift::ShiftReport> RunShift();
  void OnShifted(const shift::ShiftReport& report, Duration duration);
  void OnFailed(const Status& reason);
  void TidyUp();
  void TidyUpIfDue();

  const Environment environment_;
  const std::string table_;
  const std::unique_ptr<shift::TableShift> shift_;
  const ShiftTrigger trigger_;
  const std::function<Result<iceberg::TableMetadata>()> load_;
  metrics::Gauge& uncommitted_gauge_;
  metrics::Gauge& last_success_;
  metrics::Counter& failed_;
  StopSource stop_;
  /// Used by the loop's thread alone.
  BootTime tidied_at_;

  Mutex mutex_;
  CondVar changed_;
  // All guarded by mutex_.
  /// Of this process's segments that no shift has seen, and since when.
  std::int64_t bytes_ = 0;
  BootTime since_;
  /// Of all segments that are not in the table.
  std::int64_t uncommitted_bytes_ = 0;
  BootTime look_at_;
  /// After a failure: nothing is done before.
  std::optional<BootTime> retry_at_;
  int failures_ = 0;

  Thread thread_;
};

}  // namespace firn::jobs
