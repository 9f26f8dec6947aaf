#include "firn/iceberg/serde/carried_fields.h"

#include <algorithm>
#include <utility>

namespace firn::iceberg::serde {
namespace {

using avro::Kind;
using avro::RecordField;

const UnknownField* FindUnknown(const std::vector<UnknownField>& fields,
                                const std::string& schema) {
  const auto found = std::ranges::find(fields, schema, &UnknownField::schema);
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace

void AddCarried(const std::vector<RecordField>& fields,
                std::vector<RecordField>& carried) {
  for (const RecordField& field : fields) {
    if (field.type->kind != Kind::kVerbatim) continue;
    const bool is_there = std::ranges::any_of(carried, [&](const RecordField& other) {
      return other.type->attributes == field.type->attributes;
    });
    if (!is_there) carried.push_back(field);
  }
}

Status AddUnknown(const std::vector<UnknownField>& unknown, avro::FieldFilter is_read,
                  std::vector<RecordField>& carried) {
  for (const UnknownField& field : unknown) {
    const std::string record =
        fmt::format(R"({{"type": "record", "name": "r", "fields": [{}]}})", field.schema);
    const Result<avro::SchemaPtr> schema = avro::ParseSchema(record, is_read);
    if (!schema.ok()) {
      return InvalidError(
          "the table's manifest list has a field that Firn does not know, and cannot "
          "carry along: write to the table with the engine that added it ({}; field {})",
          schema.status().message(), field.schema);
    }
    AddCarried((*schema)->fields, carried);
  }
  return Status::OK();
}

Status AppendCarried(const std::vector<RecordField>& carried,
                     const std::vector<UnknownField>& unknown, avro::Values& values) {
  for (const RecordField& field : carried) {
    if (const auto* found = FindUnknown(unknown, field.type->attributes)) {
      values.push_back({found->value});
      continue;
    }
    if (!avro::IsNullable(*field.type->parts[0])) {
      return InvalidError(
          "the table's manifest list has a required field that Firn does not know, and "
          "so cannot fill in: write to the table with the engine that added it (field "
          "'{}')",
          field.name);
    }
    values.push_back({});
  }
  return Status::OK();
}

std::vector<UnknownField> UnknownFieldsOf(const avro::Schema& schema,
                                          const avro::Value& value) {
  const auto& values = std::get<avro::Values>(value.data);
  std::vector<UnknownField> unknown;
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    const avro::Schema& type = *schema.fields[i].type;
    if (type.kind != Kind::kVerbatim || values[i].is_null()) continue;
    // A damaged schema may have a field twice.
    if (FindUnknown(unknown, type.attributes) != nullptr) continue;
    unknown.push_back(
        {.schema = type.attributes, .value = std::get<std::string>(values[i].data)});
  }
  return unknown;
}

}  // namespace firn::iceberg::serde
