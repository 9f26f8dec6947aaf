#pragma once

#include <string>

#include "firn/core/status.h"
#include "firn/metrics/metrics.h"

namespace firn::commit {

/// Counts what a catalog said to each attempt at a commit of one table:
/// firn_commit_attempts_total, labelled with the table and the outcome "committed",
/// "conflict", "unknown", "unavailable" or "refused". Thread-safe.
class CommitMetrics {
 public:
  /// `registry` must outlive it.
  CommitMetrics(metrics::Registry& registry, const std::string& table);

  void Count(const Status& outcome);

 private:
  metrics::Counter& committed_;
  metrics::Counter& conflict_;
  metrics::Counter& unknown_;
  metrics::Counter& unavailable_;
  metrics::Counter& refused_;
};

}  // namespace firn::commit
