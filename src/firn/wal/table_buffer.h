#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/core/memory_budget.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/wal/segment_builder.h"
#include "firn/wal/shard_writer.h"

namespace firn::wal {

/// Told once, in order of the appends: the segment in which rows and range are durable,
/// or why they are not. A delivery that Append refuses is told too, and so is what a
/// buffer still holds when it is destroyed. Called on the thread that appends, flushes or
/// destroys; must not call the buffer.
using Acknowledgement = std::function<void(const Result<SegmentName>&)>;

/// What a source hands over at once.
struct Delivery {
  /// Columns as in ToArrowSchema(layout.schema). Null = only the range advances.
  std::shared_ptr<arrow::RecordBatch> rows;
  /// What was consumed of a source partition; nothing = the rows have no source.
  std::optional<SourceRange> range;
  /// Offset of each row, inside `range`. Null = range->first and on, one after another.
  std::shared_ptr<arrow::Int64Array> offsets;
  /// May be empty.
  Acknowledgement acknowledge;

  bool has_rows() const;
};

struct TableBufferOptions {
  /// Size in memory, and age of the oldest row, at which the buffer is flushed.
  std::int64_t flush_bytes = 32LL << 20;
  Duration flush_age = std::chrono::seconds(1);
  /// Age at which ranges without any rows are written all the same.
  Duration idle_interval = std::chrono::minutes(10);
  /// Called before each segment is written: makes durable elsewhere what must be so
  /// before these rows are. If it fails, the flush fails. Must not call the buffer. May
  /// be empty.
  std::function<Status()> before_segment;
  SegmentOptions segment;
  ShardWriterOptions shard;
};

struct TableBufferCounts {
  std::int64_t segments = 0;
  std::int64_t segment_bytes = 0;
  std::int64_t rows = 0;

  bool operator==(const TableBufferCounts&) const = default;
};

/// The buffer in which one process collects the rows of one table; everything that waits
/// goes into one segment (group commit).
///
/// Thread-safe, but deliveries of one source partition come from one thread at a time.
/// Nothing is durable before its acknowledgement. After a flush has failed
/// every call but TryAppend fails with the same error: the owner opens another buffer,
/// and lets sources read again from what was acknowledged.
class TableBuffer {
 public:
  /// The three references must outlive the buffer; `store` is the WAL root.
  static Result<std::unique_ptr<TableBuffer>> Make(Runtime& runtime, MemoryBudget& memory,
                                                   storage::ObjectStore& store,
                                                   TableLayout layout,
                                                   TableBufferOptions options);
  ~TableBuffer();

  /// Waits for memory, and for a flush if the buffer is full.
  ///
  /// A delivery of more than a quarter of `flush_bytes` is cut, so that segments keep
  /// their size; its acknowledgement is told when the last part is durable. Ranges of one
  /// source are joined; one that does not continue what is buffered goes
  /// into a segment of its own. Invalid, and nothing is buffered, if the delivery
  /// contradicts itself or the layout.
  Status Append(Delivery delivery, const StopToken& stop);

  /// As Append, but never waits and never flushes: for sources that can be told to come
  /// again. Unavailable, and nothing is taken, if the buffer is full or has failed, or
  /// there is no memory; CapacityError if there never is so much. The delivery is not
  /// cut: all of it lies in one segment. Invalid if it has a range.
  Status TryAppend(Delivery delivery);

  /// When FlushIfDue will flush: a time that has passed if the buffer is full, nothing if
  /// it is empty.
  std::optional<BootTime> DueAt();

  /// Flushes if the oldest row (or range without rows) is old enough, or the buffer is
  /// full. To be called often by whoever owns the buffer.
  Status FlushIfDue();

  /// Writes the buffered rows as one segment, and acknowledges. Ranges without rows stay
  /// for the next one.
  Status Flush();

  /// Writes what is left, ranges without rows too, and closes the shard. Nothing may be
  /// appended afterwards.
  Status Close();

  TableBufferCounts counts();

 private:
  /// What the next segment will hold. `ranges` may have no rows, `rows` have some.
  struct Pending {
    std::vector<SegmentRows> rows;
    std::vector<SourceRange> ranges;
    std::vector<Acknowledgement> acknowledgements;
    std::vector<MemoryReservation> memory;
    std::int64_t bytes = 0;
    std::int64_t row_count = 0;
    BootTime since;
  };

  TableBuffer(Runtime& runtime, MemoryBudget& memory, SegmentBuilder builder,
              ShardWriter writer, TableBufferOptions options);

  /// `parts` is the whole delivery at first; what the buffer took is moved out.
  Status AppendParts(std::vector<Delivery>& parts, const StopToken& stop);
  Status AppendPart(Delivery& part, const StopToken& stop);
  Status TryAppendWhole(Delivery& delivery);
  Result<MemoryReservation> Reserve(std::int64_t bytes, const StopToken& stop);
  Status FlushUnlessContinued(const SourceRange& range);
  /// True if the buffer is full now.
  Result<bool> Add(Delivery& part, std::int64_t bytes, MemoryReservation memory);
  /// REQUIRES: mutex_ is held.
  void AddLocked(Delivery& part, std::int64_t bytes, MemoryReservation memory);
  bool IsDue();
  Status FlushPending(bool with_ranges_alone);
  Result<SegmentName> Write(const Pending& pending);
  /// If the segment failed, nothing goes on: returns what was appended meanwhile.
  Pending Settle(const Result<SegmentName>& segment);

  Runtime& runtime_;
  MemoryBudget& memory_;
  const types::Schema schema_;
  const TableBufferOptions options_;

  /// Held during a flush, so that segments and acknowledgements keep their order. Taken
  /// before mutex_.
  Mutex flush_mutex_;
  SegmentBuilder builder_;  // guarded by flush_mutex_
  ShardWriter writer_;      // guarded by flush_mutex_

  Mutex mutex_;
  Pending pending_;           // guarded by mutex_
  Status state_;              // guarded by mutex_
  TableBufferCounts counts_;  // guarded by mutex_
};

}  // namespace firn::wal
