#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/core/memory_budget.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/jobs/events.h"
#include "firn/metrics/metrics.h"
#include "firn/storage/object_store.h"
#include "firn/wal/segment.h"
#include "firn/wal/table_buffer.h"

namespace firn::jobs {

/// Takes rows for one table: the buffer that they wait in, and the thread that flushes it
/// at its size or age (group commit: all that waits becomes one segment).
///
/// A flush that fails tells all that waited in it, and closes its shard; another is begun
/// after a wait that grows, and until then nothing is taken. Thread-safe.
class TableIngest {
 public:
  /// All must outlive the ingest; `wal_store` is the WAL root.
  struct Environment {
    Runtime& runtime;
    MemoryBudget& memory;
    storage::ObjectStore& wal_store;
    metrics::Registry& metrics;
    const EventSink& events;
  };
  /// Where segments go; its functions must not call the ingest.
  struct Shifts {
    /// Told the size of each segment once it is durable.
    std::function<void(std::int64_t bytes)> segment_done;
    /// Of segments that are not in the table.
    std::function<std::int64_t()> uncommitted_bytes;
    /// Beyond it nothing is taken.
    std::int64_t uncommitted_bytes_max = 64LL << 30;
  };

  /// Invalid if rows of such a layout cannot be written. Writes nothing yet.
  static Result<std::unique_ptr<TableIngest>> Start(const Environment& environment,
                                                    std::string table,
                                                    wal::TableLayout layout,
                                                    wal::TableBufferOptions options,
                                                    Shifts shifts);
  ~TableIngest();

  /// Changes only by ChangeLayout.
  std::shared_ptr<const wal::TableLayout> layout();

  /// Takes rows whose columns are those of `layout`, without waiting; their
  /// acknowledgement comes from another thread, an error from this one too.
  ///
  /// Unavailable if they are to be sent again later: the buffer is full, there is no
  /// memory, the WAL's store fails, the WAL holds too much, or the ingest is closed.
  /// Conflict if `layout` is the table's no more.
  Status TryAppend(wal::Delivery delivery,
                   const std::shared_ptr<const wal::TableLayout>& layout);

  /// As TryAppend, but waits for memory and, if the buffer is full, for its flush; and
  /// takes deliveries with a range, those of one source from one thread at a time.
  /// Cancelled if `stop` fires first.
  Status Append(wal::Delivery delivery,
                const std::shared_ptr<const wal::TableLayout>& layout,
                const StopToken& stop);

  /// Counts a delivery that was refused before it came here.
  void CountRefused() { refused_.Increment(); }

  /// Takes rows in another layout once it returns. Those that wait are flushed as they
  /// were taken.
  void ChangeLayout(wal::TableLayout layout);

  /// Takes no more, and begins to flush what waits. Does not wait.
  void BeginClose();
  /// Waits until what was taken is durable, or its senders were told that it is not.
  void Close();

 private:
  enum class Step { kFlush, kReopen, kEndRetired, kClose };
  struct OpenBuffer {
    std::unique_ptr<wal::TableBuffer> rows;
    /// What was reported of it. Guarded by mutex_.
    wal::TableBufferCounts reported = {};
  };
  using Buffer = std::shared_ptr<OpenBuffer>;

  TableIngest(const Environment& environment, std::string table, wal::TableLayout layout,
              wal::TableBufferOptions options, Shifts shifts);

  /// REQUIRES for all three: mutex_ is held.
  Status Open();
  Status CheckMayTake();
  /// The buffer that takes rows of `layout`.
  Result<Buffer> BufferFor(const std::shared_ptr<const wal::TableLayout>& layout);
  void Run();
  Step AwaitStep();
  void Flush();
  void Reopen();
  void EndRetired();
  void EndAll();
  /// Flushes what waits in a buffer, and ends its shard.
  void End(OpenBuffer& buffer);
  /// Tells of what was made durable since it was told last.
  void Report(OpenBuffer& buffer);
  void GiveUp(const Buffer& buffer, const Status& reason);

  const Environment environment_;
  const std::string table_;
  const wal::TableBufferOptions options_;
  const Shifts shifts_;
  metrics::Counter& rows_;
  metrics::Counter& segments_;
  metrics::Counter& segment_bytes_;
  metrics::Counter& refused_;
  metrics::Counter& failures_count_;
  metrics::Histogram& flush_seconds_;

  Mutex mutex_;
  CondVar changed_;
  // All guarded by mutex_.
  std::shared_ptr<const wal::TableLayout> layout_;
  /// Null while nothing can be taken.
  Buffer buffer_;
  /// Of earlier layouts, to be flushed and ended.
  std::vector<Buffer> retired_;
  /// Why `buffer_` is null.
  std::string closed_reason_;
  BootTime reopen_at_;
  int failures_ = 0;
  bool closing_ = false;

  Thread thread_;
};

}  // namespace firn::jobs
