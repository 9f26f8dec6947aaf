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

/// Nobody watches a shift of a server chunk by chunk: metrics tell how it goes.
class SilentObserver : public shift::ShiftObserver {
 public:
  void OnPlanned(const shift::PlannedIteration&) override {}
  void OnChunk(const planner::Chunk&, const shift::ChunkFiles&) override {}
};

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

void ShiftLoop::Run() {
  while (true) {
    const Step step = AwaitStep();
    if (step == Step::kStop) return;
    if (step == Step::kLook) {
      const Result<bool> is_due = Look();
      if (!is_due.ok()) OnFailed(is_due.status());
      if (is_due.ok() && !*is_due) TidyUpIfDue();
      if (!is_due.ok() || !*is_due) continue;
    }
    Shift();
  }
}

bool ShiftLoop::IsDue(BootTime now) const {
  return bytes_ >= trigger_.start_bytes ||
         (bytes_ > 0 && now >= since_ + trigger_.max_age);
}

BootTime ShiftLoop::NextDue() const {
  if (retry_at_) return *retry_at_;
  if (bytes_ == 0) return look_at_;
  return std::min(look_at_, since_ + trigger_.max_age);
}

ShiftLoop::Step ShiftLoop::AwaitStep() {
  MutexLock lock(mutex_);
  while (!stop_.token().stop_requested()) {
    const BootTime now = environment_.runtime.SinceBoot();
    const bool may_begin = !retry_at_ || now >= *retry_at_;
    // After a failure the table is looked at first: others may have dropped it.
    if (may_begin && retry_at_) return Step::kLook;
    if (may_begin && IsDue(now)) return Step::kShift;
    if (may_begin && now >= look_at_) return Step::kLook;
    changed_.WaitFor(mutex_, NextDue() - now);
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
  std::int64_t bytes = 0;
  {
    MutexLock lock(mutex_);
    bytes = std::exchange(bytes_, 0);
  }
  const BootTime begin = environment_.runtime.SinceBoot();
  const Result<shift::ShiftReport> report = RunShift();
  environment_.permits.GiveBack();
  if (report.ok()) {
    return OnShifted(*report, environment_.runtime.SinceBoot() - begin);
  }
  {
    MutexLock lock(mutex_);
    bytes_ += bytes;
  }
  OnFailed(report.status());
}

Result<shift::ShiftReport> ShiftLoop::RunShift() {
  SilentObserver observer;
  const StopToken stop = stop_.token();
  return shift_->Run(stop, observer);
}

void ShiftLoop::OnShifted(const shift::ShiftReport& report, Duration duration) {
  {
    MutexLock lock(mutex_);
    failures_ = 0;
    retry_at_ = std::nullopt;
    // What came since the shift began.
    SetUncommitted(bytes_);
    look_at_ = environment_.runtime.SinceBoot() + trigger_.max_age;
  }
  last_success_.Set(Seconds(environment_.runtime.Now().time_since_epoch()));
  const shift::ShiftFigures& figures = report.figures;
  if (figures.commits > 0) {
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
  TidyUp();
}

/// Segments are kept for some time after the shift that took them, perhaps the last one.
void ShiftLoop::TidyUpIfDue() {
  const BootTime now = environment_.runtime.SinceBoot();
  if (now - tidied_at_ >= trigger_.tidy_interval) TidyUp();
}

/// What cannot be tidied today can be tomorrow.
void ShiftLoop::TidyUp() {
  tidied_at_ = environment_.runtime.SinceBoot();
  const Status merged = shift_->MergeManifests().status();
  const Status cleaned = merged.ok() ? shift_->Clean(stop_.token()).status() : merged;
  if (cleaned.ok()) return;
  environment_.events(EventLevel::kWarning,
                      fmt::format("{}: manifests and drained segments are tidied after "
                                  "the next shift: {}",
                                  table_, ErrorText(cleaned)));
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
