#include "firn/sources/files/row_text.h"

#include <cmath>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "firn/types/arrow_types.h"
#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using types::Field;
using types::TypeKind;

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

bool IsJsonNumber(const types::Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return std::isfinite(*number);
  if (const auto* number = std::get_if<float>(&value)) return std::isfinite(*number);
  return true;
}

void AppendPrimitive(const arrow::Array& column, const types::Type& type,
                     std::int64_t row, std::string& out) {
  const types::Value value = types::ValueAt(column, type, row);
  const std::string text = types::ToText(type, value);
  const bool is_bare = type.kind() <= TypeKind::kDecimal && IsJsonNumber(value);
  if (is_bare) {
    out += text;
  } else {
    AppendString(text, out);
  }
}

void AppendJson(const arrow::Array& column, const Field& field, std::int64_t row,
                std::string& out);

void AppendStruct(const arrow::StructArray& column, const Field& field, std::int64_t row,
                  std::string& out) {
  const auto& fields = field.type.fields();
  out += '{';
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    AppendString(fields[i].name, out);
    out += ':';
    AppendJson(*column.field(static_cast<int>(i)), fields[i], row, out);
  }
  out += '}';
}

void AppendList(const arrow::ListArray& column, const Field& field, std::int64_t row,
                std::string& out) {
  const std::int64_t begin = column.value_offset(row);
  out += '[';
  for (std::int64_t i = begin; i < column.value_offset(row + 1); ++i) {
    if (i > begin) out += ',';
    AppendJson(*column.values(), field.type.fields()[0], i, out);
  }
  out += ']';
}

void AppendMap(const arrow::MapArray& column, const Field& field, std::int64_t row,
               std::string& out) {
  const Field& key = field.type.fields()[0];
  const std::int64_t begin = column.value_offset(row);
  out += '{';
  for (std::int64_t i = begin; i < column.value_offset(row + 1); ++i) {
    if (i > begin) out += ',';
    std::string name;
    if (key.type.is_primitive()) {
      name = types::ToText(key.type, types::ValueAt(*column.keys(), key.type, i));
    } else {
      AppendJson(*column.keys(), key, i, name);
    }
    AppendString(name, out);
    out += ':';
    AppendJson(*column.items(), field.type.fields()[1], i, out);
  }
  out += '}';
}

void AppendJson(const arrow::Array& column, const Field& field, std::int64_t row,
                std::string& out) {
  if (column.IsNull(row)) {
    out += "null";
    return;
  }
  switch (field.type.kind()) {
    case TypeKind::kStruct:
      return AppendStruct(static_cast<const arrow::StructArray&>(column), field, row,
                          out);
    case TypeKind::kList:
      return AppendList(static_cast<const arrow::ListArray&>(column), field, row, out);
    case TypeKind::kMap:
      return AppendMap(static_cast<const arrow::MapArray&>(column), field, row, out);
    default:
      return AppendPrimitive(column, field.type, row, out);
  }
}

}  // namespace

std::string RowAsJson(const arrow::RecordBatch& rows, const types::Schema& schema,
                      std::int64_t row) {
  std::string out = "{";
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    if (i > 0) out += ',';
    AppendString(schema.fields[i].name, out);
    out += ':';
    AppendJson(*rows.column(static_cast<int>(i)), schema.fields[i], row, out);
  }
  return out + '}';
}

}  // namespace firn::sources
