#include "ingest.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "chance.h"
#include "firn/commit/positions.h"
#include "firn/shift/wal_layout.h"
#include "firn/wal/table_buffer.h"
#include "rules.h"

namespace firn::sim {
namespace {

constexpr std::uint64_t kRowsMax = 4;
constexpr int kClients = 2;
constexpr Duration kFlushAge = std::chrono::milliseconds(200);
constexpr Duration kFlushPollMin = std::chrono::milliseconds(150);
constexpr Duration kFlushPollMax = std::chrono::hours(1);
constexpr Duration kNever = std::chrono::hours(24 * 365);
constexpr Duration kRetryMax = std::chrono::seconds(1);
/// To make what zstd needs takes longer than all else that becomes of a few rows.
constexpr parquet_io::Codec kSegmentCodec = parquet_io::Codec::kUncompressed;

/// What a failing store or a crash may do to a buffer.
bool IsExpected(const Status& status) {
  return IsError(status, ErrorKind::kUnavailable) ||
         IsError(status, ErrorKind::kOutcomeUnknown) ||
         IsError(status, ErrorKind::kCancelled);
}

class Ingest {
 public:
  Ingest(Process& process, int source_partition)
      : process_(process),
        world_(process.world),
        node_(process.node),
        partition_(source_partition) {
    layout_ = shift::WalLayoutOf(world_.Load());
    OpenBuffer();
  }

  void Run(int& left) {
    Thread flusher(node_, "flush", [this] { FlushUntilDone(); });
    {
      Thread source(node_, "source", [this] { ReadSource(); });
      std::vector<Thread> clients;
      for (int i = 0; i < kClients; ++i) {
        clients.emplace_back(node_, fmt::format("client{}", i), [&] { Deliver(left); });
      }
    }
    is_done_ = true;
    flusher.Join();
    Note(buffer_->Close());
  }

  void FinishSource() {
    ReadSource();
    Note(buffer_->Close());
  }

 private:
  using Buffer = std::shared_ptr<wal::TableBuffer>;

  void OpenBuffer() {
    buffer_ = wal::TableBuffer::Make(node_, process_.memory, process_.wal, layout_,
                                     BufferOptionsOf(process_))
                  .ValueOrDie();
  }

  void Note(const Status& status) {
    if (status.ok() || IsExpected(status) || node_.crashed()) return;
    world_.Report(fmt::format("{}: {}", node_.name(), status.ToString()));
  }

  /// A buffer that failed once fails for ever.
  void Replace(const Buffer& failed) {
    if (buffer_ == failed && !node_.crashed()) OpenBuffer();
  }

  void FlushUntilDone() {
    Duration poll = kFlushPollMin;
    while (!is_done_ && !node_.crashed()) {
      node_.Sleep(poll);
      // Less often while clients think for long.
      if (world_.plan().thinking_time_max > kFlushPollMax) {
        poll = std::min(2 * poll, kFlushPollMax);
      }
      const Buffer buffer = buffer_;
      const Status status = buffer->FlushIfDue();
      Note(status);
      if (!status.ok()) Replace(buffer);
    }
  }

  Status Append(const std::vector<shift::TestRow>& rows,
                const std::optional<wal::SourceRange>& range) {
    const Buffer buffer = buffer_;
    const auto acknowledge = [this, rows](const auto& segment) {
      if (segment.ok() && !node_.crashed()) world_.records().Acknowledge(rows);
    };
    const Status status = buffer->Append({.rows = ToBatch(layout_.schema, rows),
                                          .range = range,
                                          .acknowledge = acknowledge},
                                         node_.crash_token());
    Note(status);
    if (IsBroken(Rule::kAcknowledgement) && status.ok()) {
      world_.records().Acknowledge(rows);
    }
    if (!status.ok()) Replace(buffer);
    if (status.ok() && buffer != buffer_) return MakeError(ErrorKind::kUnavailable, "");
    return status;
  }

  void Deliver(int& left) {
    while (left-- > 0 && !node_.crashed()) {
      (void)Append(world_.records().New(1 + node_.Random64() % kRowsMax, node_), {});
      node_.Sleep(UpTo(node_, world_.plan().thinking_time_max));
    }
  }

  /// From the table's position on; from there again after any failure.
  void ReadSource() {
    std::optional<std::int64_t> next;
    Buffer read_into;
    while (!node_.crashed()) {
      if (!next || read_into != buffer_) next = Position();
      read_into = buffer_;
      if (!next) {
        node_.Sleep(UpTo(node_, kRetryMax));
        continue;
      }
      if (*next >= kSourceRecords) return;
      const auto count = 1 + static_cast<std::int64_t>(node_.Random64() % kRowsMax);
      const std::int64_t end = std::min(*next + count, kSourceRecords);
      const Status status = Append(Records::OfSource(partition_, *next, end),
                                   wal::SourceRange{SourceId(partition_), *next, end});
      next = end;
      if (!status.ok()) read_into = nullptr;
      node_.Sleep(UpTo(node_, world_.plan().thinking_time_max));
    }
  }

  /// Nothing if the catalog does not tell.
  std::optional<std::int64_t> Position() {
    const auto table = process_.catalog.LoadTable(world_.table());
    if (!table.ok()) return std::nullopt;
    const auto positions = commit::ReadPositions(table->metadata, process_.root.id);
    if (!positions.ok()) return std::nullopt;
    const auto found = positions->reached.sources.find(SourceId(partition_));
    return found == positions->reached.sources.end() ? 0 : found->second;
  }

  Process& process_;
  World& world_;
  SimNode& node_;
  const int partition_;
  wal::TableLayout layout_;
  Buffer buffer_;
  bool is_done_ = false;
};

}  // namespace

wal::TableBufferOptions BufferOptionsOf(const Process& process) {
  wal::TableBufferOptions options = {.flush_bytes = process.world.plan().flush_bytes,
                                     .flush_age = kFlushAge,
                                     .segment = {.codec = kSegmentCodec},
                                     .shard = {.node = process.node.name()}};
  if (IsBroken(Rule::kShardSelfCheck)) options.shard.dead_after = kNever;
  return options;
}

void RunIngest(Process& process, int source_partition, int& left) {
  Ingest(process, source_partition).Run(left);
}

void FinishSource(Process& process, int source_partition) {
  Ingest(process, source_partition).FinishSource();
}

}  // namespace firn::sim
