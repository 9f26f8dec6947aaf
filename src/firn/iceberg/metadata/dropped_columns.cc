#include "firn/iceberg/metadata/dropped_columns.h"

#include <ranges>
#include <span>
#include <utility>

namespace firn::iceberg {
namespace {

/// The field at the end of `path` alone, in the structs on the way to it.
types::Field FieldAlone(const std::vector<types::Field>& fields,
                        std::span<const int> path) {
  types::Field field = fields[static_cast<std::size_t>(path.front())];
  if (path.size() > 1) {
    field.type = types::Type::Struct({FieldAlone(field.type.fields(), path.subspan(1))});
  }
  // Rows that were written after it was dropped have no value.
  field.required = false;
  return field;
}

void AddIfDropped(const TableMetadata& metadata, FieldId column, types::Schema& schema) {
  if (FindField(schema, column) != nullptr) return;
  for (const types::Schema& older : std::views::reverse(metadata.schemas)) {
    const auto path = ColumnPath(older, column);
    if (!path) continue;
    schema.fields.push_back(FieldAlone(older.fields, *path));
    return;
  }
}

template <typename Fields>
types::Schema WithSourcesOf(const TableMetadata& metadata, const Fields& fields) {
  types::Schema schema = CurrentSchema(metadata);
  for (const auto& field : fields) AddIfDropped(metadata, field.source_id, schema);
  return schema;
}

}  // namespace

types::Schema SchemaFor(const TableMetadata& metadata, const types::PartitionSpec& spec) {
  return WithSourcesOf(metadata, spec.fields);
}

types::Schema SchemaFor(const TableMetadata& metadata, const order::SortOrder& order) {
  return WithSourcesOf(metadata, order.fields);
}

}  // namespace firn::iceberg
