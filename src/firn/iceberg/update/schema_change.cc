#include "firn/iceberg/update/schema_change.h"

#include <algorithm>

#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/metadata/table_properties.h"
#include "firn/iceberg/serde/name_mapping.h"
#include "firn/iceberg/update/column_checks.h"
#include "firn/types/schema_union.h"

namespace firn::iceberg {
namespace {

using types::TransformKind;
using types::TypeKind;

Status CheckIdentifiers(const types::Schema& schema) {
  for (const FieldId id : schema.identifier_field_ids) {
    const types::Field* field = FindField(schema, id);
    if (field == nullptr || field->required) continue;
    return InvalidError(
        "column '{}' identifies the rows of the table (identifier-field-ids), so it "
        "stays "
        "required, and the input has records without a value for it; give them one",
        field->name);
  }
  return Status::OK();
}

/// Readers show partition values beside columns, by name.
Status CheckPartitionNames(const types::PartitionSpec& spec, const types::Schema& before,
                           const types::Schema& after) {
  for (const types::PartitionField& field : spec.fields) {
    const bool is_new = FindField(after, field.name) != nullptr &&
                        FindField(before, field.name) == nullptr;
    if (!is_new) continue;
    return InvalidError(
        "column '{}' cannot be added: a partition field has this name; rename the column "
        "in the input",
        field.name);
  }
  return Status::OK();
}

/// True if the transform gives a date and the midnight that it becomes another value.
bool TellsDateFromTimestamp(TransformKind transform) {
  return transform == TransformKind::kIdentity || transform == TransformKind::kBucket;
}

/// A column that is a date in `before` and another type in `after`; null if `id` is none.
const types::Field* FormerDate(const types::Schema& before, const types::Schema& after,
                               FieldId id) {
  const types::Field* from = FindField(before, id);
  const types::Field* to = FindField(after, id);
  if (from == nullptr || to == nullptr || from->type == to->type) return nullptr;
  return from->type.kind() == TypeKind::kDate ? to : nullptr;
}

/// Rows that are sorted by the hash of their dates would not be by that of timestamps,
/// under the same sort order.
Status CheckSortSources(const TableMetadata& metadata, const types::Schema& before,
                        const types::Schema& after) {
  for (const order::SortOrder& order : metadata.sort_orders) {
    for (const order::SortField& field : order.fields) {
      if (field.transform.kind != TransformKind::kBucket) continue;
      const types::Field* column = FormerDate(before, after, field.source_id);
      if (column == nullptr) continue;
      return InvalidError(
          "column '{}' is date in the table and {} in the input, and stays what it is, "
          "since sort order {} would sort by other values ({}); convert the values",
          column->name, column->type.ToString(), order.id, ToString(field.transform));
    }
  }
  return Status::OK();
}

Status CheckPartitionSources(const TableMetadata& metadata, const types::Schema& before,
                             const types::Schema& after) {
  for (const types::PartitionSpec& spec : metadata.partition_specs) {
    for (const types::PartitionField& field : spec.fields) {
      const types::Field* column = FormerDate(before, after, field.source_id);
      if (column == nullptr || !TellsDateFromTimestamp(field.transform.kind)) continue;
      return InvalidError(
          "column '{}' is date in the table and {} in the input, and stays what it is, "
          "since partition field '{}' would have other values; convert the values",
          column->name, column->type.ToString(), field.name);
    }
  }
  return Status::OK();
}

}  // namespace

Result<std::optional<PreparedSchemaChange>> PrepareSchemaChange(
    const TableMetadata& metadata, const types::Schema& wanted) {
  const types::Schema& before = CurrentSchema(metadata);
  FIRN_ASSIGN_OR_RETURN(
      const types::Schema after,
      UnionByName(before, wanted,
                  {.format_version = metadata.format_version,
                   .last_column_id = std::max(metadata.last_column_id,
                                              types::HighestFieldId(before))}));
  if (after.fields == before.fields) return std::nullopt;
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  FIRN_RETURN_NOT_OK(CheckColumns(after.fields, metadata.format_version));
  FIRN_RETURN_NOT_OK(CheckIdentifiers(after));
  FIRN_RETURN_NOT_OK(CheckPartitionNames(DefaultSpec(metadata), before, after));
  FIRN_RETURN_NOT_OK(CheckPartitionSources(metadata, before, after));
  FIRN_RETURN_NOT_OK(CheckSortSources(metadata, before, after));
  PreparedSchemaChange change = {
      .requirements = {AssertTableUuid{metadata.table_uuid},
                       AssertCurrentSchemaId{metadata.current_schema_id},
                       AssertLastAssignedFieldId{metadata.last_column_id}},
      .updates = {AddSchema{after}, SetCurrentSchema{}}};
  if (const std::string* mapping = FindTableProperty(metadata, kNameMappingProperty)) {
    if (auto extended = NameMappingWithNewFields(*mapping, before, after)) {
      change.updates.push_back(
          SetProperties{{{kNameMappingProperty, *std::move(extended)}}});
    }
  }
  return change;
}

}  // namespace firn::iceberg
