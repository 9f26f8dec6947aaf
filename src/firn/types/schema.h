#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/types/type.h"

namespace firn::types {

/// A table schema: columns with field ids. Field ids are unique, nested ones included.
struct Schema {
  SchemaId id;
  std::vector<Field> fields;
  std::vector<FieldId> identifier_field_ids;
  UnknownFields unknown;

  bool operator==(const Schema&) const = default;
};

/// The field with this id at any depth; null if there is none. Lives as long as `schema`.
const Field* FindField(const Schema& schema, FieldId id);

/// The field with this full name, nested names joined by dots ("location.lat",
/// "tags.element", "attrs.key"); null if there is none. Case-sensitive.
const Field* FindField(const Schema& schema, std::string_view full_name);

/// The way to a column from the top through structs, an index at each level; nothing if
/// there is no such field or it is below a list or map, where a row has no one value.
std::optional<std::vector<int>> ColumnPath(const Schema& schema, FieldId id);

/// The highest field id in the schema, nested ones included; 0 for an empty schema.
FieldId HighestFieldId(const Schema& schema);

/// Numbers the fields anew from 1, level by level as Iceberg's Java library does for a
/// new table, so that a parent's id is below its children's. Identifier fields follow.
Schema AssignFreshIds(Schema schema);

}  // namespace firn::types
