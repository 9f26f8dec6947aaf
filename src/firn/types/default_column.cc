#include "firn/types/default_column.h"

#include <arrow/array/array_base.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/scalar.h>
#include <nlohmann/json.hpp>

#include "firn/types/append_value.h"
#include "firn/types/arrow_types.h"
#include "firn/types/default_value.h"

namespace firn::types {
namespace {

using Json = nlohmann::json;

/// Appends one value to a builder of its type.
class Appender {
 public:
  explicit Appender(const char* name) : name_(name) {}

  Status AppendDefault(arrow::ArrayBuilder& builder, const Field& field) const {
    const std::string* text = FindDefault(field, name_);
    if (text == nullptr) return AppendNull(builder, field);
    const Status appended = AppendJson(
        builder, field, Json::parse(*text, nullptr, /*allow_exceptions=*/false));
    if (appended.ok()) return appended;
    return AddContext(appended, fmt::format("{} of column '{}' (field id {})", name_,
                                            field.name, field.id));
  }

 private:
  static Status AppendNull(arrow::ArrayBuilder& builder, const Field& field) {
    if (!field.required) return builder.AppendNull();
    return InvalidError("'{}' (field id {}) is required, and has no value", field.name,
                        field.id);
  }

  Status AppendJson(arrow::ArrayBuilder& builder, const Field& field,
                    const Json& json) const {
    if (json.is_null()) return AppendNull(builder, field);
    switch (field.type.kind()) {
      case TypeKind::kStruct:
        return AppendStruct(static_cast<arrow::StructBuilder&>(builder), field, json);
      case TypeKind::kList:
        return AppendList(static_cast<arrow::ListBuilder&>(builder), field, json);
      case TypeKind::kMap:
        return AppendMap(static_cast<arrow::MapBuilder&>(builder), field, json);
      default:
        break;
    }
    if (json.is_discarded()) return InvalidError("not JSON");
    FIRN_ASSIGN_OR_RETURN(const Value value, ValueFromJson(field.type, json.dump()));
    return AppendValue(builder, field.type, value);
  }

  Status AppendStruct(arrow::StructBuilder& builder, const Field& field,
                      const Json& json) const {
    if (!json.is_object()) return DoesNotFit(field);
    FIRN_RETURN_NOT_OK(builder.Append());
    const std::vector<Field>& children = field.type.fields();
    for (std::size_t i = 0; i < children.size(); ++i) {
      arrow::ArrayBuilder& values = *builder.field_builder(static_cast<int>(i));
      const auto said = json.find(fmt::format("{}", children[i].id));
      FIRN_RETURN_NOT_OK(said == json.end() ? AppendDefault(values, children[i])
                                            : AppendJson(values, children[i], *said));
    }
    return Status::OK();
  }

  Status AppendList(arrow::ListBuilder& builder, const Field& field,
                    const Json& json) const {
    if (!json.is_array()) return DoesNotFit(field);
    FIRN_RETURN_NOT_OK(builder.Append());
    return AppendAll(*builder.value_builder(), field.type.fields()[0], json);
  }

  Status AppendMap(arrow::MapBuilder& builder, const Field& field,
                   const Json& json) const {
    if (!json.is_object()) return DoesNotFit(field);
    const Json keys = json.value("keys", Json());
    const Json values = json.value("values", Json());
    if (!keys.is_array() || !values.is_array() || keys.size() != values.size()) {
      return DoesNotFit(field);
    }
    FIRN_RETURN_NOT_OK(builder.Append());
    FIRN_RETURN_NOT_OK(AppendAll(*builder.key_builder(), field.type.fields()[0], keys));
    return AppendAll(*builder.item_builder(), field.type.fields()[1], values);
  }

  Status AppendAll(arrow::ArrayBuilder& builder, const Field& field,
                   const Json& values) const {
    for (const Json& value : values) {
      FIRN_RETURN_NOT_OK(AppendJson(builder, field, value));
    }
    return Status::OK();
  }

  static Status DoesNotFit(const Field& field) {
    return InvalidError("no value of type {}", field.type.ToString());
  }

  const char* name_;
};

}  // namespace

Result<std::shared_ptr<arrow::Array>> DefaultColumn(const Field& field, const char* name,
                                                    std::int64_t rows) {
  const auto type = ToArrowType(field.type);
  if (FindDefault(field, name) == nullptr) return arrow::MakeArrayOfNull(type, rows);
  FIRN_ASSIGN_OR_RETURN(const auto builder, arrow::MakeBuilder(type));
  FIRN_RETURN_NOT_OK(Appender(name).AppendDefault(*builder, field));
  FIRN_ASSIGN_OR_RETURN(const auto one, builder->Finish());
  FIRN_ASSIGN_OR_RETURN(const auto scalar, one->GetScalar(0));
  return arrow::MakeArrayFromScalar(*scalar, rows);
}

}  // namespace firn::types
