#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "firn/metrics/metrics.h"
#include "firn/shift/iteration.h"

namespace firn::shift {

/// What iterations did that were committed. Sums, except for the maximum.
struct ShiftFigures {
  std::int64_t commits = 0;
  std::int64_t segments = 0;
  /// Of them, those in quarantine, whose rows were left out.
  std::int64_t quarantined_segments = 0;
  /// As files.
  std::int64_t segment_bytes = 0;
  std::int64_t input_bytes = 0;
  std::int64_t rows = 0;
  std::int64_t output_bytes = 0;
  std::int64_t verbatim_bytes = 0;
  std::int64_t failover_rolls = 0;
  std::int64_t clusters = 0;
  std::int64_t oversized_clusters = 0;
  std::int64_t uncut_parts = 0;
  std::int64_t tail_merges = 0;
  /// Nothing for a table without a sort order.
  std::optional<std::int64_t> overlap_depth_max;
  /// Of each file, in no order.
  std::vector<std::int64_t> file_bytes;

  std::int64_t files() const { return static_cast<std::int64_t>(file_bytes.size()); }
};

/// One iteration, and its commit (of several that share one, all but one count none).
ShiftFigures FiguresOf(const PlannedIteration& iteration,
                       const WrittenIteration& written);

void Add(const ShiftFigures& figures, ShiftFigures& sum);

/// The same figures as metrics, labelled by table: firn_shift_planner_* of the plans,
/// firn_shift_* of all else. Thread-safe.
class ShiftMetrics {
 public:
  /// `registry` must outlive the metrics.
  ShiftMetrics(metrics::Registry& registry, const std::string& table);

  void Count(const ShiftFigures& iteration);
  /// An iteration was in vain: another planner committed first.
  void CountSuperseded() { superseded_.Increment(); }

 private:
  metrics::Counter& commits_;
  metrics::Counter& superseded_;
  metrics::Counter& segments_;
  metrics::Counter& input_bytes_;
  metrics::Counter& rows_;
  metrics::Counter& output_bytes_;
  metrics::Counter& verbatim_bytes_;
  metrics::Counter& failover_rolls_;
  metrics::Counter& clusters_;
  metrics::Counter& oversized_clusters_;
  metrics::Counter& uncut_parts_;
  metrics::Counter& quarantined_segments_;
  metrics::Counter& tail_merges_;
  metrics::Gauge& overlap_depth_;
  metrics::Histogram& file_bytes_;
};

}  // namespace firn::shift
