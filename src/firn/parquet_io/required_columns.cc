#include "firn/parquet_io/required_columns.h"

#include <memory>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>

namespace firn::parquet_io {
namespace {

using types::Field;
using types::TypeKind;
using FoundName = std::optional<std::string>;
using Arrays = std::vector<std::shared_ptr<arrow::Array>>;

/// What an array holds, one for each field of its type, and those values among it that
/// belong to no row.
Arrays ChildrenOf(TypeKind kind, const arrow::Array& array) {
  switch (kind) {
    case TypeKind::kStruct:
      return static_cast<const arrow::StructArray&>(array).fields();
    case TypeKind::kList:
      return {static_cast<const arrow::ListArray&>(array).values()};
    case TypeKind::kMap: {
      const auto& map = static_cast<const arrow::MapArray&>(array);
      return {map.keys(), map.items()};
    }
    default:
      return {};
  }
}

/// False for most data, and cheap: tells whether a closer look can find anything.
bool MayHaveNull(const Field& field, const arrow::Array& array) {
  if (field.required && array.null_count() > 0) return true;
  const Arrays children = ChildrenOf(field.type.kind(), array);
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (MayHaveNull(field.type.fields()[i], *children[i])) return true;
  }
  return false;
}

/// As ChildrenOf, but with the nulls of a struct in its fields, too, and without the
/// elements of null lists.
Result<Arrays> PresentChildrenOf(TypeKind kind, const arrow::Array& array) {
  auto* const pool = arrow::default_memory_pool();
  if (kind == TypeKind::kStruct) {
    return static_cast<const arrow::StructArray&>(array).Flatten(pool);
  }
  FIRN_ASSIGN_OR_RETURN(auto elements,
                        static_cast<const arrow::ListArray&>(array).Flatten(pool));
  if (kind == TypeKind::kList) return Arrays{std::move(elements)};
  return static_cast<const arrow::StructArray&>(*elements).fields();
}

/// `nulls_above` values of `array` are null because the struct around them is.
Result<FoundName> FindNull(const Field& field, const arrow::Array& array,
                           std::int64_t nulls_above) {
  if (field.required && array.null_count() > nulls_above) return FoundName(field.name);
  if (field.type.is_primitive()) return FoundName();
  const bool is_struct = field.type.kind() == TypeKind::kStruct;
  FIRN_ASSIGN_OR_RETURN(const Arrays children,
                        PresentChildrenOf(field.type.kind(), array));
  for (std::size_t i = 0; i < children.size(); ++i) {
    FIRN_ASSIGN_OR_RETURN(const FoundName found,
                          FindNull(field.type.fields()[i], *children[i],
                                   is_struct ? array.null_count() : 0));
    if (found) return FoundName(field.name + "." + *found);
  }
  return FoundName();
}

std::shared_ptr<arrow::ArrayData> WithValues(const Field& field,
                                             const arrow::ArrayData& array) {
  auto data = array.Copy();
  if (field.required && data->GetNullCount() > 0) {
    data->buffers[0] = nullptr;
    data->null_count = 0;
  }
  const auto& fields = field.type.fields();
  if (field.type.kind() == TypeKind::kMap) {
    const auto entries = data->child_data[0]->Copy();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      entries->child_data[i] = WithValues(fields[i], *entries->child_data[i]);
    }
    data->child_data[0] = entries;
    return data;
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    data->child_data[i] = WithValues(fields[i], *data->child_data[i]);
  }
  return data;
}

}  // namespace

Result<std::optional<std::string>> FindNullOfRequired(const types::Schema& schema,
                                                      const arrow::RecordBatch& batch) {
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    const Field& field = schema.fields[i];
    const arrow::Array& column = *batch.column(static_cast<int>(i));
    if (!MayHaveNull(field, column)) continue;
    FIRN_ASSIGN_OR_RETURN(FoundName found, FindNull(field, column, 0));
    if (found) return found;
  }
  return FoundName();
}

std::shared_ptr<arrow::RecordBatch> WithValuesBelowNulls(
    const types::Schema& schema, std::shared_ptr<arrow::RecordBatch> batch) {
  arrow::ArrayVector columns = batch->columns();
  bool is_changed = false;
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    const Field& field = schema.fields[i];
    if (field.type.is_primitive() || !MayHaveNull(field, *columns[i])) continue;
    columns[i] = arrow::MakeArray(WithValues(field, *columns[i]->data()));
    is_changed = true;
  }
  if (!is_changed) return batch;
  return arrow::RecordBatch::Make(batch->schema(), batch->num_rows(), std::move(columns));
}

}  // namespace firn::parquet_io
