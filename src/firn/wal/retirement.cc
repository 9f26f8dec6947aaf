#include "firn/wal/retirement.h"

#include <algorithm>

#include "firn/wal/shard_writer.h"

namespace firn::wal {
namespace {

bool IsOld(std::int64_t modified_us, WallTime over_since) {
  return WallTime(Duration(modified_us)) <= over_since;
}

/// Its writer is gone, and there is nothing of it but the marker.
bool IsOver(const ShardListing& shard, WallTime over_since) {
  return shard.segments.empty() && shard.closed && IsOld(shard.modified_us, over_since);
}

bool HoldsAll(const Positions& positions, const std::vector<ShardListing>& shards) {
  return std::ranges::all_of(shards, [&](const ShardListing& shard) {
    if (shard.segments.empty()) return true;
    const auto position = positions.shards.find(shard.shard);
    return position != positions.shards.end() &&
           shard.segments.back().name.sequence <= position->second;
  });
}

bool IsOfLoad(const std::string& source, const EndedLoad& load) {
  const std::size_t file = source.rfind(':');
  return source.substr(0, file) == fmt::format("load:{}", load.id);
}

}  // namespace

Retired FindRetired(const Positions& after, const std::vector<ShardListing>& shards,
                    const std::vector<EndedLoad>& loads, WallTime over_since) {
  Retired retired;
  for (const auto& [shard, sequence] : after.shards) {
    const auto listed = std::ranges::find(shards, shard, &ShardListing::shard);
    if (listed == shards.end() || IsOver(*listed, over_since)) {
      retired.shards.insert(shard);
    }
  }
  if (!HoldsAll(after, shards)) return retired;
  for (const EndedLoad& load : loads) {
    if (!IsOld(load.ended_us, over_since)) continue;
    for (const auto& [source, next] : after.sources) {
      if (IsOfLoad(source, load)) retired.sources.insert(source);
    }
  }
  return retired;
}

Status DeleteRetired(storage::ObjectStore& store, const TableUuid& table,
                     const Positions& positions, const std::vector<ShardListing>& shards,
                     const std::vector<EndedLoad>& loads, WallTime over_since) {
  for (const ShardListing& shard : shards) {
    const bool is_forgotten = !positions.shards.contains(shard.shard);
    if (!is_forgotten || !IsOver(shard, over_since)) continue;
    FIRN_RETURN_NOT_OK(store.Delete(ClosedMarkerKey(table, shard.shard)));
  }
  if (!HoldsAll(positions, shards)) return Status::OK();
  for (const EndedLoad& load : loads) {
    const bool is_forgotten = std::ranges::none_of(
        positions.sources,
        [&](const auto& source) { return IsOfLoad(source.first, load); });
    if (!is_forgotten || !IsOld(load.ended_us, over_since)) continue;
    FIRN_RETURN_NOT_OK(ForgetLoad(store, table, load.id));
  }
  return Status::OK();
}

}  // namespace firn::wal
