#include "firn/sources/files/value_converter.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include "firn/sources/files/column_names.h"
#include "firn/sources/files/value_text.h"
#include "firn/types/append_value.h"
#include "firn/types/arrow_types.h"
#include "firn/types/column_list.h"
#include "firn/types/default_column.h"
#include "firn/types/default_value.h"
#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using types::TypeKind;
using types::Value;

Status CheckKnown(const types::Schema& schema, const std::vector<std::string>& columns,
                  const ConverterOptions& options) {
  const std::vector<std::string> names = ColumnNames(schema.fields);
  const auto is_known = [&](const std::string& column) {
    return std::ranges::count(names, column) > 0;
  };
  if (options.ignore_unknown && std::ranges::any_of(columns, is_known)) {
    return Status::OK();
  }
  const auto unknown = std::ranges::find_if_not(columns, is_known);
  if (unknown == columns.end()) return Status::OK();
  const auto delimiter =
      columns.size() == 1 ? LikelyDelimiter(*unknown, options.delimiter) : std::nullopt;
  if (delimiter) {
    return InvalidError(
        "the header is read as one column, '{}', which the table does not have; if "
        "'{}' separates values, give --delimiter '{}'",
        *unknown, *delimiter, *delimiter);
  }
  if (options.ignore_unknown) return NoneIsKnown(columns, names);
  return InvalidError(
      "the table has no column '{}'; {}; --evolve-schema adds others, --ignore-unknown "
      "leaves them out",
      *unknown, WhatIsThere(names, *unknown));
}

}  // namespace

ValueConverter::ValueConverter(types::Schema schema, ConverterOptions options)
    : schema_(std::move(schema)),
      arrow_schema_(types::ToArrowSchema(schema_)),
      options_(std::move(options)),
      has_values_(schema_.fields.size()) {}

Result<ValueConverter> ValueConverter::Make(types::Schema schema,
                                            const std::vector<std::string>& columns,
                                            ConverterOptions options) {
  FIRN_RETURN_NOT_OK(CheckKnown(schema, columns, options));
  for (const types::Field& field : schema.fields) {
    const bool is_there = std::ranges::count(columns, field.name) > 0;
    const bool has_default = FindDefault(field, types::kWriteDefault) != nullptr;
    if (!is_there && field.required && !has_default) {
      return InvalidError("column '{}' is required, but not there", field.name);
    }
    if (is_there && !field.type.is_primitive()) {
      return InvalidError("column '{}': text cannot give a value of type {}", field.name,
                          field.type.ToString());
    }
  }
  return ValueConverter(std::move(schema), std::move(options));
}

Result<Value> ValueConverter::ValueOf(std::size_t index, std::string_view text) {
  const types::Field& field = schema_.fields[index];
  const bool is_first = !has_values_[index];
  has_values_[index] = true;
  auto value = ValueFromText(field.type, text);
  if (value.ok()) return value;
  if (!IsTimestamp(field.type) || !IsNumber(text)) {
    return InvalidError("column '{}': {} is not of type {}", field.name, Shown(text),
                        field.type.ToString());
  }
  const auto unit = TimeUnitOf(options_.time_units, field.name);
  if (unit) {
    value = TimestampFromNumber(field.type, *unit, text);
    if (value.ok()) return value;
    return InvalidError("column '{}': {}", field.name, ErrorText(value.status()));
  }
  const Status undeclared = Status::Invalid(UndeclaredUnit(field.name, field.type, text));
  if (is_first && !options_.starts_midway) failure_ = undeclared;
  return undeclared;
}

/// A value that does not fit is null in the result, and its row rejected.
Result<std::shared_ptr<arrow::Array>> ValueConverter::Parse(
    const arrow::StringArray& texts, std::size_t index, Rejections& rejections) {
  const types::Type& type = schema_.fields[index].type;
  FIRN_ASSIGN_OR_RETURN(const auto builder, arrow::MakeBuilder(types::ToArrowType(type)));
  FIRN_RETURN_NOT_OK(builder->Reserve(texts.length()));
  const bool is_null_if_empty = type.kind() != TypeKind::kBinary;
  for (std::int64_t row = 0; row < texts.length(); ++row) {
    if (texts.IsNull(row) || (is_null_if_empty && texts.GetView(row).empty())) {
      FIRN_RETURN_NOT_OK(builder->AppendNull());
      continue;
    }
    const Result<Value> value = ValueOf(index, texts.GetView(row));
    FIRN_RETURN_NOT_OK(failure_);
    if (value.ok()) {
      FIRN_RETURN_NOT_OK(AppendValue(*builder, type, *value));
      continue;
    }
    FIRN_RETURN_NOT_OK(builder->AppendNull());
    rejections.try_emplace(row, Rejection{.text = ErrorText(value.status())});
  }
  return builder->Finish();
}

Result<std::shared_ptr<arrow::Array>> ValueConverter::ConvertColumn(
    const arrow::RecordBatch& texts, std::size_t index, Rejections& rejections) {
  const types::Field& field = schema_.fields[index];
  const auto column = texts.GetColumnByName(field.name);
  if (column == nullptr) {
    return types::DefaultColumn(field, types::kWriteDefault, texts.num_rows());
  }
  if (field.type.kind() == TypeKind::kString) return column;
  return Parse(static_cast<const arrow::StringArray&>(*column), index, rejections);
}

Result<ConvertedBatch> ValueConverter::Convert(const arrow::RecordBatch& texts) {
  ConvertedBatch converted;
  arrow::ArrayVector columns;
  for (std::size_t i = 0; i < schema_.fields.size(); ++i) {
    FIRN_ASSIGN_OR_RETURN(auto column, ConvertColumn(texts, i, converted.rejected));
    columns.push_back(std::move(column));
  }
  const auto rows =
      arrow::RecordBatch::Make(arrow_schema_, texts.num_rows(), std::move(columns));
  RejectInvalidRows(*rows, schema_, converted.rejected);
  FIRN_ASSIGN_OR_RETURN(converted.batch, WithoutRejected(rows, converted.rejected));
  converted.rows = RowsThatFit(texts.num_rows(), converted.rejected);
  return converted;
}

}  // namespace firn::sources
