#include "firn/cli/stuck_reasons.h"

#include <algorithm>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include "firn/cli/units.h"
#include "firn/cli/waiting_text.h"

namespace firn::cli {
namespace {

/// Longer than any shift is begun late by a process that runs.
constexpr Duration kLateMin = std::chrono::seconds(60);
constexpr std::size_t kNamedMax = 5;

std::string TimeText(WallTime time) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch());
  return fmt::format("{:%Y-%m-%d %H:%M:%S}Z",
                     fmt::gmtime(static_cast<std::time_t>(seconds.count())));
}

/// "12 s ago, at 2026-01-02 03:04:05Z"
std::string Ago(WallTime time, WallTime now) {
  return fmt::format("{} ago, at {}", FormatDuration(std::max(now - time, Duration(0))),
                     TimeText(time));
}

class Reasons {
 public:
  explicit Reasons(const StuckState& state) : state_(state), found_(state.obstacles) {}

  std::vector<StuckReason> Find() {
    AddHoles();
    AddWaiting();
    AddBackPressure();
    AddUncommitted();
    AddOthers();
    if (found_.empty()) AddNothing();
    AddQuarantined();
    AddLetters();
    return std::move(found_);
  }

 private:
  void Add(const char* kind, std::string text) {
    found_.push_back({.kind = kind, .text = std::move(text)});
  }

  void AddHoles() {
    for (const shift::JudgedHole& hole : state_.holes) Add("hole", HoleText(hole) + ".");
  }

  void AddWaiting() {
    for (const wal::WaitingShard& shard : state_.waiting) {
      Add("source_gap", WaitingText(shard) + ".");
    }
  }

  void AddBackPressure() {
    const shift::WalBacklog& backlog = state_.backlog;
    if (backlog.bytes <= state_.limits.uncommitted_bytes_max) return;
    Add("back_pressure",
        fmt::format("Records are refused (503): the log holds {} that are not in the "
                    "table, more than wal.max_uncommitted_bytes ({}). They are taken "
                    "again once a shift has made room.",
                    FormatBytes(backlog.bytes),
                    FormatBytes(state_.limits.uncommitted_bytes_max)));
  }

  /// "1,200 rows in 3 segments (4.5 MiB)"
  std::string BacklogText() const {
    const shift::WalBacklog& backlog = state_.backlog;
    const std::string segments =
        fmt::format("{} ({})", FormatCounted(backlog.segments, "segment"),
                    FormatBytes(backlog.bytes));
    if (!state_.rows) return segments;
    return fmt::format("{} in {}", FormatCounted(*state_.rows, "row"), segments);
  }

  std::string LastCommitText() const {
    if (!state_.last_commit) return "No commit of this log is known.";
    return fmt::format("The last commit of this log was snapshot {}, {}.",
                       state_.last_commit->snapshot,
                       Ago(state_.last_commit->time, state_.now));
  }

  void AddUncommitted() {
    const shift::WalBacklog& backlog = state_.backlog;
    if (backlog.segments == 0) return;
    const StuckLimits& limits = state_.limits;
    const Duration age = std::max(state_.now - *backlog.since, Duration(0));
    const std::string what =
        fmt::format("{} {} in the log and not in the table", BacklogText(), Verb());
    if (backlog.bytes < limits.start_bytes && age < limits.max_age) {
      return Add("not_due",
                 fmt::format("{}. 'firn serve' begins a shift at {} "
                             "(shift.start_bytes), or once the oldest segment is {} old "
                             "(shift.max_age; now {}).",
                             what, FormatBytes(limits.start_bytes),
                             FormatDuration(limits.max_age), FormatDuration(age)));
    }
    if (age < limits.max_age + kLateMin) {
      return Add("due",
                 fmt::format("{}; the oldest was written {}. A shift is due, and {}. {}",
                             what, Ago(*backlog.since, state_.now),
                             IsHeld() ? "meets what is said above"
                                      : "begins or runs now if 'firn serve' does",
                             LastCommitText()));
    }
    Add("overdue",
        fmt::format("{}; the oldest was written {}, and should have been shifted {} ago. "
                    "{} {}",
                    what, Ago(*backlog.since, state_.now),
                    FormatDuration(age - limits.max_age), LastCommitText(),
                    OverdueAdvice()));
  }

  const char* Verb() const {
    const std::int64_t count = state_.rows.value_or(state_.backlog.segments);
    return count == 1 ? "is" : "are";
  }

  bool IsHeld() const {
    return !state_.obstacles.empty() || !state_.holes.empty() || !state_.waiting.empty();
  }

  std::string OverdueAdvice() const {
    if (IsHeld()) return "What is said above keeps them there.";
    return fmt::format(
        "Nothing in table or log keeps them there: either no 'firn serve' "
        "runs, or its shifts fail, and its log says why. 'firn shift {}' "
        "tries it here and now.",
        state_.table);
  }

  void AddOthers() {
    if (state_.other_commits == 0 || state_.backlog.segments == 0) return;
    Add("other_commits",
        fmt::format("Others have made {} to the table since. A commit that meets one is "
                    "tried again.",
                    FormatCounted(state_.other_commits, "commit")));
  }

  void AddQuarantined() {
    std::vector<std::string> names;
    std::int64_t count = 0;
    for (const wal::ShardListing& shard : state_.shards) {
      for (const wal::SegmentObject& segment : shard.segments) {
        if (!segment.quarantined) continue;
        ++count;
        if (names.size() == kNamedMax) continue;
        names.push_back(fmt::format("{}/{}", segment.name.shard, segment.name.sequence));
      }
    }
    if (count == 0) return;
    Add("quarantined",
        fmt::format("{} in quarantine, whose rows are in no table: {}{}. 'firn wal "
                    "release' brings one back as long as no shift has passed it.",
                    count == 1 ? "1 segment is" : FormatCount(count) + " segments are",
                    fmt::join(names, ", "), count > std::ssize(names) ? ", ..." : ""));
  }

  void AddLetters() {
    if (state_.waiting_letters == 0) return;
    Add("dead_letters",
        fmt::format("Its dead letters wait, too ({}): see 'firn why-stuck "
                    "{}__dead_letters'.",
                    FormatCounted(state_.waiting_letters, "segment"), state_.table));
  }

  void AddNothing() {
    if (!state_.last_commit) {
      return Add("nothing", "Nothing: the log holds no rows of this table.");
    }
    Add("nothing", fmt::format("Nothing: all durable rows are in snapshot {}, committed "
                               "{}.",
                               state_.last_commit->snapshot,
                               Ago(state_.last_commit->time, state_.now)));
  }

  const StuckState& state_;
  std::vector<StuckReason> found_;
};

}  // namespace

std::vector<StuckReason> FindReasons(const StuckState& state) {
  return Reasons(state).Find();
}

std::vector<StuckReason> FindReasonsWithoutCatalog(const Status& failure,
                                                   const std::vector<LoggedTable>& logged,
                                                   WallTime now) {
  std::vector<StuckReason> reasons;
  reasons.push_back(
      {.kind = "catalog_down",
       .text = fmt::format("The catalog does not answer: {}. Until it does nothing is "
                           "shifted, and which rows are in the table cannot be told. "
                           "What is durable stays in the log, and tables that were open "
                           "go on taking records.",
                           ErrorText(failure))});
  for (const LoggedTable& table : logged) {
    reasons.push_back(
        {.kind = "logged",
         .text = fmt::format(
             "The log holds {} ({}) of the table with id {}: the oldest "
             "written {}; the newest {}.",
             FormatCounted(table.segments, "segment"), FormatBytes(table.bytes),
             table.uuid, Ago(table.first_written, now), Ago(table.last_written, now))});
  }
  if (logged.empty()) {
    reasons.push_back({.kind = "nothing_logged", .text = "The log holds no segment."});
  }
  return reasons;
}

}  // namespace firn::cli
