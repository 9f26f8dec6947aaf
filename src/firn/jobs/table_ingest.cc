#include "firn/jobs/table_ingest.h"

#include <algorithm>
#include <utility>

#include "firn/core/backoff.h"
#include "firn/jobs/seconds.h"

namespace firn::jobs {
namespace {

/// After a shard has failed, for the next one.
constexpr Backoff kReopenBackoff = {.first = std::chrono::seconds(1),
                                    .max = std::chrono::seconds(15)};

metrics::MetricId Id(const std::string& table, const char* name, const char* help) {
  return {.name = name, .help = help, .labels = {{"table", table}}};
}

bool IsSame(const wal::TableLayout& a, const wal::TableLayout& b) {
  return a.uuid == b.uuid && a.schema == b.schema && a.spec == b.spec &&
         a.order == b.order;
}

}  // namespace

Result<std::unique_ptr<TableIngest>> TableIngest::Start(const Environment& environment,
                                                        std::string table,
                                                        wal::TableLayout layout,
                                                        wal::TableBufferOptions options,
                                                        Shifts shifts) {
  std::unique_ptr<TableIngest> ingest(
      new TableIngest(environment, std::move(table), std::move(layout),
                      std::move(options), std::move(shifts)));
  {
    MutexLock lock(ingest->mutex_);
    FIRN_RETURN_NOT_OK(ingest->Open());
  }
  ingest->thread_ =
      Thread(environment.runtime, "ingest", [owner = ingest.get()] { owner->Run(); });
  return ingest;
}

TableIngest::TableIngest(const Environment& environment, std::string table,
                         wal::TableLayout layout, wal::TableBufferOptions options,
                         Shifts shifts)
    : environment_(environment),
      table_(std::move(table)),
      options_(std::move(options)),
      shifts_(std::move(shifts)),
      rows_(environment_.metrics.GetCounter(
          Id(table_, "firn_ingest_records_total", "Records made durable in the WAL."))),
      segments_(environment_.metrics.GetCounter(
          Id(table_, "firn_wal_segments_total", "Segments written."))),
      segment_bytes_(environment_.metrics.GetCounter(
          Id(table_, "firn_wal_segment_bytes_total", "Size of the segments written."))),
      refused_(environment_.metrics.GetCounter(
          Id(table_, "firn_ingest_refused_total",
             "Deliveries refused, to be sent again later."))),
      failures_count_(environment_.metrics.GetCounter(
          Id(table_, "firn_wal_failed_segments_total",
             "Segments given up, whose records were not acknowledged."))),
      flush_seconds_(environment_.metrics.GetHistogram(
          Id(table_, "firn_wal_flush_seconds", "Time to sort, write and sync a segment."),
          {0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30})),
      mutex_(environment_.runtime),
      changed_(environment_.runtime),
      layout_(std::make_shared<const wal::TableLayout>(std::move(layout))) {}

TableIngest::~TableIngest() { Close(); }

Status TableIngest::Open() {
  FIRN_ASSIGN_OR_RETURN(
      auto rows, wal::TableBuffer::Make(environment_.runtime, environment_.memory,
                                        environment_.wal_store, *layout_, options_));
  buffer_ = std::make_shared<OpenBuffer>(OpenBuffer{.rows = std::move(rows)});
  return Status::OK();
}

std::shared_ptr<const wal::TableLayout> TableIngest::layout() {
  MutexLock lock(mutex_);
  return layout_;
}

Status TableIngest::TryAppend(wal::Delivery delivery,
                              const std::shared_ptr<const wal::TableLayout>& layout) {
  const auto refuse = [&](const Status& why) {
    if (delivery.acknowledge) delivery.acknowledge(why);
    return why;
  };
  MutexLock lock(mutex_);
  const Result<Buffer> buffer = BufferFor(layout);
  if (!buffer.ok()) return refuse(buffer.status());
  const Status status = (*buffer)->rows->TryAppend(std::move(delivery));
  if (IsError(status, ErrorKind::kUnavailable)) refused_.Increment();
  changed_.NotifyOne();
  return status;
}

Result<TableIngest::Buffer> TableIngest::BufferFor(
    const std::shared_ptr<const wal::TableLayout>& layout) {
  const Status may_take = CheckMayTake();
  if (!may_take.ok()) {
    refused_.Increment();
    return may_take;
  }
  if (layout == layout_) return buffer_;
  return Error(ErrorKind::kConflict, "{} has changed meanwhile", table_);
}

Status TableIngest::Append(wal::Delivery delivery,
                           const std::shared_ptr<const wal::TableLayout>& layout,
                           const StopToken& stop) {
  Buffer buffer;
  {
    MutexLock lock(mutex_);
    const Status found = BufferFor(layout).Value(&buffer);
    if (!found.ok()) {
      if (delivery.acknowledge) delivery.acknowledge(found);
      return found;
    }
  }
  const Status status = buffer->rows->Append(std::move(delivery), stop);
  // It may have been flushed to make room.
  Report(*buffer);
  if (!status.ok() && !IsError(status, ErrorKind::kCancelled)) GiveUp(buffer, status);
  MutexLock lock(mutex_);
  changed_.NotifyOne();
  return status;
}

Status TableIngest::CheckMayTake() {
  if (buffer_ == nullptr) {
    return Error(ErrorKind::kUnavailable, "{}: {}", table_, closed_reason_);
  }
  const std::int64_t uncommitted = shifts_.uncommitted_bytes();
  if (uncommitted <= shifts_.uncommitted_bytes_max) return Status::OK();
  return Error(ErrorKind::kUnavailable,
               "{}: the WAL holds more that is not in the table than "
               "wal.max_uncommitted_bytes ({} of {} bytes)",
               table_, uncommitted, shifts_.uncommitted_bytes_max);
}

void TableIngest::ChangeLayout(wal::TableLayout layout) {
  MutexLock lock(mutex_);
  if (IsSame(layout, *layout_)) return;
  layout_ = std::make_shared<const wal::TableLayout>(std::move(layout));
  // After a failure the buffer is opened when its wait is over.
  if (buffer_ == nullptr) return;
  retired_.push_back(std::exchange(buffer_, nullptr));
  const Status opened = Open();
  if (!opened.ok()) {
    closed_reason_ = ErrorText(opened);
    reopen_at_ = environment_.runtime.SinceBoot() + kReopenBackoff.max;
  }
  changed_.NotifyOne();
}

void TableIngest::BeginClose() {
  MutexLock lock(mutex_);
  closing_ = true;
  changed_.NotifyOne();
}

void TableIngest::Close() {
  BeginClose();
  thread_.Join();
}

void TableIngest::Run() {
  while (true) {
    switch (AwaitStep()) {
      case Step::kFlush:
        Flush();
        break;
      case Step::kReopen:
        Reopen();
        break;
      case Step::kEndRetired:
        EndRetired();
        break;
      case Step::kClose:
        return EndAll();
    }
  }
}

TableIngest::Step TableIngest::AwaitStep() {
  MutexLock lock(mutex_);
  while (true) {
    if (closing_) return Step::kClose;
    if (!retired_.empty()) return Step::kEndRetired;
    const std::optional<BootTime> due =
        buffer_ == nullptr ? reopen_at_ : buffer_->rows->DueAt();
    const BootTime now = environment_.runtime.SinceBoot();
    if (!due) {
      changed_.Wait(mutex_);
    } else if (now < *due) {
      changed_.WaitFor(mutex_, *due - now);
    } else {
      return buffer_ == nullptr ? Step::kReopen : Step::kFlush;
    }
  }
}

void TableIngest::Flush() {
  Buffer buffer;
  {
    MutexLock lock(mutex_);
    buffer = buffer_;
  }
  if (buffer == nullptr) return;
  const BootTime begin = environment_.runtime.SinceBoot();
  const Status flushed = buffer->rows->FlushIfDue();
  if (!flushed.ok()) return GiveUp(buffer, flushed);
  flush_seconds_.Observe(Seconds(environment_.runtime.SinceBoot() - begin));
  Report(*buffer);
}

void TableIngest::Reopen() {
  Status opened;
  {
    MutexLock lock(mutex_);
    opened = Open();
  }
  if (!opened.ok()) GiveUp(nullptr, opened);
}

void TableIngest::EndRetired() {
  std::vector<Buffer> retired;
  {
    MutexLock lock(mutex_);
    retired = std::exchange(retired_, {});
  }
  for (const Buffer& buffer : retired) End(*buffer);
}

void TableIngest::EndAll() {
  {
    MutexLock lock(mutex_);
    if (buffer_ != nullptr) retired_.push_back(std::exchange(buffer_, nullptr));
    closed_reason_ = "firn is stopping";
  }
  EndRetired();
}

void TableIngest::End(OpenBuffer& buffer) {
  const Status closed = buffer.rows->Close();
  Report(buffer);
  if (closed.ok()) return;
  environment_.events(EventLevel::kWarning,
                      fmt::format("{}: {}", table_, ErrorText(closed)));
}

void TableIngest::Report(OpenBuffer& buffer) {
  wal::TableBufferCounts before;
  wal::TableBufferCounts now;
  {
    MutexLock lock(mutex_);
    now = buffer.rows->counts();
    before = std::exchange(buffer.reported, now);
    if (now.segments > before.segments) failures_ = 0;
  }
  if (now.segments == before.segments) return;
  const std::int64_t bytes = now.segment_bytes - before.segment_bytes;
  rows_.Increment(now.rows - before.rows);
  segments_.Increment(now.segments - before.segments);
  segment_bytes_.Increment(bytes);
  shifts_.segment_done(bytes);
}

void TableIngest::GiveUp(const Buffer& buffer, const Status& reason) {
  failures_count_.Increment();
  Duration wait{0};
  {
    MutexLock lock(mutex_);
    // Another layout may have replaced it meanwhile.
    if (buffer_ != buffer) return;
    buffer_ = nullptr;
    wait = WaitAfter(++failures_, kReopenBackoff, environment_.runtime);
    reopen_at_ = environment_.runtime.SinceBoot() + wait;
    closed_reason_ = "the store of the WAL fails: " + ErrorText(reason);
  }
  environment_.events(
      EventLevel::kWarning,
      fmt::format("{}: records were refused, another shard is begun in {:.1f} s: {}",
                  table_, Seconds(wait), ErrorText(reason)));
}

}  // namespace firn::jobs
