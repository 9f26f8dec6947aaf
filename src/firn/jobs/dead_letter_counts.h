#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "firn/core/runtime.h"
#include "firn/jobs/events.h"
#include "firn/metrics/metrics.h"
#include "firn/sources/reason_class.h"

namespace firn::jobs {

/// When dead letters are too many to go unseen.
struct DeadLetterAlarm {
  /// So many of one table within `interval`; 0 = never.
  std::int64_t records = 1000;
  Duration interval = std::chrono::minutes(1);
};

/// Counts the dead letters of each table by the class of their reason, and tells if they
/// come too fast: one warning an interval, and a gauge that is 1 until an interval has
/// passed without. Thread-safe.
class DeadLetterCounts {
 public:
  /// References must outlive the counts.
  DeadLetterCounts(Runtime& runtime, metrics::Registry& metrics, const EventSink& events,
                   DeadLetterAlarm alarm)
      : runtime_(runtime),
        metrics_(metrics),
        events_(events),
        alarm_(alarm),
        state_(std::make_shared<State>(runtime)) {}

  /// So many records became durable as dead letters of `table`.
  void Count(const std::string& table, const sources::ReasonCounts& counts);

 private:
  struct Table {
    /// Of the interval that began at `since`.
    std::int64_t records = 0;
    BootTime since;
    std::optional<BootTime> alarmed;
  };

  /// The gauges read it as long as the registry is exposed.
  struct State {
    explicit State(Runtime& runtime) : mutex(runtime) {}

    Mutex mutex;
    std::map<std::string, Table> tables;  // guarded by mutex
  };

  void ShowAlarm(const std::string& table);
  /// True if the alarm begins, or begins anew.
  bool IsAlarm(const std::string& table, std::int64_t records);

  Runtime& runtime_;
  metrics::Registry& metrics_;
  const EventSink& events_;
  const DeadLetterAlarm alarm_;
  const std::shared_ptr<State> state_;
};

}  // namespace firn::jobs
