#include "firn/sources/files/json_column.h"

#include <cstddef>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_nested.h>

#include "firn/types/default_column.h"
#include "firn/types/default_value.h"

namespace firn::sources {
namespace {

using types::Type;
using types::TypeKind;

std::vector<arrow::ArrayBuilder*> ChildBuilders(arrow::ArrayBuilder& builder,
                                                const Type& type) {
  std::vector<arrow::ArrayBuilder*> children;
  switch (type.kind()) {
    case TypeKind::kStruct: {
      auto& structs = static_cast<arrow::StructBuilder&>(builder);
      for (int i = 0; i < structs.num_fields(); ++i) {
        children.push_back(structs.field_builder(i));
      }
      return children;
    }
    case TypeKind::kList:
      return {static_cast<arrow::ListBuilder&>(builder).value_builder()};
    case TypeKind::kMap: {
      auto& map = static_cast<arrow::MapBuilder&>(builder);
      return {map.key_builder(), map.item_builder()};
    }
    default:
      return {};
  }
}

}  // namespace

Result<JsonColumn> JsonColumn::Make(const types::Field& field, std::string path,
                                    arrow::ArrayBuilder& builder,
                                    const TimeUnits& units) {
  JsonColumn made = {.field = field, .path = std::move(path), .builder = &builder};
  made.unit = TimeUnitOf(units, made.path);
  if (FindDefault(field, types::kWriteDefault) != nullptr) {
    FIRN_ASSIGN_OR_RETURN(made.missing,
                          types::DefaultColumn(field, types::kWriteDefault, 1));
  }
  const auto children = ChildBuilders(builder, field.type);
  for (std::size_t i = 0; i < children.size(); ++i) {
    const types::Field& child = field.type.fields()[i];
    FIRN_ASSIGN_OR_RETURN(
        JsonColumn below,
        Make(child, fmt::format("{}.{}", made.path, child.name), *children[i], units));
    made.children.push_back(std::move(below));
  }
  return made;
}

Status JsonColumn::AppendMissing() {
  if (missing == nullptr) return builder->AppendNull();
  return builder->AppendArraySlice(*missing->data(), 0, 1);
}

}  // namespace firn::sources
