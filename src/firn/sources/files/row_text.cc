#include "firn/sources/files/row_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>

#include "firn/sources/files/arrow_text.h"

namespace firn::sources {
namespace {

using arrow::Type;

void AppendString(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendJson(const arrow::Array& column, const types::Type* to, std::int64_t row,
                std::string& out);

const types::Type* TypeOf(const std::vector<types::Field>& fields,
                          std::string_view name) {
  const auto found = std::ranges::find(fields, name, &types::Field::name);
  return found == fields.end() ? nullptr : &found->type;
}

/// Child `index` of a type that is `kind`, and nothing of any other.
const types::Type* ChildOf(const types::Type* type, types::TypeKind kind,
                           std::size_t index) {
  if (type == nullptr || type->kind() != kind) return nullptr;
  return &type->fields()[index].type;
}

void AppendStruct(const arrow::StructArray& column, const types::Type* to,
                  std::int64_t row, std::string& out) {
  static const std::vector<types::Field> kNone;
  const bool is_struct = to != nullptr && to->kind() == types::TypeKind::kStruct;
  const auto& fields = is_struct ? to->fields() : kNone;
  out += '{';
  for (int i = 0; i < column.num_fields(); ++i) {
    if (i > 0) out += ',';
    const std::string& name = column.struct_type()->field(i)->name();
    AppendString(name, out);
    out += ':';
    AppendJson(*column.field(i), TypeOf(fields, name), row, out);
  }
  out += '}';
}

template <typename List>
void AppendList(const arrow::Array& column, const types::Type* to, std::int64_t row,
                std::string& out) {
  const auto& lists = static_cast<const List&>(column);
  const types::Type* element = ChildOf(to, types::TypeKind::kList, 0);
  const std::int64_t begin = lists.value_offset(row);
  const std::int64_t end = begin + lists.value_length(row);
  out += '[';
  for (std::int64_t i = begin; i < end; ++i) {
    if (i > begin) out += ',';
    AppendJson(*lists.values(), element, i, out);
  }
  out += ']';
}

/// Keys are JSON's strings whatever their type; one that is there twice stands twice.
void AppendMap(const arrow::MapArray& column, const types::Type* to, std::int64_t row,
               std::string& out) {
  const types::Type* key = ChildOf(to, types::TypeKind::kMap, 0);
  const types::Type* value = ChildOf(to, types::TypeKind::kMap, 1);
  const std::int64_t begin = column.value_offset(row);
  out += '{';
  for (std::int64_t i = begin; i < column.value_offset(row + 1); ++i) {
    if (i > begin) out += ',';
    std::string name;
    AppendJson(*column.keys(), key, i, name);
    if (name.starts_with('"')) {
      out += name;
    } else {
      AppendString(name, out);
    }
    out += ':';
    AppendJson(*column.items(), value, i, out);
  }
  out += '}';
}

void AppendExtension(const arrow::ExtensionArray& column, const types::Type* to,
                     std::int64_t row, std::string& out) {
  static const types::Type kUuid(types::TypeKind::kUuid);
  const bool is_uuid = column.extension_type()->extension_name() == "arrow.uuid";
  AppendJson(*column.storage(), to == nullptr && is_uuid ? &kUuid : to, row, out);
}

void AppendPrimitive(const arrow::Array& column, const types::Type* to, std::int64_t row,
                     std::string& out) {
  const ArrowText value = TextOfValue(column, to, row);
  if (value.is_bare) {
    out += value.text;
  } else {
    AppendString(value.text, out);
  }
}

void AppendJson(const arrow::Array& column, const types::Type* to, std::int64_t row,
                std::string& out) {
  if (column.IsNull(row)) {
    out += "null";
    return;
  }
  switch (column.type_id()) {
    case Type::STRUCT:
      return AppendStruct(static_cast<const arrow::StructArray&>(column), to, row, out);
    case Type::LIST:
      return AppendList<arrow::ListArray>(column, to, row, out);
    case Type::LARGE_LIST:
      return AppendList<arrow::LargeListArray>(column, to, row, out);
    case Type::LIST_VIEW:
      return AppendList<arrow::ListViewArray>(column, to, row, out);
    case Type::LARGE_LIST_VIEW:
      return AppendList<arrow::LargeListViewArray>(column, to, row, out);
    case Type::FIXED_SIZE_LIST:
      return AppendList<arrow::FixedSizeListArray>(column, to, row, out);
    case Type::MAP:
      return AppendMap(static_cast<const arrow::MapArray&>(column), to, row, out);
    case Type::DICTIONARY: {
      const auto& values = static_cast<const arrow::DictionaryArray&>(column);
      return AppendJson(*values.dictionary(), to, values.GetValueIndex(row), out);
    }
    case Type::EXTENSION:
      return AppendExtension(static_cast<const arrow::ExtensionArray&>(column), to, row,
                             out);
    default:
      return AppendPrimitive(column, to, row, out);
  }
}

}  // namespace

std::string RowAsJson(const arrow::RecordBatch& rows, const types::Schema& table,
                      std::int64_t row) {
  std::string out = "{";
  for (int i = 0; i < rows.num_columns(); ++i) {
    if (i > 0) out += ',';
    AppendString(rows.column_name(i), out);
    out += ':';
    AppendJson(*rows.column(i), TypeOf(table.fields, rows.column_name(i)), row, out);
  }
  return out + '}';
}

std::string ValueAsJson(const arrow::Array& column, const types::Type& type,
                        std::int64_t row) {
  std::string out;
  AppendJson(column, &type, row, out);
  return out;
}

}  // namespace firn::sources
