#include "firn/commit/commit_metrics.h"

namespace firn::commit {
namespace {

metrics::MetricId Id(const std::string& table, const char* outcome) {
  return {.name = "firn_commit_attempts_total",
          .help = "Attempts to commit, by what the catalog said.",
          .labels = {{"table", table}, {"outcome", outcome}}};
}

}  // namespace

CommitMetrics::CommitMetrics(metrics::Registry& registry, const std::string& table)
    : committed_(registry.GetCounter(Id(table, "committed"))),
      conflict_(registry.GetCounter(Id(table, "conflict"))),
      unknown_(registry.GetCounter(Id(table, "unknown"))),
      unavailable_(registry.GetCounter(Id(table, "unavailable"))),
      refused_(registry.GetCounter(Id(table, "refused"))) {}

void CommitMetrics::Count(const Status& outcome) {
  if (outcome.ok()) return committed_.Increment();
  if (IsError(outcome, ErrorKind::kConflict)) return conflict_.Increment();
  if (IsError(outcome, ErrorKind::kOutcomeUnknown)) return unknown_.Increment();
  if (IsError(outcome, ErrorKind::kUnavailable)) return unavailable_.Increment();
  refused_.Increment();
}

}  // namespace firn::commit
