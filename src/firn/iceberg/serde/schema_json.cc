#include "firn/iceberg/serde/schema_json.h"

#include <algorithm>
#include <utility>

#include "firn/iceberg/serde/json_value.h"

namespace firn::iceberg {
namespace serde {
namespace {

using types::Field;
using types::Type;
using types::TypeKind;

/// A nested type is an object of its own within its field's. What is unknown there is
/// kept in the field that has the type, under this prefix.
constexpr std::string_view kTypePrefix = "type/";

constexpr FieldId kFirstPartitionFieldId = 1000;

void KeepTypeFields(types::UnknownFields of_type, types::UnknownFields& of_field) {
  for (auto& [name, text] : of_type) {
    of_field.emplace(fmt::format("{}{}", kTypePrefix, name), std::move(text));
  }
}

Type ReadType(const Json& json, const std::string& path, ParseOutcome& outcome,
              types::UnknownFields& unknown);

std::vector<Field> ReadFields(ObjectReader& reader) {
  std::vector<Field> fields;
  if (reader.Get("fields").is_null()) return fields;
  const Json& array = reader.Array("fields");
  for (std::size_t i = 0; i < array.size(); ++i) {
    ObjectReader object(array[i], reader.PathOf("fields", i), reader.outcome());
    Field field{.id = object.Int("id"),
                .name = object.String("name"),
                .type = Type(),
                .required = object.Bool("required"),
                .doc = object.OptionalString("doc"),
                .unknown = {}};
    const Json& type = object.Get("type");
    field.unknown = object.Unknown();
    field.type = ReadType(type, object.PathOf("type"), reader.outcome(), field.unknown);
    fields.push_back(std::move(field));
  }
  return fields;
}

/// The element of a list, or a map's key or value: its parts carry its name as prefix.
Field ReadPart(ObjectReader& reader, std::string_view name) {
  Field part{.id = reader.Int(fmt::format("{}-id", name)),
             .name = std::string(name),
             .type = Type(),
             .required = name == "key" || reader.Bool(fmt::format("{}-required", name)),
             .doc = {},
             .unknown = {}};
  part.type =
      ReadType(reader.Get(name), reader.PathOf(name), reader.outcome(), part.unknown);
  return part;
}

Type ReadPrimitive(const std::string& text, const std::string& path,
                   ParseOutcome& outcome) {
  Result<Type> type = types::ParsePrimitiveType(text);
  if (type.ok()) return *type;
  outcome.Fail(AddContext(type.status(), path));
  return Type();
}

Type ReadType(const Json& json, const std::string& path, ParseOutcome& outcome,
              types::UnknownFields& unknown) {
  if (json.is_string()) return ReadPrimitive(json.get<std::string>(), path, outcome);
  ObjectReader reader(json, path, outcome);
  const std::string kind = reader.String("type");
  Type type;
  if (kind == "struct") {
    type = Type::Struct(ReadFields(reader));
  } else if (kind == "list") {
    type = Type::List(ReadPart(reader, "element"));
  } else if (kind == "map") {
    Field key = ReadPart(reader, "key");
    type = Type::Map(std::move(key), ReadPart(reader, "value"));
  } else {
    outcome.Fail(InvalidError("{}: unknown type '{}'", path, kind));
  }
  KeepTypeFields(reader.Unknown(), unknown);
  return type;
}

/// The transform of a partition or sort field.
types::Transform ReadTransform(ObjectReader& reader) {
  const std::string text = reader.String("transform");
  Result<types::Transform> transform = types::ParseTransform(text);
  if (transform.ok()) return *transform;
  reader.outcome().Fail(AddContext(transform.status(), reader.PathOf("transform")));
  return {};
}

/// Unknown fields of `field` itself, and those of its type.
std::pair<types::UnknownFields, types::UnknownFields> SplitUnknown(const Field& field) {
  types::UnknownFields own, of_type;
  for (const auto& [name, text] : field.unknown) {
    if (name.starts_with(kTypePrefix)) {
      of_type.emplace(name.substr(kTypePrefix.size()), text);
    } else {
      own.emplace(name, text);
    }
  }
  return {std::move(own), std::move(of_type)};
}

Json TypeToJson(const Field& owner);

Json FieldsToJson(const std::vector<Field>& fields) {
  Json array = Json::array();
  for (const Field& field : fields) {
    Json json = {{"id", field.id},
                 {"name", field.name},
                 {"required", field.required},
                 {"type", TypeToJson(field)}};
    if (!field.doc.empty()) json["doc"] = field.doc;
    AddUnknown(SplitUnknown(field).first, json);
    array.push_back(std::move(json));
  }
  return array;
}

void AddPart(const Field& part, const std::string& name, Json& json) {
  json[name + "-id"] = part.id;
  json[name] = TypeToJson(part);
  if (name != "key") json[name + "-required"] = part.required;
}

Json TypeToJson(const Field& owner) {
  const Type& type = owner.type;
  if (type.is_primitive()) return type.ToString();
  Json json = Json::object();
  if (type.kind() == TypeKind::kStruct) {
    json["type"] = "struct";
    json["fields"] = FieldsToJson(type.fields());
  } else if (type.kind() == TypeKind::kList) {
    json["type"] = "list";
    AddPart(type.fields()[0], "element", json);
  } else {
    json["type"] = "map";
    AddPart(type.fields()[0], "key", json);
    AddPart(type.fields()[1], "value", json);
  }
  AddUnknown(SplitUnknown(owner).second, json);
  return json;
}

order::Direction ReadDirection(ObjectReader& reader) {
  const std::string text = reader.String("direction");
  if (text == "desc") return order::Direction::kDescending;
  if (text != "asc") {
    reader.outcome().Fail(Error(ErrorKind::kCorruption, "{}: '{}' is not asc or desc",
                                reader.PathOf("direction"), text));
  }
  return order::Direction::kAscending;
}

order::NullOrder ReadNullOrder(ObjectReader& reader) {
  const std::string text = reader.String("null-order");
  if (text == "nulls-last") return order::NullOrder::kNullsLast;
  if (text != "nulls-first") {
    reader.outcome().Fail(Error(ErrorKind::kCorruption,
                                "{}: '{}' is not nulls-first or nulls-last",
                                reader.PathOf("null-order"), text));
  }
  return order::NullOrder::kNullsFirst;
}

}  // namespace

types::Schema ReadSchema(const Json& json, const std::string& path,
                         ParseOutcome& outcome) {
  ObjectReader reader(json, path, outcome);
  if (reader.String("type") != "struct") {
    outcome.Fail(
        Error(ErrorKind::kCorruption, "{}: expected struct", reader.PathOf("type")));
  }
  types::Schema schema{.id = SchemaId(reader.OptionalInt("schema-id").value_or(0)),
                       .fields = ReadFields(reader),
                       .identifier_field_ids = reader.IntList("identifier-field-ids"),
                       .unknown = {}};
  schema.unknown = reader.Unknown();
  return schema;
}

std::vector<types::PartitionField> ReadPartitionFields(const Json& json,
                                                       const std::string& path,
                                                       ParseOutcome& outcome) {
  std::vector<types::PartitionField> fields;
  if (!json.is_array()) {
    outcome.Fail(Error(ErrorKind::kCorruption, "{}: expected an array", path));
    return fields;
  }
  const bool has_ids = std::any_of(json.begin(), json.end(), [](const Json& field) {
    return field.is_object() && field.contains("field-id");
  });
  for (std::size_t i = 0; i < json.size(); ++i) {
    ObjectReader reader(json[i], fmt::format("{}[{}]", path, i), outcome);
    const FieldId next_id = kFirstPartitionFieldId + static_cast<FieldId>(i);
    types::PartitionField field{.source_id = reader.Int("source-id"),
                                .field_id = has_ids ? reader.Int("field-id") : next_id,
                                .name = reader.String("name"),
                                .transform = ReadTransform(reader),
                                .unknown = {}};
    field.unknown = reader.Unknown();
    fields.push_back(std::move(field));
  }
  return fields;
}

types::PartitionSpec ReadSpec(const Json& json, const std::string& path,
                              ParseOutcome& outcome) {
  ObjectReader reader(json, path, outcome);
  types::PartitionSpec spec{.id = PartitionSpecId(reader.Int("spec-id")),
                            .fields = ReadPartitionFields(
                                reader.Get("fields"), reader.PathOf("fields"), outcome),
                            .unknown = {}};
  spec.unknown = reader.Unknown();
  return spec;
}

order::SortOrder ReadSortOrder(const Json& json, const std::string& path,
                               ParseOutcome& outcome) {
  ObjectReader reader(json, path, outcome);
  order::SortOrder order{
      .id = SortOrderId(reader.Int("order-id")), .fields = {}, .unknown = {}};
  reader.Get("fields");
  const Json& array = reader.Array("fields");
  for (std::size_t i = 0; i < array.size(); ++i) {
    ObjectReader object(array[i], reader.PathOf("fields", i), outcome);
    order::SortField field{.source_id = object.Int("source-id"),
                           .transform = ReadTransform(object),
                           .direction = ReadDirection(object),
                           .null_order = ReadNullOrder(object),
                           .unknown = {}};
    field.unknown = object.Unknown();
    order.fields.push_back(std::move(field));
  }
  order.unknown = reader.Unknown();
  return order;
}

Json ToJsonValue(const types::Schema& schema) {
  Json json = {{"type", "struct"},
               {"schema-id", schema.id.value()},
               {"fields", FieldsToJson(schema.fields)}};
  if (!schema.identifier_field_ids.empty()) {
    json["identifier-field-ids"] = schema.identifier_field_ids;
  }
  AddUnknown(schema.unknown, json);
  return json;
}

Json ToJsonValue(const std::vector<types::PartitionField>& fields) {
  Json array = Json::array();
  for (const types::PartitionField& field : fields) {
    Json json = {{"name", field.name},
                 {"transform", types::ToString(field.transform)},
                 {"source-id", field.source_id},
                 {"field-id", field.field_id}};
    AddUnknown(field.unknown, json);
    array.push_back(std::move(json));
  }
  return array;
}

Json ToJsonValue(const types::PartitionSpec& spec) {
  Json json = {{"spec-id", spec.id.value()}, {"fields", ToJsonValue(spec.fields)}};
  AddUnknown(spec.unknown, json);
  return json;
}

Json ToJsonValue(const order::SortOrder& order) {
  Json fields = Json::array();
  for (const order::SortField& field : order.fields) {
    const bool ascending = field.direction == order::Direction::kAscending;
    const bool nulls_first = field.null_order == order::NullOrder::kNullsFirst;
    Json json = {{"transform", types::ToString(field.transform)},
                 {"source-id", field.source_id},
                 {"direction", ascending ? "asc" : "desc"},
                 {"null-order", nulls_first ? "nulls-first" : "nulls-last"}};
    AddUnknown(field.unknown, json);
    fields.push_back(std::move(json));
  }
  Json json = {{"order-id", order.id.value()}, {"fields", std::move(fields)}};
  AddUnknown(order.unknown, json);
  return json;
}

}  // namespace serde

Result<std::string> SchemaToJson(const types::Schema& schema) {
  return serde::DumpJson(serde::ToJsonValue(schema));
}

Result<types::Schema> ParseSchemaJson(std::string_view text) {
  FIRN_ASSIGN_OR_RETURN(serde::Json json, serde::ParseJson(text));
  serde::ParseOutcome outcome;
  types::Schema schema = serde::ReadSchema(json, "", outcome);
  FIRN_RETURN_NOT_OK(outcome.status);
  return schema;
}

Result<std::vector<types::PartitionField>> ParsePartitionFieldsJson(
    std::string_view text) {
  FIRN_ASSIGN_OR_RETURN(serde::Json json, serde::ParseJson(text));
  serde::ParseOutcome outcome;
  auto fields = serde::ReadPartitionFields(json, "partition-spec", outcome);
  FIRN_RETURN_NOT_OK(outcome.status);
  return fields;
}

Result<std::string> PartitionFieldsToJson(const types::PartitionSpec& spec) {
  return serde::DumpJson(serde::ToJsonValue(spec.fields));
}

}  // namespace firn::iceberg
