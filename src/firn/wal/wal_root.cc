#include "firn/wal/wal_root.h"

#include <algorithm>
#include <map>
#include <optional>

#include "firn/core/ulid.h"
#include "firn/storage/location.h"
#include "firn/wal/quarantine.h"
#include "firn/wal/shard_writer.h"

namespace firn::wal {
namespace {

constexpr std::string_view kIdPrefix = "id-";
/// Holds the id that the first of several first users chose.
constexpr std::string_view kClaimKey = "claim";

Result<std::optional<WalId>> FindWalId(storage::ObjectStore& store) {
  FIRN_ASSIGN_OR_RETURN(const auto objects, store.List(kIdPrefix));
  for (const storage::ObjectInfo& object : objects) {
    std::string id = object.key.substr(kIdPrefix.size());
    if (IsUlid(id)) return WalId(std::move(id));
  }
  return std::nullopt;
}

/// The id of the first who claims one: all others get the same.
Result<std::string> ClaimId(Runtime& runtime, storage::ObjectStore& store) {
  std::string id = NewUlid(runtime);
  const Status put = store.PutWhole(kClaimKey, id, storage::PutMode::kIfAbsent);
  if (put.ok()) return id;
  // After an unknown outcome too, what is there decides.
  const bool may_be_there =
      IsError(put, ErrorKind::kAlreadyExists) || IsError(put, ErrorKind::kOutcomeUnknown);
  if (!may_be_there) return put;
  FIRN_ASSIGN_OR_RETURN(id, store.GetWhole(kClaimKey));
  if (IsUlid(id)) return id;
  return Error(ErrorKind::kCorruption, "{} holds no id: '{}'", store.Location(kClaimKey),
               id);
}

std::string AsFolder(std::string path) {
  if (!path.ends_with('/')) path.push_back('/');
  return path;
}

/// The shard of an object, if it is one that a shard's writer made.
struct ShardObject {
  ShardId shard;
  std::optional<SegmentName> segment;
};

std::optional<ShardObject> ParseShardObject(const std::string& key) {
  if (auto segment = ParseSegmentKey(key)) {
    return ShardObject{segment->shard, segment};
  }
  const std::size_t shard = key.find('/');
  if (shard == std::string_view::npos) return std::nullopt;
  const std::size_t marker = key.find('/', shard + 1);
  if (marker == std::string_view::npos) return std::nullopt;
  ShardId id(key.substr(shard + 1, marker - shard - 1));
  if (key != ClosedMarkerKey(TableUuid(key.substr(0, shard)), id)) return std::nullopt;
  return ShardObject{std::move(id), std::nullopt};
}

/// A marker stands behind its segment in the listing, or alone.
void AddMarker(const SegmentName& name, const storage::ObjectInfo& object,
               ShardListing& listing) {
  listing.shard = name.shard;
  if (listing.segments.empty() || listing.segments.back().name != name) {
    listing.segments.push_back(
        {.name = name, .key = SegmentKey(name), .modified_us = object.modified_us});
  }
  listing.segments.back().quarantined = true;
}

}  // namespace

Result<WalId> OpenWalRoot(Runtime& runtime, storage::ObjectStore& store) {
  FIRN_ASSIGN_OR_RETURN(std::optional<WalId> id, FindWalId(store));
  if (id) return *id;
  FIRN_ASSIGN_OR_RETURN(const std::string claimed, ClaimId(runtime, store));
  FIRN_RETURN_NOT_OK(store.PutWhole(fmt::format("{}{}", kIdPrefix, claimed), ""));
  return ReadWalId(store);
}

Result<WalId> ReadWalId(storage::ObjectStore& store) {
  FIRN_ASSIGN_OR_RETURN(std::optional<WalId> id, FindWalId(store));
  if (id) return *id;
  return Error(ErrorKind::kNotFound, "{} is not a WAL: it has no object id-<ULID>",
               store.Location(""));
}

Status CheckOutsideTable(std::string_view wal_location, std::string_view table_location) {
  FIRN_ASSIGN_OR_RETURN(const auto wal, storage::ParseLocation(wal_location));
  FIRN_ASSIGN_OR_RETURN(const auto table, storage::ParseLocation(table_location));
  const bool is_inside = wal.scheme == table.scheme && wal.authority == table.authority &&
                         AsFolder(wal.path).starts_with(AsFolder(table.path));
  if (!is_inside) return Status::OK();
  return InvalidError(
      "the WAL lies under a table's location, where a clean-up of orphaned files would "
      "delete it: move it elsewhere (WAL {}, table {})",
      wal_location, table_location);
}

Result<std::vector<ShardListing>> ListShards(storage::ObjectStore& store,
                                             const TableUuid& table) {
  FIRN_ASSIGN_OR_RETURN(auto objects, store.List(table.value() + "/"));
  std::map<ShardId, ShardListing> shards;
  for (storage::ObjectInfo& object : objects) {
    if (const auto marked = ParseQuarantineKey(object.key)) {
      AddMarker(*marked, object, shards[marked->shard]);
      continue;
    }
    const auto parsed = ParseShardObject(object.key);
    if (!parsed) continue;
    ShardListing& listing = shards[parsed->shard];
    listing.shard = parsed->shard;
    listing.modified_us = std::max(listing.modified_us, object.modified_us);
    if (!parsed->segment) {
      listing.closed = true;
      continue;
    }
    listing.segments.push_back({.name = *parsed->segment,
                                .key = std::move(object.key),
                                .size_bytes = object.size_bytes,
                                .modified_us = object.modified_us});
  }
  std::vector<ShardListing> listings;
  // The store lists by key, and sequences have a fixed number of digits: they are sorted.
  for (auto& [shard, listing] : shards) listings.push_back(std::move(listing));
  return listings;
}

}  // namespace firn::wal
