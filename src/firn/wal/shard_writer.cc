#include "firn/wal/shard_writer.h"

#include <algorithm>

#include "firn/core/crash_point.h"
#include "firn/core/ulid.h"

namespace firn::wal {
namespace {

/// Share of the time after which readers take a shard for dead; the rest is left for the
/// PUT, and for clocks that differ.
constexpr int kSilencePart = 4;

bool IsNameCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '.' || c == '_' || c == '-';
}

bool MayRetry(const Status& status) {
  return IsError(status, ErrorKind::kUnavailable) ||
         IsError(status, ErrorKind::kOutcomeUnknown);
}

}  // namespace

std::string ClosedMarkerKey(const TableUuid& table, const ShardId& shard) {
  return fmt::format("{}/{}/closed", table, shard);
}

Result<ShardWriter> ShardWriter::Open(Runtime& runtime, storage::ObjectStore& store,
                                      TableUuid table, ShardWriterOptions options) {
  if (options.node.empty() || !std::ranges::all_of(options.node, IsNameCharacter)) {
    return InvalidError(
        "a node is named by letters, digits, '.', '_' and '-', at least one: not '{}'",
        options.node);
  }
  return ShardWriter(runtime, store, std::move(table), std::move(options));
}

ShardWriter::ShardWriter(Runtime& runtime, storage::ObjectStore& store, TableUuid table,
                         ShardWriterOptions options)
    : runtime_(&runtime),
      store_(&store),
      table_(std::move(table)),
      options_(std::move(options)) {
  StartShard();
}

void ShardWriter::StartShard() {
  shard_ = ShardId(fmt::format("{}-{}", options_.node, NewUlid(*runtime_)));
  last_durable_ = SegmentSequence(0);
  last_durable_time_ = runtime_->SinceBoot();
}

bool ShardWriter::IsSilent() const {
  return runtime_->SinceBoot() - last_durable_time_ > options_.dead_after / kSilencePart;
}

SegmentName ShardWriter::next_segment() const {
  return {.table_uuid = table_,
          .shard = shard_,
          .sequence = SegmentSequence(last_durable_.value() + 1)};
}

Result<SegmentName> ShardWriter::Write(std::string_view bytes) {
  FIRN_RETURN_NOT_OK(state_);
  if (IsSilent()) {
    // The marker only spares readers some waiting: without it they wait until the shard
    // is dead.
    (void)Close();
    StartShard();
  }
  const SegmentName segment = next_segment();
  CrashPoint("wal.segment.before_put");
  const Status put = PutWithRetries(SegmentKey(segment), bytes);
  if (!put.ok()) return End(segment, put);
  CrashPoint("wal.segment.after_put");
  if (IsSilent()) {
    return End(segment,
               Error(ErrorKind::kOutcomeUnknown,
                     "it took so long that readers may take the shard for dead"));
  }
  last_durable_ = segment.sequence;
  last_durable_time_ = runtime_->SinceBoot();
  return segment;
}

Status ShardWriter::PutWithRetries(const std::string& key, std::string_view bytes) {
  Duration wait = options_.retry_wait_first;
  bool may_be_there = false;
  for (int attempt = 1;; ++attempt) {
    const Status put = store_->PutWhole(key, bytes);
    if (put.ok()) return put;
    may_be_there = may_be_there || IsError(put, ErrorKind::kOutcomeUnknown);
    if (!MayRetry(put) || attempt >= options_.attempts_max) {
      const std::string text =
          fmt::format("gave up after {} {}: {}", attempt,
                      attempt == 1 ? "attempt" : "attempts", put.message());
      if (may_be_there) return MakeError(ErrorKind::kOutcomeUnknown, text);
      return put.WithMessage(text);
    }
    // Half of the wait is random, so that writers that failed together do not come back
    // together.
    const auto half = wait.count() / 2;
    runtime_->Sleep(
        Duration(half + static_cast<std::int64_t>(runtime_->Random64() % (half + 1))));
    wait = std::min(2 * wait, options_.retry_wait_max);
  }
}

Status ShardWriter::End(const SegmentName& segment, const Status& reason) {
  state_ = AddContext(reason, fmt::format("segment {} is not durable, its shard ends",
                                          SegmentKey(segment)));
  return state_;
}

Status ShardWriter::Close() {
  if (!state_.ok() || last_durable_.value() == 0) return Status::OK();
  return store_->PutWhole(ClosedMarkerKey(table_, shard_),
                          fmt::format("{}\n", last_durable_));
}

}  // namespace firn::wal
