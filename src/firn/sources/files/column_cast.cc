#include "firn/sources/files/column_cast.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include "firn/sources/files/column_names.h"
#include "firn/types/arrow_types.h"
#include "firn/types/column_list.h"
#include "firn/types/default_column.h"
#include "firn/types/default_value.h"

namespace firn::sources {
namespace {

using arrow::Type;
using types::TypeKind;

constexpr int kUuidBytes = 16;

/// Without dictionaries and names of extensions.
const arrow::DataType& PlainType(const arrow::DataType& type) {
  if (type.id() == Type::DICTIONARY) {
    return PlainType(*static_cast<const arrow::DictionaryType&>(type).value_type());
  }
  if (type.id() == Type::EXTENSION) {
    return PlainType(*static_cast<const arrow::ExtensionType&>(type).storage_type());
  }
  return type;  // NOLINT(bugprone-return-const-ref-from-parameter): nobody makes one in a
                // call
}

bool IsBytes(Type::type id) {
  return id == Type::BINARY || id == Type::LARGE_BINARY || id == Type::BINARY_VIEW ||
         id == Type::STRING || id == Type::LARGE_STRING || id == Type::STRING_VIEW;
}

bool IsFixed(const arrow::DataType& type, int bytes) {
  return type.id() == Type::FIXED_SIZE_BINARY &&
         static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width() == bytes;
}

bool IsList(Type::type id) {
  return id == Type::LIST || id == Type::LARGE_LIST || id == Type::FIXED_SIZE_LIST;
}

std::string PathOf(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : fmt::format("{}.{}", prefix, name);
}

arrow::TimeUnit::type ArrowUnit(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return arrow::TimeUnit::SECOND;
    case TimeUnit::kMilliseconds:
      return arrow::TimeUnit::MILLI;
    case TimeUnit::kMicroseconds:
      return arrow::TimeUnit::MICRO;
    case TimeUnit::kNanoseconds:
      break;
  }
  return arrow::TimeUnit::NANO;
}

std::shared_ptr<arrow::Array> Relabelled(const arrow::Array& column,
                                         std::shared_ptr<arrow::DataType> type) {
  const auto data = column.data()->Copy();
  data->type = std::move(type);
  return arrow::MakeArray(data);
}

/// Without dictionaries and extensions.
Result<std::shared_ptr<arrow::Array>> Plain(const std::shared_ptr<arrow::Array>& column) {
  if (column->type_id() == Type::DICTIONARY) {
    const auto& type = static_cast<const arrow::DictionaryType&>(*column->type());
    FIRN_ASSIGN_OR_RETURN(const auto values,
                          arrow::compute::Cast(*column, type.value_type()));
    return Plain(values);
  }
  if (column->type_id() == Type::EXTENSION) {
    return Plain(static_cast<const arrow::ExtensionArray&>(*column).storage());
  }
  return column;
}

template <typename List>
std::int64_t ElementCount(const arrow::Array& column) {
  const auto& lists = static_cast<const List&>(column);
  if (lists.length() == 0) return 0;
  return lists.value_offset(lists.length()) - lists.value_offset(0);
}

/// True if the children go beyond the rows, as those of a slice do.
bool HasMoreThanItsRows(const arrow::Array& column) {
  std::int64_t count = column.length();
  switch (column.type_id()) {
    case Type::LIST:
    case Type::MAP:
      count = ElementCount<arrow::ListArray>(column);
      break;
    case Type::LARGE_LIST:
      count = ElementCount<arrow::LargeListArray>(column);
      break;
    case Type::FIXED_SIZE_LIST:
      count *= static_cast<const arrow::FixedSizeListArray&>(column).value_length();
      break;
    default:
      break;
  }
  return column.offset() != 0 ||
         std::ranges::any_of(column.data()->child_data,
                             [&](const auto& child) { return child->length != count; });
}

/// The same rows, their children without what other rows have: that must not be cast.
Result<std::shared_ptr<arrow::Array>> WithOwnChildren(
    const std::shared_ptr<arrow::Array>& column) {
  if (!HasMoreThanItsRows(*column)) return column;
  return arrow::Concatenate({column});
}

/// The same numbers, named so that a cast to `to` changes their unit only.
std::shared_ptr<arrow::Array> AsTimestamps(const arrow::Array& column,
                                           const arrow::DataType& to,
                                           std::optional<TimeUnit> unit) {
  const auto& timestamps = static_cast<const arrow::TimestampType&>(to);
  const auto from_unit =
      unit ? ArrowUnit(*unit)
           : static_cast<const arrow::TimestampType&>(*column.type()).unit();
  return Relabelled(column, arrow::timestamp(from_unit, timestamps.timezone()));
}

arrow::compute::CastOptions LosslessCast() {
  auto options = arrow::compute::CastOptions::Safe();
  // Which rows are not UTF-8 is found out later.
  options.allow_invalid_utf8 = true;
  return options;
}

/// "7: " for a column of one value, which is then known to be the one at fault.
std::string TextIfSingle(const arrow::Array& column) {
  if (column.length() != 1) return "";
  const auto value = column.GetScalar(0);
  return value.ok() ? (*value)->ToString() + ": " : "";
}

/// Of two timestamps.
bool IsFiner(const arrow::DataType& from, const arrow::DataType& to) {
  if (from.id() != Type::TIMESTAMP || to.id() != Type::TIMESTAMP) return false;
  return static_cast<const arrow::TimestampType&>(from).unit() >
         static_cast<const arrow::TimestampType&>(to).unit();
}

}  // namespace

bool MayBecome(const arrow::DataType& from, const types::Type& to) {
  const Type::type id = from.id();
  switch (to.kind()) {
    case TypeKind::kBoolean:
      return id == Type::BOOL;
    case TypeKind::kInt:
    case TypeKind::kLong:
      return arrow::is_integer(id);
    case TypeKind::kFloat:
      return id == Type::FLOAT || id == Type::HALF_FLOAT;
    case TypeKind::kDouble:
      return arrow::is_floating(id) || arrow::is_integer(id);
    case TypeKind::kDecimal:
      return arrow::is_decimal(id) || arrow::is_integer(id);
    case TypeKind::kDate:
      return id == Type::DATE32 || id == Type::DATE64;
    case TypeKind::kTime:
      return id == Type::TIME32 || id == Type::TIME64;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestamptz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestamptzNs:
      return id == Type::TIMESTAMP;
    case TypeKind::kString:
      return IsBytes(id);
    case TypeKind::kBinary:
      return IsBytes(id) || id == Type::FIXED_SIZE_BINARY;
    case TypeKind::kUuid:
      return IsFixed(from, kUuidBytes);
    case TypeKind::kFixed:
      return IsFixed(from, to.length());
    case TypeKind::kStruct:
      return id == Type::STRUCT;
    case TypeKind::kList:
      return IsList(id);
    case TypeKind::kMap:
      return id == Type::MAP;
  }
  return false;
}

ColumnCast::ColumnCast(types::Schema schema, ColumnCastOptions options)
    : schema_(std::move(schema)),
      arrow_schema_(types::ToArrowSchema(schema_)),
      options_(std::move(options)) {}

Result<ColumnCast> ColumnCast::Make(const arrow::Schema& file, types::Schema schema,
                                    ColumnCastOptions options) {
  ColumnCast cast(std::move(schema), std::move(options));
  const auto& fields = cast.schema_.fields;
  const bool has_known = std::ranges::any_of(file.fields(), [&](const auto& field) {
    return std::ranges::count(fields, field->name(), &types::Field::name) > 0;
  });
  if (cast.options_.ignore_unknown && !has_known) {
    return NoneIsKnown(file.field_names(), types::ColumnNames(fields));
  }
  FIRN_RETURN_NOT_OK(cast.CheckFields(file.fields(), fields, ""));
  return cast;
}

Status ColumnCast::CheckFields(const arrow::FieldVector& from,
                               const std::vector<types::Field>& to,
                               const std::string& prefix) const {
  for (const auto& field : from) {
    if (options_.ignore_unknown || field->type()->id() == Type::NA) continue;
    if (std::ranges::count(to, field->name(), &types::Field::name) > 0) continue;
    return InvalidError(
        "the table has no column '{}'; --evolve-schema adds it, --ignore-unknown leaves "
        "it out",
        PathOf(prefix, field->name()));
  }
  for (const types::Field& field : to) {
    const std::string path = PathOf(prefix, field.name);
    const auto same_name = [&](const auto& other) { return other->name() == field.name; };
    const auto found = std::ranges::find_if(from, same_name);
    if (found == from.end()) {
      const bool has_default = FindDefault(field, types::kWriteDefault) != nullptr;
      if (!field.required || has_default) continue;
      return InvalidError("column '{}' is required, but not there", path);
    }
    if (std::ranges::count_if(from, same_name) > 1) {
      return InvalidError("two columns have the name '{}'", path);
    }
    FIRN_RETURN_NOT_OK(CheckType(*(*found)->type(), field, path));
  }
  return Status::OK();
}

Status ColumnCast::CheckType(const arrow::DataType& type, const types::Field& to,
                             const std::string& path) const {
  const arrow::DataType& from = PlainType(type);
  const auto& fields = to.type.fields();
  if (from.id() == Type::NA) return Status::OK();
  if (IsTimestamp(to.type) && from.id() == Type::INT64) {
    if (TimeUnitOf(options_.time_units, path)) return Status::OK();
    return Status::Invalid(UndeclaredUnit(path, to.type, from.ToString()));
  }
  if (!MayBecome(from, to.type)) {
    return InvalidError("column '{}' is of type {} in the file, which cannot become {}",
                        path, from.ToString(), to.type.ToString());
  }
  if (to.type.kind() == TypeKind::kStruct) {
    return CheckFields(from.fields(), fields, path);
  }
  if (to.type.kind() == TypeKind::kList) {
    return CheckType(*from.field(0)->type(), fields[0], PathOf(path, fields[0].name));
  }
  if (to.type.kind() == TypeKind::kMap) {
    const auto& map = static_cast<const arrow::MapType&>(from);
    FIRN_RETURN_NOT_OK(
        CheckType(*map.key_type(), fields[0], PathOf(path, fields[0].name)));
    return CheckType(*map.item_type(), fields[1], PathOf(path, fields[1].name));
  }
  return Status::OK();
}

Result<std::shared_ptr<arrow::RecordBatch>> ColumnCast::Cast(
    const arrow::RecordBatch& rows) const {
  arrow::ArrayVector columns;
  for (const types::Field& field : schema_.fields) {
    const auto column = rows.GetColumnByName(field.name);
    if (column == nullptr) {
      FIRN_ASSIGN_OR_RETURN(
          auto missing,
          types::DefaultColumn(field, types::kWriteDefault, rows.num_rows()));
      columns.push_back(std::move(missing));
      continue;
    }
    FIRN_ASSIGN_OR_RETURN(auto cast, CastColumn(column, field, field.name));
    columns.push_back(std::move(cast));
  }
  return arrow::RecordBatch::Make(arrow_schema_, rows.num_rows(), std::move(columns));
}

Result<std::shared_ptr<arrow::Array>> ColumnCast::CastColumn(
    const std::shared_ptr<arrow::Array>& column, const types::Field& to,
    const std::string& path) const {
  if (column->type_id() == Type::NA) {
    return arrow::MakeArrayOfNull(types::ToArrowType(to.type), column->length());
  }
  FIRN_ASSIGN_OR_RETURN(const auto plain, Plain(column));
  if (to.type.is_primitive()) return CastPrimitive(plain, to, path);
  FIRN_ASSIGN_OR_RETURN(const auto nested, WithOwnChildren(plain));
  return CastNested(nested, to, path);
}

Result<std::shared_ptr<arrow::Array>> ColumnCast::CastPrimitive(
    const std::shared_ptr<arrow::Array>& column, const types::Field& to,
    const std::string& path) const {
  const auto type = types::ToArrowType(to.type);
  std::shared_ptr<arrow::Array> source = column;
  if (IsTimestamp(to.type)) {
    const bool is_integer = column->type_id() == Type::INT64;
    source =
        AsTimestamps(*column, *type,
                     is_integer ? TimeUnitOf(options_.time_units, path) : std::nullopt);
  }
  if (source->type()->Equals(*type)) return source;
  const auto cast = arrow::compute::Cast(*source, type, LosslessCast());
  if (cast.ok()) return cast;
  if (IsFiner(*source->type(), *type)) {
    return InvalidError(
        "column '{}' does not fit {}: {}has nanoseconds; round it, or make the column "
        "timestamp_ns (format version 3)",
        path, to.type.ToString(), TextIfSingle(*source));
  }
  return InvalidError("column '{}' does not fit {}: {}{}", path, to.type.ToString(),
                      TextIfSingle(*source), ErrorText(cast.status()));
}

/// Children are cast as a whole, below the offsets and the validity of their parent.
Result<std::shared_ptr<arrow::Array>> ColumnCast::CastNested(
    const std::shared_ptr<arrow::Array>& column, const types::Field& to,
    const std::string& path) const {
  if (to.type.kind() == TypeKind::kStruct) return CastStruct(*column, to, path);
  const auto& fields = to.type.fields();
  std::shared_ptr<arrow::Array> source = column;
  if (source->type_id() == Type::LARGE_LIST ||
      source->type_id() == Type::FIXED_SIZE_LIST) {
    const auto list = arrow::list(source->type()->field(0));
    FIRN_ASSIGN_OR_RETURN(source, arrow::compute::Cast(*source, list));
  }
  const auto data = source->data()->Copy();
  data->type = types::ToArrowType(to.type);
  if (to.type.kind() == TypeKind::kList) {
    FIRN_ASSIGN_OR_RETURN(const auto values,
                          CastColumn(arrow::MakeArray(data->child_data[0]), fields[0],
                                     PathOf(path, fields[0].name)));
    data->child_data[0] = values->data();
    return arrow::MakeArray(data);
  }
  const auto entries = data->child_data[0]->Copy();
  entries->type = static_cast<const arrow::MapType&>(*data->type).value_type();
  for (std::size_t i = 0; i < 2; ++i) {
    FIRN_ASSIGN_OR_RETURN(const auto values,
                          CastColumn(arrow::MakeArray(entries->child_data[i]), fields[i],
                                     PathOf(path, fields[i].name)));
    entries->child_data[i] = values->data();
  }
  data->child_data[0] = entries;
  return arrow::MakeArray(data);
}

Result<std::shared_ptr<arrow::Array>> ColumnCast::CastStruct(
    const arrow::Array& column, const types::Field& to, const std::string& path) const {
  const auto& from = static_cast<const arrow::StructType&>(*column.type());
  const auto data = column.data()->Copy();
  data->type = types::ToArrowType(to.type);
  data->child_data.clear();
  for (const types::Field& field : to.type.fields()) {
    const int index = from.GetFieldIndex(field.name);
    std::shared_ptr<arrow::Array> child;
    if (index < 0) {
      FIRN_ASSIGN_OR_RETURN(child,
                            types::DefaultColumn(field, types::kWriteDefault,
                                                 column.offset() + column.length()));
    } else {
      const auto& values = column.data()->child_data[static_cast<std::size_t>(index)];
      FIRN_ASSIGN_OR_RETURN(
          child, CastColumn(arrow::MakeArray(values), field, PathOf(path, field.name)));
    }
    data->child_data.push_back(child->data());
  }
  return arrow::MakeArray(data);
}

}  // namespace firn::sources
