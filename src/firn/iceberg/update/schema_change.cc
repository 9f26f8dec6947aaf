#include "firn/iceberg/update/schema_change.h"

#include <algorithm>

#include "firn/iceberg/io/metadata_io.h"
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

Status CheckPartitionSources(const TableMetadata& metadata, const types::Schema& before,
                             const types::Schema& after) {
  for (const types::PartitionSpec& spec : metadata.partition_specs) {
    for (const types::PartitionField& field : spec.fields) {
      const types::Field* from = FindField(before, field.source_id);
      const types::Field* to = FindField(after, field.source_id);
      if (from == nullptr || to == nullptr || from->type == to->type) continue;
      if (from->type.kind() != TypeKind::kDate) continue;
      if (!TellsDateFromTimestamp(field.transform.kind)) continue;
      return InvalidError(
          "column '{}' is {} in the table and {} in the input, and stays what it is, "
          "since "
          "partition field '{}' would have other values; convert the values",
          from->name, from->type.ToString(), to->type.ToString(), field.name);
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
  return PreparedSchemaChange{
      .requirements = {AssertTableUuid{metadata.table_uuid},
                       AssertCurrentSchemaId{metadata.current_schema_id},
                       AssertLastAssignedFieldId{metadata.last_column_id}},
      .updates = {AddSchema{after}, SetCurrentSchema{}}};
}

}  // namespace firn::iceberg
