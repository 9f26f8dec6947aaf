#include "firn/iceberg/update/new_table.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "firn/iceberg/update/column_checks.h"
#include "firn/order/key_encoder.h"
#include "firn/types/default_value.h"

namespace firn::iceberg {
namespace {

constexpr const char* kFormatVersionProperty = "format-version";
constexpr std::int32_t kFormatVersionDefault = 2;
constexpr FieldId kFirstPartitionFieldId = 1000;
/// A level of a column is up to three of the metadata's JSON, of which readers take few.
constexpr int kNestingMax = 32;

using IdMap = std::map<FieldId, FieldId>;

/// Both trees have one shape: AssignFreshIds changes ids only.
void MapIds(const std::vector<types::Field>& before,
            const std::vector<types::Field>& after, IdMap& ids) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    ids[before[i].id] = after[i].id;
    MapIds(before[i].type.fields(), after[i].type.fields(), ids);
  }
}

/// Names of columns within columns are joined with dots, so `a.b` and `a` with a field
/// `b` are one name; readers find a column by its name.
Status CheckNames(const std::vector<types::Field>& fields, const std::string& parent,
                  std::set<std::string>& names) {
  for (const types::Field& field : fields) {
    const std::string name = parent + field.name;
    if (field.name.empty()) return InvalidError("a column without a name in '{}'", name);
    if (!names.insert(name).second) {
      return InvalidError("two columns are named '{}'; rename one", name);
    }
    FIRN_RETURN_NOT_OK(CheckNames(field.type.fields(), name + ".", names));
  }
  return Status::OK();
}

/// What stands for a type in a table of format version 2; nothing if it does itself
/// (Iceberg spec, "Schemas and Data Types": added in version 3).
std::optional<types::TypeKind> InsteadOf(const types::Type& type) {
  switch (type.kind()) {
    case types::TypeKind::kTimestampNs:
      return types::TypeKind::kTimestamp;
    case types::TypeKind::kTimestamptzNs:
      return types::TypeKind::kTimestamptz;
    default:
      return std::nullopt;
  }
}

/// Invalid, naming the column, for what came with format version 3: types, default
/// values.
Status CheckVersion(const std::vector<types::Field>& fields, const std::string& parent) {
  for (const types::Field& field : fields) {
    const std::string name = parent + field.name;
    if (const auto instead = InsteadOf(field.type)) {
      return InvalidError(
          "column '{}': {} needs format version 3: give the table the property {}=3, or "
          "declare the column as {}, which keeps microseconds",
          name, field.type.ToString(), kFormatVersionProperty,
          types::Type(*instead).ToString());
    }
    for (const char* key : {types::kInitialDefault, types::kWriteDefault}) {
      if (FindDefault(field, key) == nullptr) continue;
      return InvalidError(
          "column '{}': {} needs format version 3: give the table the property {}=3, or "
          "leave it out",
          name, key, kFormatVersionProperty);
    }
    FIRN_RETURN_NOT_OK(CheckVersion(field.type.fields(), name + "."));
  }
  return Status::OK();
}

int Depth(const std::vector<types::Field>& fields) {
  int deepest = 0;
  for (const types::Field& field : fields) {
    deepest = std::max(deepest, Depth(field.type.fields()));
  }
  return fields.empty() ? 0 : deepest + 1;
}

Status MapId(const IdMap& ids, std::string_view what, FieldId& id) {
  const auto found = ids.find(id);
  if (found == ids.end()) {
    return InvalidError("{}: the schema has no field with id {}", what, id);
  }
  id = found->second;
  return Status::OK();
}

Result<std::int32_t> TakeFormatVersion(std::map<std::string, std::string>& properties) {
  const auto property = properties.extract(kFormatVersionProperty);
  if (property.empty()) return kFormatVersionDefault;
  if (property.mapped() == "2") return 2;
  if (property.mapped() == "3") return 3;
  return InvalidError(
      "table property {}: Firn makes tables of version 2 or 3, not \"{}\"",
      kFormatVersionProperty, property.mapped());
}

}  // namespace

Status CheckColumns(const std::vector<types::Field>& fields,
                    std::int32_t format_version) {
  if (fields.empty()) return InvalidError("a table needs a column");
  if (const int depth = Depth(fields); depth > kNestingMax) {
    return InvalidError("columns lie in each other {} levels deep; at most {} are taken",
                        depth, kNestingMax);
  }
  std::set<std::string> names;
  FIRN_RETURN_NOT_OK(CheckNames(fields, "", names));
  return format_version < 3 ? CheckVersion(fields, "") : Status::OK();
}

Result<TableMetadata> NewTableMetadata(TableCreation creation, TableUuid uuid,
                                       WallTime now) {
  FIRN_ASSIGN_OR_RETURN(const std::int32_t format_version,
                        TakeFormatVersion(creation.properties));
  FIRN_RETURN_NOT_OK(CheckColumns(creation.schema.fields, format_version));
  types::Schema schema = types::AssignFreshIds(creation.schema);
  schema.id = SchemaId(0);
  IdMap ids;
  MapIds(creation.schema.fields, schema.fields, ids);
  schema.identifier_field_ids = creation.schema.identifier_field_ids;
  for (FieldId& id : schema.identifier_field_ids) {
    FIRN_RETURN_NOT_OK(MapId(ids, "identifier field", id));
  }

  types::PartitionSpec& spec = creation.partition_spec;
  spec.id = PartitionSpecId(0);
  FieldId next_id = kFirstPartitionFieldId;
  for (types::PartitionField& field : spec.fields) {
    FIRN_RETURN_NOT_OK(MapId(ids, "partition field " + field.name, field.source_id));
    field.field_id = next_id++;
  }
  FIRN_RETURN_NOT_OK(types::PartitionTypes(spec, schema));

  order::SortOrder& order = creation.sort_order;
  order.id = SortOrderId(order.fields.empty() ? 0 : 1);
  for (order::SortField& field : order.fields) {
    FIRN_RETURN_NOT_OK(MapId(ids, "sort field", field.source_id));
  }
  FIRN_RETURN_NOT_OK(order::KeyEncoder::Make(order, schema));

  using std::chrono::milliseconds;
  const auto now_ms = std::chrono::floor<milliseconds>(now).time_since_epoch().count();
  const FieldId last_column_id = types::HighestFieldId(schema);
  const SortOrderId order_id = order.id;
  return TableMetadata{.format_version = format_version,
                       .table_uuid = std::move(uuid),
                       .location = std::move(creation.location),
                       .last_sequence_number = SnapshotSequence(0),
                       .last_updated_ms = now_ms,
                       .last_column_id = last_column_id,
                       .schemas = {std::move(schema)},
                       .current_schema_id = SchemaId(0),
                       .partition_specs = {std::move(spec)},
                       .default_spec_id = PartitionSpecId(0),
                       .last_partition_id = next_id - 1,
                       .sort_orders = {std::move(order)},
                       .default_sort_order_id = order_id,
                       .properties = std::move(creation.properties),
                       .current_snapshot_id = std::nullopt,
                       .snapshots = {},
                       .snapshot_log = {},
                       .metadata_log = {},
                       .refs = {},
                       .next_row_id = 0,
                       .unknown = {}};
}

}  // namespace firn::iceberg
