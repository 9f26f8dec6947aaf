#include "firn/types/schema.h"

#include <algorithm>
#include <map>
#include <utility>

namespace firn::types {
namespace {

const Field* FindById(const std::vector<Field>& fields, FieldId id) {
  for (const Field& field : fields) {
    if (field.id == id) return &field;
    const Field* nested = FindById(field.type.fields(), id);
    if (nested != nullptr) return nested;
  }
  return nullptr;
}

const Field* FindByName(const std::vector<Field>& fields, std::string_view name) {
  for (const Field& field : fields) {
    if (field.name == name) return &field;
    // Names may hold dots themselves, so that every prefix has to be tried.
    if (!name.starts_with(field.name) || name.substr(field.name.size(), 1) != ".") {
      continue;
    }
    const std::string_view rest = name.substr(field.name.size() + 1);
    const Field* nested = FindByName(field.type.fields(), rest);
    if (nested != nullptr) return nested;
  }
  return nullptr;
}

bool FindPath(const std::vector<Field>& fields, FieldId id, std::vector<int>& path) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    path.push_back(static_cast<int>(i));
    if (fields[i].id == id) return true;
    const Type& type = fields[i].type;
    if (type.kind() == TypeKind::kStruct && FindPath(type.fields(), id, path))
      return true;
    path.pop_back();
  }
  return false;
}

FieldId HighestId(const std::vector<Field>& fields) {
  FieldId highest = 0;
  for (const Field& field : fields) {
    highest = std::max({highest, field.id, HighestId(field.type.fields())});
  }
  return highest;
}

class Renumbering {
 public:
  std::vector<Field> Fields(std::vector<Field> fields) {
    for (Field& field : fields) {
      const FieldId fresh = ++last_id_;
      fresh_ids_.emplace(std::exchange(field.id, fresh), fresh);
    }
    for (Field& field : fields) field.type = Nested(field.type);
    return fields;
  }

  FieldId Fresh(FieldId old_id) const {
    const auto found = fresh_ids_.find(old_id);
    return found == fresh_ids_.end() ? old_id : found->second;
  }

 private:
  Type Nested(const Type& type) {
    if (type.is_primitive()) return type;
    std::vector<Field> fields = Fields(type.fields());
    if (type.kind() == TypeKind::kStruct) return Type::Struct(std::move(fields));
    if (type.kind() == TypeKind::kList) return Type::List(std::move(fields[0]));
    return Type::Map(std::move(fields[0]), std::move(fields[1]));
  }

  FieldId last_id_ = 0;
  std::map<FieldId, FieldId> fresh_ids_;
};

}  // namespace

const Field* FindField(const Schema& schema, FieldId id) {
  return FindById(schema.fields, id);
}

const Field* FindField(const Schema& schema, std::string_view full_name) {
  return FindByName(schema.fields, full_name);
}

std::optional<std::vector<int>> ColumnPath(const Schema& schema, FieldId id) {
  std::vector<int> path;
  if (!FindPath(schema.fields, id, path)) return std::nullopt;
  return path;
}

FieldId HighestFieldId(const Schema& schema) { return HighestId(schema.fields); }

Schema AssignFreshIds(Schema schema) {
  Renumbering renumbering;
  schema.fields = renumbering.Fields(std::move(schema.fields));
  for (FieldId& id : schema.identifier_field_ids) id = renumbering.Fresh(id);
  return schema;
}

}  // namespace firn::types
