#include "firn/jobs/dead_letter_counts.h"

#include <vector>

#include <fmt/ranges.h>

#include "firn/jobs/seconds.h"

namespace firn::jobs {
namespace {

/// "3 malformed, 1 unknown_column"
std::string ReasonsText(const sources::ReasonCounts& counts) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sources::kReasonClassNames.size(); ++i) {
    const std::int64_t count = counts.Of(static_cast<sources::ReasonClass>(i));
    if (count == 0) continue;
    parts.push_back(fmt::format("{} {}", count, sources::kReasonClassNames[i]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void DeadLetterCounts::Count(const std::string& table,
                             const sources::ReasonCounts& counts) {
  if (counts.total() == 0) return;
  for (std::size_t i = 0; i < sources::kReasonClassNames.size(); ++i) {
    metrics_
        .GetCounter({.name = "firn_dead_letters_records_total",
                     .help = "Records that became dead letters, by the class of reason.",
                     .labels = {{"table", table},
                                {"reason", std::string(sources::kReasonClassNames[i])}}})
        .Increment(counts.Of(static_cast<sources::ReasonClass>(i)));
  }
  if (alarm_.records == 0) return;
  ShowAlarm(table);
  if (!IsAlarm(table, counts.total())) return;
  events_(
      EventLevel::kWarning,
      fmt::format("{0}: many records do not fit ({1} or more within {2:.0f} s; the "
                  "last: {3}); 'firn dead-letters show {0}' shows them once they are "
                  "shifted",
                  table, alarm_.records, Seconds(alarm_.interval), ReasonsText(counts)));
}

void DeadLetterCounts::ShowAlarm(const std::string& name) {
  const auto read = [&runtime = runtime_, interval = alarm_.interval, state = state_,
                     name] {
    MutexLock lock(state->mutex);
    const std::optional<BootTime>& alarmed = state->tables[name].alarmed;
    return alarmed && runtime.SinceBoot() - *alarmed < 2 * interval ? 1.0 : 0.0;
  };
  metrics_.ReadGauge({.name = "firn_dead_letters_alarm",
                      .help = "1 while more dead letters come than dead_letters.alarm_*.",
                      .labels = {{"table", name}}},
                     read);
}

bool DeadLetterCounts::IsAlarm(const std::string& name, std::int64_t records) {
  MutexLock lock(state_->mutex);
  const BootTime now = runtime_.SinceBoot();
  Table& table = state_->tables[name];
  if (table.records == 0 || now - table.since >= alarm_.interval) {
    table.records = 0;
    table.since = now;
  }
  const bool was_over = table.records >= alarm_.records;
  table.records += records;
  if (was_over || table.records < alarm_.records) return false;
  table.alarmed = now;
  return true;
}

}  // namespace firn::jobs
