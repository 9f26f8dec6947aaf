#include "firn/wal/table_buffer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>

#include "firn/types/memory_bytes.h"

namespace firn::wal {
namespace {

/// Buffered rows take their memory three times: as they came, sorted, and encoded.
constexpr std::int64_t kMemoryCopies = 3;

std::shared_ptr<arrow::Int64Array> Consecutive(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(count));
  std::iota(offsets.begin(), offsets.end(), first);
  return std::make_shared<arrow::Int64Array>(
      count, arrow::Buffer::FromVector(std::move(offsets)));
}

Status CheckOffsets(const Delivery& delivery) {
  const SourceRange& range = *delivery.range;
  const arrow::Int64Array& offsets = *delivery.offsets;
  if (offsets.length() != delivery.rows->num_rows() || offsets.null_count() > 0) {
    return InvalidError("source {}: {} offsets ({} null) for {} rows", range.source,
                        offsets.length(), offsets.null_count(),
                        delivery.rows->num_rows());
  }
  for (std::int64_t row = 0; row < offsets.length(); ++row) {
    const std::int64_t offset = offsets.Value(row);
    if (offset >= range.first && offset < range.next) continue;
    return InvalidError("source {}: offset {} is outside of the range [{}, {})",
                        range.source, offset, range.first, range.next);
  }
  return Status::OK();
}

/// Numbers the rows if the source did not.
Status CompleteOffsets(Delivery& delivery) {
  const SourceRange& range = *delivery.range;
  if (range.next < range.first) {
    return InvalidError("source {}: the range [{}, {}) ends before it starts",
                        range.source, range.first, range.next);
  }
  if (!delivery.has_rows()) return Status::OK();
  if (delivery.offsets != nullptr) return CheckOffsets(delivery);
  const std::int64_t rows = delivery.rows->num_rows();
  if (rows > range.next - range.first) {
    return InvalidError("source {}: {} rows do not fit in the range [{}, {})",
                        range.source, rows, range.first, range.next);
  }
  delivery.offsets = Consecutive(range.first, rows);
  return Status::OK();
}

Status Complete(const types::Schema& schema, Delivery& delivery) {
  if (delivery.rows != nullptr) FIRN_RETURN_NOT_OK(CheckRows(schema, *delivery.rows));
  if (delivery.range) return CompleteOffsets(delivery);
  if (!delivery.has_rows())
    return InvalidError("a delivery has neither rows nor a range");
  if (delivery.offsets == nullptr) return Status::OK();
  return InvalidError("a delivery has offsets, but no range");
}

/// Size in memory, offsets included.
Result<std::int64_t> MemoryBytes(const Delivery& delivery) {
  if (!delivery.has_rows()) return 0;
  FIRN_ASSIGN_OR_RETURN(const std::int64_t bytes, types::MemoryBytes(*delivery.rows));
  if (delivery.offsets == nullptr) return bytes;
  return bytes +
         delivery.offsets->length() * static_cast<std::int64_t>(sizeof(std::int64_t));
}

/// The ordinal of the range's source; the range is joined to what is there of it.
std::int32_t JoinRange(const SourceRange& range, std::vector<SourceRange>& ranges) {
  const auto found = std::ranges::find(ranges, range.source, &SourceRange::source);
  const auto ordinal = static_cast<std::int32_t>(found - ranges.begin());
  if (found == ranges.end()) {
    ranges.push_back(range);
  } else {
    found->next = range.next;
  }
  return ordinal;
}

/// True if each row's offset is above the one before, so that a range can end between two
/// rows.
bool IsAscending(const arrow::Int64Array& offsets) {
  for (std::int64_t row = 1; row < offsets.length(); ++row) {
    if (offsets.Value(row) <= offsets.Value(row - 1)) return false;
  }
  return true;
}

/// Rows [from, to) of a delivery, with their part of the range; the acknowledgement goes
/// with the last part.
Delivery PartOf(Delivery& delivery, std::int64_t from, std::int64_t to) {
  const bool is_last = to == delivery.rows->num_rows();
  Delivery part{.rows = delivery.rows->Slice(from, to - from), .range = delivery.range};
  if (delivery.range) {
    part.offsets = std::static_pointer_cast<arrow::Int64Array>(
        delivery.offsets->Slice(from, to - from));
    if (from > 0) part.range->first = delivery.offsets->Value(from);
    if (!is_last) part.range->next = delivery.offsets->Value(to);
  }
  if (is_last) part.acknowledge = std::move(delivery.acknowledge);
  return part;
}

/// Cuts a delivery of `bytes` into parts of about `part_bytes`.
std::vector<Delivery> Cut(Delivery delivery, std::int64_t bytes,
                          std::int64_t part_bytes) {
  std::vector<Delivery> parts;
  const bool can_be_cut =
      bytes > part_bytes && (!delivery.range || IsAscending(*delivery.offsets));
  if (!can_be_cut) {
    parts.push_back(std::move(delivery));
    return parts;
  }
  const std::int64_t rows = delivery.rows->num_rows();
  const std::int64_t count = std::min(rows, (bytes + part_bytes - 1) / part_bytes);
  for (std::int64_t i = 0; i < count; ++i) {
    parts.push_back(PartOf(delivery, rows * i / count, rows * (i + 1) / count));
  }
  return parts;
}

void AcknowledgeAll(const std::vector<Acknowledgement>& acknowledgements,
                    const Result<SegmentName>& segment) {
  for (const Acknowledgement& acknowledge : acknowledgements) acknowledge(segment);
}

}  // namespace

bool Delivery::has_rows() const { return rows != nullptr && rows->num_rows() > 0; }

Result<std::unique_ptr<TableBuffer>> TableBuffer::Make(Runtime& runtime,
                                                       MemoryBudget& memory,
                                                       storage::ObjectStore& store,
                                                       TableLayout layout,
                                                       TableBufferOptions options) {
  if (options.flush_bytes <= 0) {
    return InvalidError("a buffer is flushed at a positive size, not {} bytes",
                        options.flush_bytes);
  }
  FIRN_ASSIGN_OR_RETURN(ShardWriter writer,
                        ShardWriter::Open(runtime, store, layout.uuid, options.shard));
  FIRN_ASSIGN_OR_RETURN(SegmentBuilder builder,
                        SegmentBuilder::Make(std::move(layout), options.segment));
  return std::unique_ptr<TableBuffer>(new TableBuffer(
      runtime, memory, std::move(builder), std::move(writer), std::move(options)));
}

TableBuffer::TableBuffer(Runtime& runtime, MemoryBudget& memory, SegmentBuilder builder,
                         ShardWriter writer, TableBufferOptions options)
    : runtime_(runtime),
      memory_(memory),
      schema_(builder.layout().schema),
      options_(std::move(options)),
      flush_mutex_(runtime),
      builder_(std::move(builder)),
      writer_(std::move(writer)),
      mutex_(runtime) {}

TableBuffer::~TableBuffer() {
  const Status gone =
      MakeError(ErrorKind::kCancelled, "the buffer was given up before it was flushed");
  AcknowledgeAll(Settle(gone).acknowledgements, gone);
}

Status TableBuffer::Append(Delivery delivery, const StopToken& stop) {
  std::vector<Delivery> parts;
  parts.push_back(std::move(delivery));
  const Status status = AppendParts(parts, stop);
  // Add takes it once the buffer owes it; who fails before that tells it here.
  const Acknowledgement& untold = parts.back().acknowledge;
  if (!status.ok() && untold) untold(status);
  return status;
}

Status TableBuffer::TryAppend(Delivery delivery) {
  const Status status = TryAppendWhole(delivery);
  if (!status.ok() && delivery.acknowledge) delivery.acknowledge(status);
  return status;
}

Status TableBuffer::TryAppendWhole(Delivery& delivery) {
  if (delivery.range) {
    return InvalidError("source {}: a delivery with a range has to wait its turn",
                        delivery.range->source);
  }
  FIRN_RETURN_NOT_OK(Complete(schema_, delivery));
  FIRN_ASSIGN_OR_RETURN(const std::int64_t bytes, MemoryBytes(delivery));
  if (kMemoryCopies * bytes > memory_.limit_bytes()) {
    return Status::CapacityError(
        "the rows do not fit in all memory for buffers; send "
        "less at once, or raise memory_limit (",
        bytes, " bytes ", kMemoryCopies, " times in ", memory_.limit_bytes(), ")");
  }
  auto memory = memory_.TryReserve(kMemoryCopies * bytes);
  if (!memory) {
    return Error(ErrorKind::kUnavailable,
                 "{} bytes of rows do not fit in the memory for buffers now", bytes);
  }
  MutexLock lock(mutex_);
  // Whatever became of what it held: of these rows nothing was taken.
  if (!state_.ok()) return MakeError(ErrorKind::kUnavailable, ErrorText(state_));
  if (pending_.bytes >= options_.flush_bytes) {
    return MakeError(ErrorKind::kUnavailable,
                     "the buffer is full, and waits for the store of the WAL");
  }
  AddLocked(delivery, bytes, *std::move(memory));
  return Status::OK();
}

Status TableBuffer::AppendParts(std::vector<Delivery>& parts, const StopToken& stop) {
  FIRN_RETURN_NOT_OK(Complete(schema_, parts.front()));
  FIRN_ASSIGN_OR_RETURN(const std::int64_t bytes, MemoryBytes(parts.front()));
  const std::int64_t part_bytes = std::max<std::int64_t>(options_.flush_bytes / 4, 1);
  parts = Cut(std::move(parts.front()), bytes, part_bytes);
  for (Delivery& part : parts) FIRN_RETURN_NOT_OK(AppendPart(part, stop));
  return Status::OK();
}

Status TableBuffer::AppendPart(Delivery& part, const StopToken& stop) {
  if (part.range) FIRN_RETURN_NOT_OK(FlushUnlessContinued(*part.range));
  FIRN_ASSIGN_OR_RETURN(const std::int64_t bytes, MemoryBytes(part));
  FIRN_ASSIGN_OR_RETURN(MemoryReservation memory, Reserve(bytes, stop));
  FIRN_ASSIGN_OR_RETURN(const bool is_full, Add(part, bytes, std::move(memory)));
  return is_full ? Flush() : Status::OK();
}

Status TableBuffer::FlushUnlessContinued(const SourceRange& range) {
  bool is_continued = true;
  {
    MutexLock lock(mutex_);
    for (const SourceRange& buffered : pending_.ranges) {
      if (buffered.source == range.source) is_continued = buffered.next == range.first;
    }
  }
  return is_continued ? Status::OK() : FlushPending(/*with_ranges_alone=*/true);
}

Result<MemoryReservation> TableBuffer::Reserve(std::int64_t bytes,
                                               const StopToken& stop) {
  const std::int64_t wanted = kMemoryCopies * bytes;
  // What this buffer holds must not be what it waits for.
  if (memory_.used_bytes() + wanted > memory_.limit_bytes()) FIRN_RETURN_NOT_OK(Flush());
  return memory_.Reserve(wanted, stop);
}

Result<bool> TableBuffer::Add(Delivery& part, std::int64_t bytes,
                              MemoryReservation memory) {
  MutexLock lock(mutex_);
  FIRN_RETURN_NOT_OK(state_);
  AddLocked(part, bytes, std::move(memory));
  return pending_.bytes >= options_.flush_bytes;
}

void TableBuffer::AddLocked(Delivery& part, std::int64_t bytes,
                            MemoryReservation memory) {
  const bool is_first =
      pending_.row_count == 0 && (part.has_rows() || pending_.ranges.empty());
  if (is_first) pending_.since = runtime_.SinceBoot();
  std::optional<std::int32_t> source;
  if (part.range) source = JoinRange(*part.range, pending_.ranges);
  if (part.has_rows()) {
    pending_.row_count += part.rows->num_rows();
    pending_.rows.push_back({std::move(part.rows), source, part.offsets});
  }
  pending_.bytes += bytes;
  pending_.memory.push_back(std::move(memory));
  if (part.acknowledge) {
    pending_.acknowledgements.push_back(std::exchange(part.acknowledge, nullptr));
  }
}

std::optional<BootTime> TableBuffer::DueAt() {
  MutexLock lock(mutex_);
  if (pending_.bytes >= options_.flush_bytes) return pending_.since;
  if (pending_.row_count > 0) return pending_.since + options_.flush_age;
  if (pending_.ranges.empty()) return std::nullopt;
  return pending_.since + options_.idle_interval;
}

bool TableBuffer::IsDue() {
  const auto due = DueAt();
  return due && runtime_.SinceBoot() >= *due;
}

Status TableBuffer::FlushIfDue() {
  return IsDue() ? FlushPending(/*with_ranges_alone=*/true) : Status::OK();
}

Status TableBuffer::Flush() { return FlushPending(/*with_ranges_alone=*/false); }

Status TableBuffer::FlushPending(bool with_ranges_alone) {
  MutexLock flush_lock(flush_mutex_);
  Pending pending;
  {
    MutexLock lock(mutex_);
    FIRN_RETURN_NOT_OK(state_);
    const bool has_ranges = with_ranges_alone && !pending_.ranges.empty();
    if (pending_.row_count == 0 && !has_ranges) return Status::OK();
    pending = std::exchange(pending_, {});
  }
  const Result<SegmentName> segment = Write(pending);
  const Pending lost = Settle(segment);
  AcknowledgeAll(pending.acknowledgements, segment);
  AcknowledgeAll(lost.acknowledgements, segment);
  return segment.status();
}

Result<SegmentName> TableBuffer::Write(const Pending& pending) {
  if (options_.before_segment) FIRN_RETURN_NOT_OK(options_.before_segment());
  FIRN_ASSIGN_OR_RETURN(
      const FrozenSegment segment,
      builder_.Build(pending.rows, pending.ranges, SegmentKey(writer_.next_segment())));
  FIRN_ASSIGN_OR_RETURN(SegmentName name,
                        writer_.Write(std::string_view(*segment.bytes)));
  MutexLock lock(mutex_);
  ++counts_.segments;
  counts_.segment_bytes += segment.bytes->size();
  counts_.rows += segment.rows;
  return name;
}

TableBuffer::Pending TableBuffer::Settle(const Result<SegmentName>& segment) {
  MutexLock lock(mutex_);
  if (segment.ok()) return {};
  state_ = segment.status();
  return std::exchange(pending_, {});
}

Status TableBuffer::Close() {
  FIRN_RETURN_NOT_OK(FlushPending(/*with_ranges_alone=*/true));
  MutexLock flush_lock(flush_mutex_);
  const Status closed = InvalidError("the buffer is closed");
  AcknowledgeAll(Settle(closed).acknowledgements, closed);
  return writer_.Close();
}

TableBufferCounts TableBuffer::counts() {
  MutexLock lock(mutex_);
  return counts_;
}

}  // namespace firn::wal
