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
///
/// While a batch waits for its commit, the next shift may begin: it takes a permit for
/// planning and writing only, and goes on from where that batch ends.
class ShiftLoop : private shift::ShiftObserver {
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
  ~ShiftLoop() override;

  /// This process made a segment of so many bytes durable. Thread-safe.
  void OnSegment(std::int64_t bytes);

  /// Of segments that are not in the table, as far as it knows. Thread-safe.
  std::int64_t uncommitted_bytes();

  /// Begins nothing new: an iteration that is not written yet is given up, those that
  /// wait for their commit are committed. Does not wait.
  void BeginStop();
  /// Waits until that is done.
  void Join() { thread_.Join(); }

 private:
  enum class Step { kShift, kLook, kSettle, kStop };

  /// Nobody watches a shift of a server chunk by chunk: metrics tell how it goes.
  void OnPlanned(const shift::PlannedIteration&) override {}
  void OnChunk(const planner::Chunk&, const shift::ChunkFiles&) override {}
  void OnOutcome() override;

  void Run();
  Step AwaitStep();
  /// REQUIRES for all three: mutex_ is held.
  void SetUncommitted(std::int64_t bytes);
  bool IsDue(BootTime now) const;
  BootTime NextDue() const;
  /// True if a shift is due for what others have written.
  Result<bool> Look();
  void Shift();
  /// Takes notice of what was committed meanwhile.
  void Settle();
  void OnDrained();
  void Tell(const shift::ShiftReport& report);
  /// Lets what was submitted be committed, and tells of it.
  void Finish();
  /// A shift failed: the next one plans anew from the table.
  void GiveUp(const Status& reason);
  void OnFailed(const Status& reason);
  void TidyUp();
  void TidyUpIfDue();
  Status DeleteAbandoned();

  const Environment environment_;
  const std::string table_;
  const std::unique_ptr<shift::TableShift> shift_;
  const ShiftTrigger trigger_;
  const std::function<Result<iceberg::TableMetadata>()> load_;
  metrics::Gauge& uncommitted_gauge_;
  metrics::Gauge& last_success_;
  metrics::Counter& failed_;
  StopSource stop_;
  // Both used by the loop's thread alone.
  BootTime tidied_at_;
  /// When what is in flight was begun.
  BootTime begun_at_;

  Mutex mutex_;
  CondVar changed_;
  // All guarded by mutex_.
  /// Of this process's segments that no shift has seen, and since when.
  std::int64_t bytes_ = 0;
  BootTime since_;
  /// Of those that a shift has seen, and that are not known to be in the table.
  std::int64_t in_flight_bytes_ = 0;
  /// Of all segments that are not in the table.
  std::int64_t uncommitted_bytes_ = 0;
  /// What the shifts in flight need next, and whether that may have changed.
  shift::ShiftNext next_ = shift::ShiftNext::kDone;
  bool has_place_ = true;
  bool has_outcome_ = false;
  BootTime look_at_;
  /// After a failure: nothing is done before.
  std::optional<BootTime> retry_at_;
  int failures_ = 0;

  Thread thread_;
};

}  // namespace firn::jobs
