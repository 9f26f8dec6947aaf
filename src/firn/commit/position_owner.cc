#include "firn/commit/position_owner.h"

#include <algorithm>
#include <optional>
#include <string>

#include "firn/commit/history.h"
#include "firn/core/whole_number.h"
#include "firn/types/single_value.h"

namespace firn::commit {
namespace {

using iceberg::Snapshot;
using iceberg::TableMetadata;

const std::string* Find(const TableMetadata& metadata, std::string_view property) {
  const auto found = metadata.properties.find(std::string(property));
  return found == metadata.properties.end() ? nullptr : &found->second;
}

bool IsPosition(std::string_view property) {
  return property == kSnapshotProperty || property == kSequenceProperty ||
         property.starts_with(kCommitPrefix) || property.starts_with(kWalPrefix);
}

/// "is 'x'", "is missing".
std::string SaidOf(const TableMetadata& metadata) {
  const std::string* uuid = Find(metadata, kTableUuidProperty);
  return uuid == nullptr ? "is missing" : fmt::format("is '{}'", *uuid);
}

/// Every table's uuid is one, so a copy holds one, too; and whoever copies positions
/// copies whose they are.
Status CheckSaysWhose(const TableMetadata& metadata) {
  const std::string* uuid = Find(metadata, kTableUuidProperty);
  if (uuid != nullptr) {
    if (types::FromText(types::Type(types::TypeKind::kUuid), *uuid).ok()) {
      return Status::OK();
    }
  } else if (std::ranges::none_of(metadata.properties, [](const auto& property) {
               return IsPosition(property.first);
             })) {
    return Status::OK();
  }
  return Error(
      ErrorKind::kCorruption,
      "table property {} {}, expected a UUID beside the other positions: set it to the "
      "table's uuid, {}, if they are the table's own, and look at them with 'firn "
      "positions show'; remove all firn.* properties if they came from another table",
      kTableUuidProperty, SaidOf(metadata), metadata.table_uuid);
}

const Snapshot* SnapshotThatIsNamed(const TableMetadata& metadata) {
  const std::string* text = Find(metadata, kSnapshotProperty);
  if (text == nullptr) return nullptr;
  const auto id = ParseWholeNumber<std::int64_t>(*text);
  return id ? iceberg::FindSnapshot(metadata, SnapshotId(*id)) : nullptr;
}

bool IsOfFirn(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.summary, [](const auto& entry) {
    return entry.first.starts_with(kCommitPrefix);
  });
}

Status AreDamaged(const TableMetadata& metadata, const std::string& sign) {
  return Error(
      ErrorKind::kCorruption,
      "table property {} {}, though {}: going on from the start would land rows twice; "
      "set it to the table's uuid, {}, and other firn.* properties that are gone to what "
      "the table's earlier metadata says, and look at them with 'firn positions show'",
      kTableUuidProperty, SaidOf(metadata), sign, metadata.table_uuid);
}

/// Whether "<shard>:<sequence>,..." names the shard.
bool NamesShard(std::string_view text, const ShardId& shard) {
  const std::string entry = fmt::format(",{}:", shard);
  return fmt::format(",{}", text).find(entry) != std::string::npos;
}

bool NameThisTable(const TableMetadata& metadata) {
  const std::string* uuid = Find(metadata, kTableUuidProperty);
  return uuid != nullptr && *uuid == metadata.table_uuid.value();
}

}  // namespace

Result<bool> PositionsAreOwn(const TableMetadata& metadata) {
  if (NameThisTable(metadata)) return true;
  FIRN_RETURN_NOT_OK(CheckSaysWhose(metadata));
  if (const Snapshot* named = SnapshotThatIsNamed(metadata)) {
    return AreDamaged(metadata,
                      fmt::format("{} names snapshot {}, which is of this table",
                                  kSnapshotProperty, named->snapshot_id));
  }
  if (const Snapshot* ours = FindInHistoryOfMain(metadata, IsOfFirn)) {
    return AreDamaged(metadata, fmt::format("snapshot {} of main is a commit of Firn",
                                            ours->snapshot_id));
  }
  return false;
}

Status CheckAreNotOfShards(const TableMetadata& metadata, const WalId& wal,
                           const std::vector<wal::ShardListing>& shards) {
  if (NameThisTable(metadata)) return Status::OK();
  const std::string property = fmt::format("{}{}", kWalPrefix, wal);
  const std::string* text = Find(metadata, property);
  if (text == nullptr) return Status::OK();
  for (const wal::ShardListing& listed : shards) {
    if (!NamesShard(*text, listed.shard)) continue;
    return AreDamaged(metadata, fmt::format("{} names shard {} of this table's log",
                                            property, listed.shard));
  }
  return Status::OK();
}

}  // namespace firn::commit
