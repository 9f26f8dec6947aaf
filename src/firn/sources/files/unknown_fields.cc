#include "firn/sources/files/unknown_fields.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>

#include "firn/types/schema_union.h"

namespace firn::sources {
namespace {

using types::Field;
using types::Type;
using types::TypeKind;

bool IsMapOfStrings(const Type& type) {
  return type.kind() == TypeKind::kMap &&
         std::ranges::all_of(type.fields(), [](const Field& field) {
           return field.type.kind() == TypeKind::kString;
         });
}

arrow::StringBuilder& Strings(arrow::ArrayBuilder* builder) {
  return static_cast<arrow::StringBuilder&>(*builder);
}

}  // namespace

Result<bool> SaysNothing(JsonCursor& cursor) {
  FIRN_ASSIGN_OR_RETURN(const JsonKind kind, cursor.Peek());
  if (kind == JsonKind::kArray) {
    FIRN_RETURN_NOT_OK(cursor.EnterArray());
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const bool has_element, cursor.NextElement());
      if (!has_element) return true;
      FIRN_ASSIGN_OR_RETURN(const bool says_nothing, SaysNothing(cursor));
      if (!says_nothing) return false;
    }
  }
  if (kind == JsonKind::kObject) {
    FIRN_RETURN_NOT_OK(cursor.EnterObject());
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const auto key, cursor.NextKey());
      if (!key) return true;
      FIRN_ASSIGN_OR_RETURN(const bool says_nothing, SaysNothing(cursor));
      if (!says_nothing) return false;
    }
  }
  if (kind != JsonKind::kNull) return false;
  FIRN_RETURN_NOT_OK(cursor.Null());
  return true;
}

Status CheckUnknownFieldsColumn(const types::Schema& schema, std::string_view name) {
  const auto column = std::ranges::find(schema.fields, name, &Field::name);
  if (column == schema.fields.end() || IsMapOfStrings(column->type)) return Status::OK();
  return InvalidError(
      "column '{}' cannot keep unknown fields: it has to be a map<string, string>, and "
      "is of type {}; name another one, which is added if the table does not have it",
      name, column->type.ToString());
}

Result<types::Schema> WithUnknownFieldsColumn(const types::Schema& schema,
                                              std::string_view name) {
  if (name.empty()) return schema;
  FIRN_RETURN_NOT_OK(CheckUnknownFieldsColumn(schema, name));
  if (std::ranges::count(schema.fields, name, &Field::name) > 0) return schema;
  const Type text(TypeKind::kString);
  const Field column = {
      .name = std::string(name),
      .type = Type::Map({.id = 1, .type = text}, {.id = 2, .type = text})};
  return types::UnionByName(schema, {.fields = {column}},
                            {.last_column_id = types::HighestFieldId(schema)});
}

UnknownFieldsMap::UnknownFieldsMap(const Field& field, arrow::ArrayBuilder& builder)
    : builder_(static_cast<arrow::MapBuilder&>(builder)),
      takes_null_(!field.type.fields()[1].required) {}

Status UnknownFieldsMap::Begin() {
  return std::exchange(has_begun_, true) ? Status::OK() : builder_.Append();
}

Status UnknownFieldsMap::Append(std::string_view name, JsonCursor& cursor) {
  FIRN_ASSIGN_OR_RETURN(const JsonKind kind, cursor.Peek());
  std::optional<std::string_view> value;
  if (kind == JsonKind::kNull) {
    FIRN_RETURN_NOT_OK(cursor.Null());
    if (!takes_null_) return Status::OK();
  } else {
    auto text = kind == JsonKind::kString ? cursor.String() : cursor.Skip();
    FIRN_RETURN_NOT_OK(std::move(text).Value(&value.emplace()));
  }
  FIRN_RETURN_NOT_OK(Begin());
  FIRN_RETURN_NOT_OK(Strings(builder_.key_builder()).Append(name));
  arrow::StringBuilder& values = Strings(builder_.item_builder());
  return value ? values.Append(*value) : values.AppendNull();
}

bool UnknownFieldsMap::EndRow() { return std::exchange(has_begun_, false); }

}  // namespace firn::sources
