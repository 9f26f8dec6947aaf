#include "firn/iceberg/serde/update_json.h"

#include "firn/iceberg/serde/json_value.h"

namespace firn::iceberg {
namespace {

using serde::Json;
using serde::ToJsonValue;

struct UpdateWriter {
  Json operator()(const AssignUuid& update) const {
    return {{"action", "assign-uuid"}, {"uuid", update.uuid.value()}};
  }
  Json operator()(const AddSchema& update) const {
    return {{"action", "add-schema"}, {"schema", ToJsonValue(update.schema)}};
  }
  Json operator()(const SetCurrentSchema& update) const {
    return {{"action", "set-current-schema"}, {"schema-id", update.schema_id.value()}};
  }
  Json operator()(const AddSpec& update) const {
    return {{"action", "add-spec"}, {"spec", ToJsonValue(update.spec)}};
  }
  Json operator()(const SetDefaultSpec& update) const {
    return {{"action", "set-default-spec"}, {"spec-id", update.spec_id.value()}};
  }
  Json operator()(const AddSortOrder& update) const {
    return {{"action", "add-sort-order"}, {"sort-order", ToJsonValue(update.sort_order)}};
  }
  Json operator()(const SetDefaultSortOrder& update) const {
    return {{"action", "set-default-sort-order"},
            {"sort-order-id", update.sort_order_id.value()}};
  }
  Json operator()(const AddSnapshot& update) const {
    return {{"action", "add-snapshot"}, {"snapshot", ToJsonValue(update.snapshot)}};
  }
  Json operator()(const SetSnapshotRef& update) const {
    Json json = {{"action", "set-snapshot-ref"}, {"ref-name", update.ref_name}};
    json.update(ToJsonValue(update.ref));
    return json;
  }
  Json operator()(const SetProperties& update) const {
    return {{"action", "set-properties"}, {"updates", update.updates}};
  }
  Json operator()(const RemoveProperties& update) const {
    return {{"action", "remove-properties"}, {"removals", update.removals}};
  }
};

struct RequirementWriter {
  Json operator()(const AssertCreate&) const { return {{"type", "assert-create"}}; }
  Json operator()(const AssertTableUuid& required) const {
    return {{"type", "assert-table-uuid"}, {"uuid", required.uuid.value()}};
  }
  Json operator()(const AssertRefSnapshotId& required) const {
    Json json = {{"type", "assert-ref-snapshot-id"}, {"ref", required.ref}};
    // The field must be there: null says that there is no such ref.
    json["snapshot-id"] = nullptr;
    if (required.snapshot_id) json["snapshot-id"] = required.snapshot_id->value();
    return json;
  }
  Json operator()(const AssertLastAssignedFieldId& required) const {
    return {{"type", "assert-last-assigned-field-id"},
            {"last-assigned-field-id", required.last_assigned_field_id}};
  }
  Json operator()(const AssertCurrentSchemaId& required) const {
    return {{"type", "assert-current-schema-id"},
            {"current-schema-id", required.current_schema_id.value()}};
  }
  Json operator()(const AssertLastAssignedPartitionId& required) const {
    return {{"type", "assert-last-assigned-partition-id"},
            {"last-assigned-partition-id", required.last_assigned_partition_id}};
  }
  Json operator()(const AssertDefaultSpecId& required) const {
    return {{"type", "assert-default-spec-id"},
            {"default-spec-id", required.default_spec_id.value()}};
  }
  Json operator()(const AssertDefaultSortOrderId& required) const {
    return {{"type", "assert-default-sort-order-id"},
            {"default-sort-order-id", required.default_sort_order_id.value()}};
  }
};

template <typename Writer, typename Item>
Json ToArray(const std::vector<Item>& items) {
  Json array = Json::array();
  for (const Item& item : items) array.push_back(std::visit(Writer(), item));
  return array;
}

}  // namespace

Result<std::string> CommitToJson(const std::vector<TableRequirement>& requirements,
                                 const std::vector<TableUpdate>& updates) {
  return serde::DumpJson({{"requirements", ToArray<RequirementWriter>(requirements)},
                          {"updates", ToArray<UpdateWriter>(updates)}});
}

}  // namespace firn::iceberg
