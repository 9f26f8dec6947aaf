#include "firn/jobs/shift_loop.h"

#include <algorithm>
#include <utility>

#include "firn/core/backoff.h"
#include "firn/jobs/seconds.h"

namespace firn::jobs {
namespace {

constexpr Backoff kFailureBackoff = {.first = std::chrono::seconds(2),
                                     .max = std::chrono::minutes(2)};
/// What others write is not looked for more often.
constexpr Duration kLookIntervalMin = std::chrono::seconds(1);

}  // namespace

ShiftPermits::ShiftPermits(Runtime& runtime, int count)
    : permits_(runtime, static_cast<std::size_t>(count)) {
  for (int i = 0; i < count; ++i) permits_.Push(0);
}

ShiftLoop::ShiftLoop(const Environment& environment, std::string table,
                     std::unique_ptr<shift::TableShift> shift, ShiftTrigger trigger,
                     std::function<Result<iceberg::TableMetadata>()> load)
    : environment_(environment),
      table_(std::move(table)),
      shift_(std::move(shift)),
      trigger_(trigger),
      load_(std::move(load)),
      uncommitted_gauge_(environment_.metrics.GetGauge(
          {.name = "firn_wal_uncommitted_bytes",
           .help = "Size of the segments that are not in the table.",
           .labels = {{"table", table_}}})),
      last_success_(environment_.metrics.GetGauge(
          {.name = "firn_shift_last_success_timestamp_seconds",
           .help = "When the table last held all that was to be shifted.",
           .labels = {{"table", table_}}})),
      failed_(environment_.metrics.GetCounter(
          {.name = "firn_shift_failures_total",
           .help = "Shifts that failed, to be tried again.",
           .labels = {{"table", table_}}})),
      mutex_(environment_.runtime),
      changed_(environment_.runtime),
      thread_(environment_.runtime, "shift", [this] { Run(); }) {}

ShiftLoop::~ShiftLoop() {
  BeginStop();
  thread_.Join();
}

void ShiftLoop::OnSegment(std::int64_t bytes) {
  MutexLock lock(mutex_);
  if (bytes_ == 0) since_ = environment_.runtime.SinceBoot();
  bytes_ += bytes;
  SetUncommitted(uncommitted_bytes_ + bytes);
  changed_.NotifyOne();
}

std::int64_t ShiftLoop::uncommitted_bytes() {
  MutexLock lock(mutex_);
  return uncommitted_bytes_;
}

void ShiftLoop::SetUncommitted(std::int64_t bytes) {
  uncommitted_bytes_ = bytes;
  uncommitted_gauge_.Set(static_cast<double>(bytes));
}

void ShiftLoop::BeginStop() {
  stop_.RequestStop();
  MutexLock lock(mutex_);
  changed_.NotifyAll();
}

void ShiftLoop::OnOutcome() {
  MutexLock lock(mutex_);
  has_outcome_ = true;
  changed_.NotifyAll();
}

void ShiftLoop::Run() {
  for (Step step = AwaitStep(); step != Step::kStop; step = AwaitStep()) {
    if (step == Step::kSettle) {
      Settle();
      continue;
    }
    if (step == Step::kLook) {
      const Result<bool> is_due = Look();
      if (!is_due.ok()) OnFailed(is_due.status());
      if (is_due.ok() && !*is_due) TidyUpIfDue();
      if (!is_due.ok() || !*is_due) continue;
    }
    Shift();
  }
  Finish();
}

bool ShiftLoop::IsDue(BootTime now) const {
  if (next_ == shift::ShiftNext::kAdvance) return true;
  return has_place_ && (bytes_ >= trigger_.start_bytes ||
                        (bytes_ > 0 && now >= since_ + trigger_.max_age));
}

BootTime ShiftLoop::NextDue() const {
  if (retry_at_) return *retry_at_;
  if (bytes_ == 0) return look_at_;
  const BootTime due = since_ + trigger_.max_age;
  return next_ == shift::ShiftNext::kDone ? std::min(look_at_, due) : due;
}

ShiftLoop::Step ShiftLoop::AwaitStep() {
  MutexLock lock(mutex_);
  while (!stop_.token().stop_requested()) {
    if (std::exchange(has_outcome_, false)) return Step::kSettle;
    const BootTime now = environment_.runtime.SinceBoot();
    const bool may_begin = !retry_at_ || now >= *retry_at_;
    // After a failure the table is looked at first: others may have dropped it.
    if (may_begin && retry_at_) return Step::kLook;
    if (may_begin && IsDue(now)) return Step::kShift;
    const bool is_idle = next_ == shift::ShiftNext::kDone;
    if (may_begin && is_idle && now >= look_at_) return Step::kLook;
    if (is_idle || (has_place_ && bytes_ > 0)) {
      changed_.WaitFor(mutex_, NextDue() - now);
    } else {
      // Nothing to do before an outcome is known, or a segment.
      changed_.Wait(mutex_);
    }
  }
  return Step::kStop;
}

Result<bool> ShiftLoop::Look() {
  FIRN_ASSIGN_OR_RETURN(iceberg::TableMetadata metadata, load_());
  FIRN_ASSIGN_OR_RETURN(const shift::WalBacklog backlog,
                        shift_->FindBacklog(std::move(metadata)));
  const Duration age =
      backlog.since ? std::max(environment_.runtime.Now() - *backlog.since, Duration(0))
                    : Duration(0);
  MutexLock lock(mutex_);
  SetUncommitted(backlog.bytes);
  retry_at_ = std::nullopt;
  look_at_ = environment_.runtime.SinceBoot() +
             std::max(trigger_.max_age - age, kLookIntervalMin);
  const bool is_due = backlog.segments > 0 &&
                      (backlog.bytes >= trigger_.start_bytes || age >= trigger_.max_age);
  if (!is_due) failures_ = 0;
  return is_due;
}

void ShiftLoop::Shift() {
  if (!environment_.permits.Take()) return;
  {
    MutexLock lock(mutex_);
    if (in_flight_bytes_ == 0) begun_at_ = environment_.runtime.SinceBoot();
    in_flight_bytes_ += std::exchange(bytes_, 0);
  }
  const Status advanced = shift_->Advance(stop_.token(), *this);
  environment_.permits.GiveBack();
  if (!advanced.ok()) return GiveUp(advanced);
  Settle();
}

void ShiftLoop::Settle() {
  const Result<shift::ShiftProgress> progress = shift_->Settle();
  if (!progress.ok()) return GiveUp(progress.status());
  {
    MutexLock lock(mutex_);
    next_ = progress->next;
    has_place_ = progress->has_place;
    const std::int64_t landed_bytes = progress->report.figures.segment_bytes;
    if (landed_bytes > 0) failures_ = 0;
    // Others' segments may be among them, which count only since somebody looked.
    in_flight_bytes_ = std::max<std::int64_t>(in_flight_bytes_ - landed_bytes, 0);
    SetUncommitted(std::max(uncommitted_bytes_ - landed_bytes, bytes_));
  }
  Tell(progress->report);
  if (progress->next == shift::ShiftNext::kDone) return OnDrained();
  TidyUpIfDue();
}

void ShiftLoop::OnDrained() {
  {
    MutexLock lock(mutex_);
    failures_ = 0;
    retry_at_ = std::nullopt;
    in_flight_bytes_ = 0;
    // What came since the last shift began.
    SetUncommitted(bytes_);
    look_at_ = environment_.runtime.SinceBoot() + trigger_.max_age;
  }
  last_success_.Set(Seconds(environment_.runtime.Now().time_since_epoch()));
  TidyUp();
}

void ShiftLoop::Tell(const shift::ShiftReport& report) {
  const shift::ShiftFigures& figures = report.figures;
  const Duration duration = environment_.runtime.SinceBoot() - begun_at_;
  if (figures.segments > 0) {
    environment_.events(
        EventLevel::kInfo,
        fmt::format("{}: shifted {} rows of {} segments into {} files in {:.1f} s",
                    table_, figures.rows, figures.segments, figures.files(),
                    Seconds(duration)));
  }
  for (const shift::JudgedHole& judged : report.holes) {
    environment_.events(
        EventLevel::kWarning,
        fmt::format(
            "{}: shard {} waits for segment {}, which is missing; 'firn shift {}' "
            "says more",
            table_, judged.hole.shard, judged.hole.missing, table_));
  }
}

void ShiftLoop::Finish() {
  const Result<shift::ShiftReport> last = shift_->Finish();
  if (last.ok()) return Tell(*last);
  if (IsError(last.status(), ErrorKind::kCancelled)) return;
  environment_.events(EventLevel::kWarning,
                      fmt::format("{}: what was to be committed last is not known to be "
                                  "in the table; the next shift finds out: {}",
                                  table_, ErrorText(last.status())));
}

void ShiftLoop::GiveUp(const Status& reason) {
  // What was submitted before it failed may land all the same; of a commit that failed
  // the reason tells already.
  const Result<shift::ShiftReport> last = shift_->Finish();
  if (last.ok()) Tell(*last);
  {
    MutexLock lock(mutex_);
    next_ = shift::ShiftNext::kDone;
    has_place_ = true;
    has_outcome_ = false;
    bytes_ += std::exchange(in_flight_bytes_, 0);
  }
  OnFailed(reason);
}

/// Segments are kept for some time after the shift that took them, perhaps the last one.
void ShiftLoop::TidyUpIfDue() {
  const BootTime now = environment_.runtime.SinceBoot();
  if (now - tidied_at_ >= trigger_.tidy_interval) TidyUp();
}

/// What cannot be tidied today can be tomorrow.
void ShiftLoop::TidyUp() {
  tidied_at_ = environment_.runtime.SinceBoot();
  Status tidied = shift_->MergeManifests().status();
  if (tidied.ok()) tidied = shift_->Clean(stop_.token()).status();
  if (tidied.ok()) tidied = DeleteAbandoned();
  if (tidied.ok() || IsError(tidied, ErrorKind::kCancelled)) return;
  environment_.events(EventLevel::kWarning,
                      fmt::format("{}: manifests, drained segments and abandoned files "
                                  "are tidied later: {}",
                                  table_, ErrorText(tidied)));
}

Status ShiftLoop::DeleteAbandoned() {
  FIRN_ASSIGN_OR_RETURN(const std::int64_t deleted,
                        shift_->DeleteAbandoned(stop_.token()));
  if (deleted > 0) {
    environment_.events(
        EventLevel::kInfo,
        fmt::format("{}: deleted {} data files of batches that were never committed",
                    table_, deleted));
  }
  return Status::OK();
}

void ShiftLoop::OnFailed(const Status& reason) {
  if (IsError(reason, ErrorKind::kCancelled)) return;
  failed_.Increment();
  Duration wait{0};
  {
    MutexLock lock(mutex_);
    wait = WaitAfter(++failures_, kFailureBackoff, environment_.runtime);
    retry_at_ = environment_.runtime.SinceBoot() + wait;
  }
  environment_.events(EventLevel::kWarning,
                      fmt::format("{}: not shifted, tried again in {:.1f} s: {}", table_,
                                  Seconds(wait), ErrorText(reason)));
}

}  // namespace firn::jobs
