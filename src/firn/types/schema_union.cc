#include "firn/types/schema_union.h"

#include <algorithm>
#include <string>
#include <utility>

#include "firn/core/lower_case.h"
#include "firn/types/default_value.h"

namespace firn::types {
namespace {

bool DiffersInCaseOnly(std::string_view a, std::string_view b) {
  return a != b && EqualWithoutCase(a, b);
}

std::vector<Field> WithIdsAbove(FieldId last, std::vector<Field> fields) {
  for (Field& field : fields) {
    field.id += last;
    if (field.type.is_primitive()) continue;
    field.type = TypeOver(field.type.kind(), WithIdsAbove(last, field.type.fields()));
  }
  return fields;
}

/// A required field of rows that are there already needs a value for them (spec, "Default
/// values").
bool HasDefault(const Field& field, std::int32_t format_version) {
  return format_version >= 3 && HasInitialDefault(field);
}

class Union {
 public:
  explicit Union(const UnionOptions& options)
      : format_version_(options.format_version), last_id_(options.last_column_id) {}

  Result<std::vector<Field>> Fields(std::vector<Field> fields,
                                    const std::vector<Field>& wanted,
                                    const std::string& prefix) {
    for (const Field& field : wanted) {
      const std::string path = prefix + field.name;
      const auto found = std::ranges::find(fields, field.name, &Field::name);
      if (found == fields.end()) {
        FIRN_RETURN_NOT_OK(CheckNew(field, fields, path));
        fields.push_back(Numbered(field));
      } else {
        FIRN_RETURN_NOT_OK(Change(*found, field, path));
      }
    }
    return fields;
  }

 private:
  Status CheckNew(const Field& field, const std::vector<Field>& others,
                  const std::string& path) const {
    const auto similar = std::ranges::find_if(others, [&](const Field& other) {
      return DiffersInCaseOnly(other.name, field.name);
    });
    if (similar != others.end()) {
      return InvalidError(
          "column '{}' cannot be added: it differs from '{}', which is there, only in "
          "case, and many engines do not tell them apart; rename it in the input",
          path, similar->name);
    }
    if (!field.required || HasDefault(field, format_version_)) return Status::OK();
    return InvalidError(
        "column '{}' of type {} cannot be added as a required one, since the rows that "
        "are there have no value for it; make it optional in the input",
        path, field.type.ToString());
  }

  Field Numbered(const Field& field) {
    Schema fresh = AssignFreshIds({.fields = {field}});
    std::vector<Field> numbered = WithIdsAbove(last_id_, std::move(fresh.fields));
    last_id_ = HighestFieldId({.fields = numbered});
    return std::move(numbered.front());
  }

  Status Change(Field& field, const Field& wanted, const std::string& path) {
    field.required = field.required && wanted.required;
    FIRN_ASSIGN_OR_RETURN(field.type, TypeFor(field.type, wanted.type, path));
    return Status::OK();
  }

  Result<Type> TypeFor(const Type& type, const Type& wanted, const std::string& path) {
    if (!type.is_primitive() && type.kind() == wanted.kind()) {
      return NestedFor(type, wanted, path);
    }
    if (MayBePromoted(wanted, type, format_version_)) return type;
    if (MayBePromoted(type, wanted, format_version_)) return wanted;
    return InvalidError(
        "column '{}' is {} in the table and {} in the input, and a column only becomes "
        "wider (int to long, float to double, a decimal with more digits before the "
        "point{}); convert the values, or land them in a column of another name",
        path, type.ToString(), wanted.ToString(),
        format_version_ >= 3 ? ", date to timestamp" : "");
  }

  Result<Type> NestedFor(const Type& type, const Type& wanted, const std::string& path) {
    std::vector<Field> fields = type.fields();
    if (type.kind() == TypeKind::kStruct) {
      FIRN_ASSIGN_OR_RETURN(fields,
                            Fields(std::move(fields), wanted.fields(), path + "."));
      return Type::Struct(std::move(fields));
    }
    // Elements, keys and values have one name each, and are matched by place.
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string part = path + "." + fields[i].name;
      const bool is_key = type.kind() == TypeKind::kMap && i == 0;
      const Type before = fields[i].type;
      FIRN_RETURN_NOT_OK(Change(fields[i], wanted.fields()[i], part));
      fields[i].required = fields[i].required || is_key;
      if (!is_key || fields[i].type == before) continue;
      return InvalidError(
          "column '{}' is {} in the table and {} in the input, and the keys of a map "
          "never change; convert them, or land the map in a column of another name",
          part, before.ToString(), wanted.fields()[i].type.ToString());
    }
    return TypeOver(type.kind(), std::move(fields));
  }

  const std::int32_t format_version_;
  FieldId last_id_;
};

}  // namespace

bool MayBePromoted(const Type& from, const Type& to, std::int32_t format_version) {
  if (IsPromotion(from, to)) return true;
  return format_version >= 3 && from.kind() == TypeKind::kDate &&
         (to.kind() == TypeKind::kTimestamp || to.kind() == TypeKind::kTimestampNs);
}

Type TypeOver(TypeKind kind, std::vector<Field> fields) {
  if (kind == TypeKind::kStruct) return Type::Struct(std::move(fields));
  if (kind == TypeKind::kList) return Type::List(std::move(fields[0]));
  return Type::Map(std::move(fields[0]), std::move(fields[1]));
}

std::vector<Field> AllOptional(std::vector<Field> fields) {
  for (Field& field : fields) {
    field.required = false;
    if (field.type.is_primitive()) continue;
    field.type = TypeOver(field.type.kind(), AllOptional(field.type.fields()));
  }
  return fields;
}

Result<Schema> UnionByName(const Schema& schema, const Schema& wanted,
                           const UnionOptions& options) {
  Schema changed = schema;
  FIRN_ASSIGN_OR_RETURN(changed.fields, Union(options).Fields(std::move(changed.fields),
                                                              wanted.fields, ""));
  return changed;
}

}  // namespace firn::types
