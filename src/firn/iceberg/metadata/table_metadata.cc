#include "firn/iceberg/metadata/table_metadata.h"

#include <algorithm>

#include "firn/core/status.h"

namespace firn::iceberg {
namespace {

constexpr const char* kMetadataPathProperty = "write.metadata.path";

template <typename Item, typename Id>
const Item* FindById(const std::vector<Item>& items, Id Item::* id, const Id& wanted) {
  const auto found = std::ranges::find(items, wanted, id);
  return found == items.end() ? nullptr : &*found;
}

bool IsAbsolute(std::string_view path) {
  return path.starts_with('/') || path.find(":/") != std::string_view::npos;
}

}  // namespace

const Snapshot* FindSnapshot(const TableMetadata& metadata, SnapshotId id) {
  // From the newest on, which is asked for most.
  for (std::size_t i = metadata.snapshots.size(); i > 0; --i) {
    const Snapshot& snapshot = metadata.snapshots[i - 1];
    if (snapshot.snapshot_id == id) return &snapshot;
  }
  return nullptr;
}

const types::Schema* FindSchema(const TableMetadata& metadata, SchemaId id) {
  return FindById(metadata.schemas, &types::Schema::id, id);
}

const types::PartitionSpec* FindSpec(const TableMetadata& metadata, PartitionSpecId id) {
  return FindById(metadata.partition_specs, &types::PartitionSpec::id, id);
}

const order::SortOrder* FindSortOrder(const TableMetadata& metadata, SortOrderId id) {
  return FindById(metadata.sort_orders, &order::SortOrder::id, id);
}

const Snapshot* CurrentSnapshot(const TableMetadata& metadata) {
  if (!metadata.current_snapshot_id.has_value()) return nullptr;
  return FindSnapshot(metadata, *metadata.current_snapshot_id);
}

const types::Schema& CurrentSchema(const TableMetadata& metadata) {
  const types::Schema* schema = FindSchema(metadata, metadata.current_schema_id);
  FIRN_CHECK(schema != nullptr, "schema {}", metadata.current_schema_id);
  return *schema;
}

const types::PartitionSpec& DefaultSpec(const TableMetadata& metadata) {
  const types::PartitionSpec* spec = FindSpec(metadata, metadata.default_spec_id);
  FIRN_CHECK(spec != nullptr, "spec {}", metadata.default_spec_id);
  return *spec;
}

const order::SortOrder& DefaultSortOrder(const TableMetadata& metadata) {
  const order::SortOrder* order = FindSortOrder(metadata, metadata.default_sort_order_id);
  FIRN_CHECK(order != nullptr, "sort order {}", metadata.default_sort_order_id);
  return *order;
}

std::string MetadataFolder(const TableMetadata& metadata) {
  const auto property = metadata.properties.find(kMetadataPathProperty);
  if (property == metadata.properties.end() || property->second.empty()) {
    return metadata.location + "/metadata";
  }
  std::string folder = property->second;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return IsAbsolute(folder) ? folder : fmt::format("{}/{}", metadata.location, folder);
}

}  // namespace firn::iceberg
