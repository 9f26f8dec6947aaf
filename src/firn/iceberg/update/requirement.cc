#include "firn/iceberg/update/requirement.h"

#include <string_view>

namespace firn::iceberg {
namespace {

template <typename Value>
Status CheckEqual(std::string_view what, const Value& required, const Value& actual) {
  if (required == actual) return Status::OK();
  return Error(ErrorKind::kConflict, "{}: required {}, the table has {}", what, required,
               actual);
}

std::string Text(std::optional<SnapshotId> id) {
  return id.has_value() ? fmt::format("{}", *id) : "none";
}

class Checker {
 public:
  explicit Checker(const TableMetadata& metadata) : metadata_(metadata) {}

  Status operator()(const AssertCreate&) const {
    return Error(ErrorKind::kConflict, "assert-create: the table is there already");
  }
  Status operator()(const AssertTableUuid& required) const {
    return CheckEqual("assert-table-uuid", required.uuid, metadata_.table_uuid);
  }
  Status operator()(const AssertRefSnapshotId& required) const {
    std::optional<SnapshotId> actual;
    const auto ref = metadata_.refs.find(required.ref);
    if (ref != metadata_.refs.end()) actual = ref->second.snapshot_id;
    return CheckEqual(fmt::format("assert-ref-snapshot-id of {}", required.ref),
                      Text(required.snapshot_id), Text(actual));
  }
  Status operator()(const AssertLastAssignedFieldId& required) const {
    return CheckEqual("assert-last-assigned-field-id", required.last_assigned_field_id,
                      metadata_.last_column_id);
  }
  Status operator()(const AssertCurrentSchemaId& required) const {
    return CheckEqual("assert-current-schema-id", required.current_schema_id,
                      metadata_.current_schema_id);
  }
  Status operator()(const AssertLastAssignedPartitionId& required) const {
    return CheckEqual("assert-last-assigned-partition-id",
                      required.last_assigned_partition_id, metadata_.last_partition_id);
  }
  Status operator()(const AssertDefaultSpecId& required) const {
    return CheckEqual("assert-default-spec-id", required.default_spec_id,
                      metadata_.default_spec_id);
  }
  Status operator()(const AssertDefaultSortOrderId& required) const {
    return CheckEqual("assert-default-sort-order-id", required.default_sort_order_id,
                      metadata_.default_sort_order_id);
  }

 private:
  const TableMetadata& metadata_;
};

}  // namespace

Status Check(const std::vector<TableRequirement>& requirements,
             const TableMetadata& metadata) {
  for (const TableRequirement& requirement : requirements) {
    FIRN_RETURN_NOT_OK(std::visit(Checker(metadata), requirement));
  }
  return Status::OK();
}

}  // namespace firn::iceberg
