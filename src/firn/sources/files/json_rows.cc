#include "firn/sources/files/json_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/util/utf8.h>

#include "firn/core/lower_case.h"
#include "firn/sources/files/json_cursor.h"
#include "firn/sources/files/value_text.h"
#include "firn/types/append_value.h"
#include "firn/types/arrow_types.h"
#include "firn/types/single_value.h"

namespace firn::sources {
using types::Field;
using types::Type;
using types::TypeKind;
using types::Value;

/// Appends one document. Whatever happens, each column that a method is called for gets
/// exactly one value, so that all columns stay of one length.
class JsonRows::Appender {
 public:
  using Column = JsonColumn;

  /// `unknown`: where fields go that the schema does not have; null if nowhere.
  Appender(std::string_view document, const JsonRowsOptions& options,
           UnknownFieldsMap* unknown)
      : document_(document), cursor_(document), options_(options), unknown_(unknown) {}

  Status AppendDocument(std::vector<Column>& columns) {
    return Completed(columns, [&](std::vector<bool>& seen) -> Status {
      if (!arrow::util::ValidateUTF8(document_)) return InvalidError("not UTF-8");
      FIRN_ASSIGN_OR_RETURN(const JsonKind kind, cursor_.Peek());
      if (kind != JsonKind::kObject) {
        FIRN_RETURN_NOT_OK(cursor_.Skip().status());
        return InvalidError("{}, but a record is an object", JsonKindName(kind));
      }
      FIRN_RETURN_NOT_OK(AppendFields(columns, seen, ""));
      FIRN_RETURN_NOT_OK(cursor_.Finish());
      return CheckHasKnown(seen);
    });
  }

  /// Of the error that AppendDocument gave.
  ReasonClass reason_class() const { return reason_class_; }

  /// An undeclared unit, which is no matter of this document alone.
  const Status& failure() const { return failure_; }

 private:
  /// Runs `append`, then gives a value to each column that it has not seen.
  template <typename Append>
  Status Completed(std::vector<Column>& columns, Append&& append) {
    std::vector<bool> seen(columns.size());
    const Status status = append(seen);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (TakesUnknown(columns[i])) {
        FIRN_RETURN_NOT_OK(EndUnknown(columns[i], seen[i]));
      } else if (!seen[i]) {
        FIRN_RETURN_NOT_OK(columns[i].AppendMissing());
      }
    }
    return status;
  }

  bool TakesUnknown(const Column& column) const {
    return unknown_ != nullptr && unknown_->builder() == column.builder;
  }

  /// Unlike other columns it gets its value at the end: any field may be its entry.
  Status EndUnknown(Column& column, bool is_given) {
    if (unknown_->EndRow()) return Status::OK();
    if (is_given) return column.builder->AppendNull();
    const bool is_empty = column.field.required && column.missing == nullptr;
    return is_empty ? column.builder->AppendEmptyValue() : column.AppendMissing();
  }

  /// The fields of the object that comes next.
  Status AppendFields(std::vector<Column>& columns, std::vector<bool>& seen,
                      std::string_view path) {
    FIRN_RETURN_NOT_OK(cursor_.EnterObject());
    std::size_t guess = 0;
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const auto key, cursor_.NextKey());
      if (!key) return Status::OK();
      const auto index = IndexOf(columns, *key, guess);
      if (!index) {
        FIRN_RETURN_NOT_OK(PassUnknown(columns, path, *key));
        continue;
      }
      if (seen[*index]) {
        return InvalidError("column '{}' is there twice", columns[*index].path);
      }
      seen[*index] = true;
      FIRN_RETURN_NOT_OK(AppendValueOf(columns[*index]));
    }
  }

  /// Fields mostly stand in the order of the schema: looks at `guess` first.
  static std::optional<std::size_t> IndexOf(const std::vector<Column>& columns,
                                            std::string_view name, std::size_t& guess) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t index = (guess + i) % columns.size();
      if (columns[index].field.name != name) continue;
      guess = index + 1;
      return index;
    }
    return std::nullopt;
  }

  /// A row of nothing would be made of a record that has nothing of the table.
  Status CheckHasKnown(const std::vector<bool>& seen) {
    if (left_out_.empty() || std::ranges::count(seen, true) > 0) return Status::OK();
    reason_class_ = ReasonClass::kUnknownColumn;
    return InvalidError("the table has none of the record's fields, '{}' neither",
                        left_out_);
  }

  Status PassUnknown(const std::vector<Column>& columns, std::string_view path,
                     std::string_view key) {
    const std::string name =
        path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
    const auto similar = std::ranges::find_if(columns, [&](const Column& column) {
      return EqualWithoutCase(column.field.name, key);
    });
    // Of lists and maps several elements may have it: it is no key of one value.
    const bool is_kept =
        unknown_ != nullptr && similar == columns.end() && repeated_depth_ == 0;
    if (is_kept) return unknown_->Append(name, cursor_);
    FIRN_ASSIGN_OR_RETURN(const std::string_view text, cursor_.Skip());
    if (options_.ignore_unknown && !left_out_.empty()) return Status::OK();
    JsonCursor cursor(text);
    FIRN_ASSIGN_OR_RETURN(const bool says_nothing, SaysNothing(cursor));
    if (says_nothing) return Status::OK();
    left_out_ = name;
    if (options_.ignore_unknown) return Status::OK();
    reason_class_ = ReasonClass::kUnknownColumn;
    if (similar == columns.end()) {
      return InvalidError("the table has no column '{}'", name);
    }
    return InvalidError("the table has no column '{}', but one that is written '{}'",
                        name, similar->path);
  }

  /// The record's own value for the column that unknown fields go to.
  Status TakeGivenMap(Column& column) {
    FIRN_ASSIGN_OR_RETURN(const JsonKind kind, cursor_.Peek());
    if (kind == JsonKind::kNull) return cursor_.Null();
    if (kind != JsonKind::kObject) return Mismatch(column, kind);
    FIRN_RETURN_NOT_OK(unknown_->Begin());
    return AppendEntries(column);
  }

  Status AppendValueOf(Column& column) {
    if (TakesUnknown(column)) return TakeGivenMap(column);
    const Result<JsonKind> kind = cursor_.Peek();
    if (kind.ok() && *kind == JsonKind::kNull) {
      FIRN_RETURN_NOT_OK(column.builder->AppendNull());
      return cursor_.Null();
    }
    const bool is_first = !std::exchange(column.has_values, true);
    if (kind.ok()) {
      switch (column.type().kind()) {
        case TypeKind::kStruct:
          if (*kind == JsonKind::kObject) return AppendStruct(column);
          break;
        case TypeKind::kList:
          if (*kind == JsonKind::kArray) return AppendList(column);
          break;
        case TypeKind::kMap:
          if (*kind == JsonKind::kObject) return AppendMap(column);
          break;
        default:
          return AppendPrimitive(column, *kind, is_first);
      }
    }
    FIRN_RETURN_NOT_OK(column.builder->AppendNull());
    FIRN_RETURN_NOT_OK(kind.status());
    return Mismatch(column, *kind);
  }

  Status AppendStruct(Column& column) {
    FIRN_RETURN_NOT_OK(static_cast<arrow::StructBuilder&>(*column.builder).Append());
    return Completed(column.children, [&](std::vector<bool>& seen) {
      return AppendFields(column.children, seen, column.path);
    });
  }

  Status AppendList(Column& column) {
    FIRN_RETURN_NOT_OK(static_cast<arrow::ListBuilder&>(*column.builder).Append());
    FIRN_RETURN_NOT_OK(cursor_.EnterArray());
    ++repeated_depth_;
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const bool has_element, cursor_.NextElement());
      if (!has_element) break;
      FIRN_RETURN_NOT_OK(AppendValueOf(column.children[0]));
    }
    --repeated_depth_;
    return Status::OK();
  }

  Status AppendMap(Column& column) {
    FIRN_RETURN_NOT_OK(static_cast<arrow::MapBuilder&>(*column.builder).Append());
    return AppendEntries(column);
  }

  Status AppendEntries(Column& column) {
    Column& keys = column.children[0];
    FIRN_RETURN_NOT_OK(cursor_.EnterObject());
    ++repeated_depth_;
    while (true) {
      FIRN_ASSIGN_OR_RETURN(const auto key, cursor_.NextKey());
      if (!key) break;
      const Result<Value> value = types::FromText(keys.type(), *key);
      if (!value.ok()) return NotOfType(keys, Shown(*key));
      FIRN_RETURN_NOT_OK(AppendValue(*keys.builder, keys.type(), *value));
      FIRN_RETURN_NOT_OK(AppendValueOf(column.children[1]));
    }
    --repeated_depth_;
    return Status::OK();
  }

  Status AppendPrimitive(Column& column, JsonKind kind, bool is_first) {
    if (column.type().kind() == TypeKind::kString) return AppendString(column, kind);
    const Result<Value> value = ValueOf(column, kind, is_first);
    if (value.ok()) return AppendValue(*column.builder, column.type(), *value);
    FIRN_RETURN_NOT_OK(column.builder->AppendNull());
    return value.status();
  }

  Status AppendString(Column& column, JsonKind kind) {
    auto& builder = static_cast<arrow::StringBuilder&>(*column.builder);
    const auto text = kind == JsonKind::kString ? cursor_.String() : cursor_.Skip();
    if (text.ok()) return builder.Append(*text);
    FIRN_RETURN_NOT_OK(builder.AppendNull());
    return text.status();
  }

  Result<Value> ValueOf(Column& column, JsonKind kind, bool is_first) {
    if (kind == JsonKind::kBoolean) {
      FIRN_ASSIGN_OR_RETURN(const bool value, cursor_.Boolean());
      if (column.type().kind() == TypeKind::kBoolean) return value;
      return Mismatch(column, kind);
    }
    if (kind == JsonKind::kNumber) {
      FIRN_ASSIGN_OR_RETURN(const std::string_view number, cursor_.Number());
      return FromNumber(column, number, is_first);
    }
    if (kind == JsonKind::kString) {
      FIRN_ASSIGN_OR_RETURN(const std::string_view text, cursor_.String());
      return FromString(column, text);
    }
    FIRN_RETURN_NOT_OK(cursor_.Skip().status());
    return Mismatch(column, kind);
  }

  Result<Value> FromNumber(Column& column, std::string_view number, bool is_first) {
    const Type& type = column.type();
    if (type.kind() >= TypeKind::kInt && type.kind() <= TypeKind::kDecimal) {
      auto value = types::FromText(type, number);
      return value.ok() ? value : NotOfType(column, number);
    }
    if (!IsTimestamp(type)) return NotOfType(column, number);
    if (column.unit) {
      auto value = TimestampFromNumber(type, *column.unit, number);
      if (value.ok()) return value;
      reason_class_ = ReasonClass::kInvalidValue;
      return InvalidError("column '{}': {}", column.path, ErrorText(value.status()));
    }
    reason_class_ = ReasonClass::kInvalidValue;
    const Status undeclared = Status::Invalid(UndeclaredUnit(column.path, type, number));
    if (is_first && !options_.starts_midway) failure_ = undeclared;
    return undeclared;
  }

  Result<Value> FromString(const Column& column, std::string_view text) {
    const Type& type = column.type();
    auto value = ValueFromText(type, text);
    if (value.ok() && type.kind() >= TypeKind::kDecimal) return value;
    const bool is_not_finite =
        value.ok() && ((std::holds_alternative<double>(*value) &&
                        !std::isfinite(std::get<double>(*value))) ||
                       (std::holds_alternative<float>(*value) &&
                        !std::isfinite(std::get<float>(*value))));
    if (is_not_finite) return value;
    return NotOfType(column, fmt::format("the string {}", Shown(text)));
  }

  Status Mismatch(const Column& column, JsonKind kind) {
    return NotOfType(column, JsonKindName(kind));
  }

  Status NotOfType(const Column& column, std::string_view what) {
    reason_class_ = ReasonClass::kInvalidValue;
    return InvalidError("column '{}': {} is not of type {}", column.path, what,
                        column.type().ToString());
  }

  const std::string_view document_;
  JsonCursor cursor_;
  const JsonRowsOptions& options_;
  /// The first field that was left out and says something.
  std::string left_out_;
  UnknownFieldsMap* const unknown_;
  /// Lists and maps around what is read.
  int repeated_depth_ = 0;
  Status failure_;
  /// Whatever is no error of a name or a value is one of the document.
  ReasonClass reason_class_ = ReasonClass::kMalformed;
};

JsonRows::JsonRows(types::Schema schema, JsonRowsOptions options)
    : schema_(std::move(schema)),
      arrow_schema_(types::ToArrowSchema(schema_)),
      options_(std::move(options)) {
  arrow::util::InitializeUTF8();
}

JsonRows::JsonRows(JsonRows&&) noexcept = default;
JsonRows::~JsonRows() = default;

Result<JsonRows> JsonRows::Make(types::Schema schema, JsonRowsOptions options) {
  FIRN_RETURN_NOT_OK(CheckUnknownFieldsColumn(schema, options.unknown_fields_column));
  JsonRows rows(std::move(schema), std::move(options));
  const bool keeps_unknown = !rows.options_.ignore_unknown;
  for (const Field& field : rows.schema_.fields) {
    FIRN_ASSIGN_OR_RETURN(std::shared_ptr<arrow::ArrayBuilder> builder,
                          arrow::MakeBuilder(types::ToArrowType(field.type)));
    FIRN_ASSIGN_OR_RETURN(JsonColumn column, JsonColumn::Make(field, field.name, *builder,
                                                              rows.options_.time_units));
    if (keeps_unknown && field.name == rows.options_.unknown_fields_column) {
      rows.unknown_fields_.emplace(field, *builder);
    }
    rows.columns_.push_back(std::move(column));
    rows.builders_.push_back(std::move(builder));
  }
  return rows;
}

Status JsonRows::Add(std::string_view document) {
  Appender appender(document, options_, unknown_fields_ ? &*unknown_fields_ : nullptr);
  const Status status = appender.AppendDocument(columns_);
  FIRN_RETURN_NOT_OK(appender.failure());
  if (!status.ok()) {
    rejected_.emplace(row_count_, Rejection{.text = ErrorText(status),
                                            .reason_class = appender.reason_class()});
  }
  ++row_count_;
  return Status::OK();
}

Result<std::shared_ptr<arrow::RecordBatch>> JsonRows::Finish(Rejections& rejections) {
  arrow::ArrayVector columns;
  for (const auto& builder : builders_) {
    FIRN_ASSIGN_OR_RETURN(auto column, builder->Finish());
    columns.push_back(std::move(column));
  }
  const auto rows = arrow::RecordBatch::Make(arrow_schema_, std::exchange(row_count_, 0),
                                             std::move(columns));
  rejections = std::exchange(rejected_, {});
  RejectInvalidRows(*rows, schema_, rejections);
  return WithoutRejected(rows, rejections);
}

}  // namespace firn::sources
