#include "firn/commit/batch.h"

#include <algorithm>
#include <utility>

#include "firn/commit/positions.h"
#include "firn/core/ulid.h"

namespace firn::commit {
namespace {

Status CheckIds(const Batch& batch) {
  if (!IsUlid(batch.id.value())) {
    return InvalidError("batch id '{}' is no ULID", batch.id);
  }
  if (!batch.parent.has_value()) return Status::OK();
  if (!IsUlid(batch.parent->value())) {
    return InvalidError("batch {}: the parent's id '{}' is no ULID", batch.id,
                        *batch.parent);
  }
  if (*batch.parent == batch.id) {
    return InvalidError("batch {} names itself as its parent", batch.id);
  }
  return Status::OK();
}

Status CheckShards(const Batch& batch) {
  for (const auto& [shard, range] : batch.shards) {
    FIRN_RETURN_NOT_OK(CheckShardId(shard));
    if (range.after > range.through) {
      return InvalidError("batch {}: the range of shard {} goes back, from {} to {}",
                          batch.id, shard, range.after, range.through);
    }
  }
  return Status::OK();
}

Status CheckSources(const Batch& batch) {
  for (const auto& [source, range] : batch.sources) {
    FIRN_RETURN_NOT_OK(ParseSourceId(source).status());
    if (range.first < 0 || range.next < range.first) {
      return InvalidError("batch {}: the range of source {} is [{}, {})", batch.id,
                          source, range.first, range.next);
    }
  }
  return Status::OK();
}

void AppendShards(const std::map<ShardId, SequenceRange>& next,
                  std::map<ShardId, SequenceRange>& shards) {
  for (const auto& [shard, range] : next) {
    const auto [entry, is_new] = shards.try_emplace(shard, range);
    if (is_new) continue;
    FIRN_CHECK(entry->second.through == range.after, "shard {}", shard);
    entry->second.through = range.through;
  }
}

void AppendSources(const std::map<std::string, OffsetRange>& next,
                   std::map<std::string, OffsetRange>& sources) {
  for (const auto& [source, range] : next) {
    const auto [entry, is_new] = sources.try_emplace(source, range);
    if (is_new) continue;
    FIRN_CHECK(entry->second.next == range.first, "source {}", source);
    entry->second.next = range.next;
  }
}

void AppendRetired(const Batch& next, wal::Retired& retired) {
  for (const auto& [shard, range] : next.shards) retired.shards.erase(shard);
  for (const auto& [source, range] : next.sources) retired.sources.erase(source);
  retired.shards.insert(next.retired.shards.begin(), next.retired.shards.end());
  retired.sources.insert(next.retired.sources.begin(), next.retired.sources.end());
}

Status CheckRetired(const Batch& batch) {
  for (const ShardId& shard : batch.retired.shards) {
    if (!batch.shards.contains(shard)) continue;
    return InvalidError("batch {} takes from shard {} and forgets it", batch.id, shard);
  }
  for (const std::string& source : batch.retired.sources) {
    if (!batch.sources.contains(source)) continue;
    return InvalidError("batch {} takes from source {} and forgets it", batch.id, source);
  }
  return Status::OK();
}

}  // namespace

Status CheckBatch(const Batch& batch) {
  FIRN_RETURN_NOT_OK(CheckIds(batch));
  FIRN_RETURN_NOT_OK(CheckShards(batch));
  FIRN_RETURN_NOT_OK(CheckSources(batch));
  return CheckRetired(batch);
}

bool StartsAt(const Batch& batch, const wal::Positions& positions) {
  for (const auto& [shard, range] : batch.shards) {
    if (range.after != PositionOf(positions, shard)) return false;
  }
  for (const auto& [source, range] : batch.sources) {
    const auto found = positions.sources.find(source);
    if (found != positions.sources.end() && found->second != range.first) return false;
  }
  return true;
}

wal::Positions PositionsAfter(wal::Positions positions, const Batch& batch) {
  for (const auto& [shard, range] : batch.shards) {
    if (range.through.value() > 0) positions.shards[shard] = range.through;
  }
  for (const auto& [source, range] : batch.sources) {
    positions.sources[source] = range.next;
  }
  for (const ShardId& shard : batch.retired.shards) positions.shards.erase(shard);
  for (const std::string& source : batch.retired.sources) positions.sources.erase(source);
  return positions;
}

Batch Appended(Batch first, Batch next) {
  FIRN_CHECK(next.parent == first.id, "batch {} after {}", next.id, first.id);
  first.id = std::move(next.id);
  first.files.insert(first.files.end(), std::make_move_iterator(next.files.begin()),
                     std::make_move_iterator(next.files.end()));
  AppendShards(next.shards, first.shards);
  AppendSources(next.sources, first.sources);
  AppendRetired(next, first.retired);
  if (next.begun) first.begun = std::min(*next.begun, first.begun.value_or(*next.begun));
  return first;
}

}  // namespace firn::commit
