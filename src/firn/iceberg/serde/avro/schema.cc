#include "firn/iceberg/serde/avro/schema.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "firn/iceberg/serde/json_value.h"

namespace firn::iceberg::avro {
namespace {

using serde::Json;
using serde::ObjectReader;
using serde::ParseOutcome;

struct KindName {
  Kind kind;
  std::string_view name;
};

constexpr KindName kPrimitiveNames[] = {
    {Kind::kNull, "null"},   {Kind::kBoolean, "boolean"}, {Kind::kInt, "int"},
    {Kind::kLong, "long"},   {Kind::kFloat, "float"},     {Kind::kDouble, "double"},
    {Kind::kBytes, "bytes"}, {Kind::kString, "string"},
};

std::optional<Kind> PrimitiveKind(std::string_view name) {
  for (const KindName& entry : kPrimitiveNames) {
    if (entry.name == name) return entry.kind;
  }
  return std::nullopt;
}

std::string_view PrimitiveName(Kind kind) {
  for (const KindName& entry : kPrimitiveNames) {
    if (entry.kind == kind) return entry.name;
  }
  return {};
}

bool IsNameByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool IsOptional(const Schema& schema) {
  return schema.kind == Kind::kUnion && schema.parts.size() == 2 &&
         schema.parts[0]->kind == Kind::kNull;
}

void AppendSchema(const Schema& schema, std::string& out);

void AppendString(std::string_view text, std::string& out) { out += Json(text).dump(); }

void AppendField(const RecordField& field, std::string& out) {
  if (field.type->kind == Kind::kVerbatim) {
    out += field.type->attributes;
    return;
  }
  out += R"({"name":)";
  AppendString(field.name, out);
  out += R"(,"type":)";
  AppendSchema(*field.type, out);
  if (IsOptional(*field.type)) out += R"(,"default":null)";
  if (field.field_id) out += fmt::format(R"(,"field-id":{})", *field.field_id);
  out += '}';
}

template <typename Element, typename Append>
void AppendArray(const std::vector<Element>& elements, Append append, std::string& out) {
  out += '[';
  bool is_first = true;
  for (const Element& element : elements) {
    if (!std::exchange(is_first, false)) out += ',';
    append(element);
  }
  out += ']';
}

void AppendMembers(const Schema& schema, std::string& out) {
  switch (schema.kind) {
    case Kind::kRecord:
      out += R"("type":"record","name":)";
      AppendString(schema.name, out);
      out += R"(,"fields":)";
      return AppendArray(
          schema.fields, [&](const RecordField& field) { AppendField(field, out); }, out);
    case Kind::kFixed:
      out += R"("type":"fixed","name":)";
      AppendString(schema.name, out);
      out += fmt::format(R"(,"size":{})", schema.size);
      return;
    case Kind::kArray:
      out += R"("type":"array","items":)";
      AppendSchema(*schema.parts[0], out);
      if (schema.element_id) {
        out += fmt::format(R"(,"element-id":{})", *schema.element_id);
      }
      return;
    case Kind::kMap:
      out += R"("type":"map","values":)";
      return AppendSchema(*schema.parts[0], out);
    default:
      out += R"("type":)";
      return AppendString(PrimitiveName(schema.kind), out);
  }
}

void AppendAttributes(const std::string& attributes, std::string& out) {
  const std::string members = Json::parse(fmt::format("{{{}}}", attributes)).dump();
  out += ',';
  out.append(members, 1, members.size() - 2);
}

void AppendSchema(const Schema& schema, std::string& out) {
  if (schema.kind == Kind::kUnion) {
    return AppendArray(
        schema.parts, [&](const SchemaPtr& part) { AppendSchema(*part, out); }, out);
  }
  const std::string_view primitive = PrimitiveName(schema.kind);
  if (!primitive.empty() && schema.attributes.empty()) {
    return AppendString(primitive, out);
  }
  out += '{';
  AppendMembers(schema, out);
  if (!schema.attributes.empty()) AppendAttributes(schema.attributes, out);
  out += '}';
}

class Parser {
 public:
  explicit Parser(FieldFilter is_read) : is_read_(is_read) {}

  SchemaPtr Parse(const Json& json, const std::string& path) {
    if (json.is_string()) return ParseName(json.get<std::string>(), path);
    if (json.is_array()) return ParseUnion(json, path);
    return ParseObject(json, path);
  }

  ParseOutcome& outcome() { return outcome_; }

 private:
  static SchemaPtr Nothing() {
    static const SchemaPtr nothing = Primitive(Kind::kNull);
    return nothing;
  }

  SchemaPtr Fail(const std::string& path, std::string_view what) {
    outcome_.Fail(Error(ErrorKind::kCorruption, "Avro schema: {}: {}", path, what));
    return Nothing();
  }

  SchemaPtr ParseName(const std::string& name, const std::string& path) {
    if (const auto kind = PrimitiveKind(name)) return Primitive(*kind);
    const auto found = named_.find(name);
    if (found != named_.end()) return found->second;
    return Fail(path, fmt::format("unknown type '{}'", name));
  }

  SchemaPtr ParseUnion(const Json& json, const std::string& path) {
    Schema schema{.kind = Kind::kUnion};
    for (const Json& part : json) schema.parts.push_back(Parse(part, path));
    if (schema.parts.empty()) return Fail(path, "empty union");
    return std::make_shared<Schema>(std::move(schema));
  }

  SchemaPtr ParseObject(const Json& json, const std::string& path) {
    ObjectReader reader(json, path, outcome_);
    const Json& type = reader.Get("type");
    if (type.is_object() || type.is_array()) return Parse(type, path);
    const std::string kind = reader.String("type");
    if (kind == "record") return ParseRecord(reader);
    if (kind == "array") {
      return Array(Parse(reader.Get("items"), reader.PathOf("items")),
                   reader.OptionalInt("element-id"));
    }
    if (kind == "map") {
      Schema schema{.kind = Kind::kMap};
      schema.parts = {Parse(reader.Get("values"), reader.PathOf("values"))};
      return std::make_shared<Schema>(std::move(schema));
    }
    if (kind == "fixed") return ParseFixed(reader, path);
    if (kind == "enum") {
      return Remember(reader.String("name"), {.kind = Kind::kEnum});
    }
    return ParseName(kind, path);
  }

  SchemaPtr ParseFixed(ObjectReader& reader, const std::string& path) {
    Schema schema{.kind = Kind::kFixed};
    schema.size = reader.Int("size");
    if (schema.size < 0) return Fail(path, "negative size");
    return Remember(reader.String("name"), std::move(schema));
  }

  SchemaPtr ParseRecord(ObjectReader& reader) {
    Schema schema{.kind = Kind::kRecord};
    const Json& fields = reader.Array("fields");
    for (std::size_t i = 0; i < fields.size(); ++i) {
      ObjectReader field(fields[i], reader.PathOf("fields", i), outcome_);
      RecordField parsed{.name = field.String("name"),
                         .field_id = field.OptionalInt("field-id"),
                         .type = Parse(field.Get("type"), field.PathOf("type"))};
      if (is_read_ != nullptr && !is_read_(parsed))
        parsed.type = Verbatim(parsed.type, fields[i]);
      schema.fields.push_back(std::move(parsed));
    }
    schema.name = reader.String("name");
    return std::make_shared<const Schema>(std::move(schema));
  }

  static SchemaPtr Verbatim(SchemaPtr type, const Json& field) {
    Schema schema{.kind = Kind::kVerbatim};
    schema.parts = {std::move(type)};
    schema.attributes = field.dump();
    return std::make_shared<const Schema>(std::move(schema));
  }

  /// Records are left out: by names of records a small schema could stand for a tree of
  /// any depth and size.
  SchemaPtr Remember(const std::string& name, Schema schema) {
    schema.name = name;
    auto made = std::make_shared<const Schema>(std::move(schema));
    named_[name] = made;
    return made;
  }

  const FieldFilter is_read_;
  ParseOutcome outcome_;
  std::map<std::string, SchemaPtr> named_;
};

/// The last schemas that a thread has read. All manifests of a table, and all its lists,
/// say the same ones, and to parse one takes longer than to decode a small manifest.
class KnownSchemas {
 public:
  /// Null if it is none of them.
  SchemaPtr Find(std::string_view json, FieldFilter is_read) const {
    const auto found = std::ranges::find_if(known_, [&](const Known& known) {
      return known.is_read == is_read && known.json == json;
    });
    return found == known_.end() ? nullptr : found->schema;
  }

  void Add(std::string_view json, FieldFilter is_read, SchemaPtr schema) {
    if (json.size() > kBytesMax) return;
    known_[next_] = {std::string(json), is_read, std::move(schema)};
    next_ = (next_ + 1) % known_.size();
  }

 private:
  static constexpr std::size_t kSchemasMax = 8;
  static constexpr std::size_t kBytesMax = 64 * 1024;

  struct Known {
    std::string json;
    FieldFilter is_read = nullptr;
    SchemaPtr schema;
  };

  std::array<Known, kSchemasMax> known_;
  std::size_t next_ = 0;
};

}  // namespace

SchemaPtr Primitive(Kind kind, std::string attributes) {
  Schema schema{.kind = kind};
  schema.attributes = std::move(attributes);
  return std::make_shared<const Schema>(std::move(schema));
}

SchemaPtr Fixed(std::string name, std::int32_t size, std::string attributes) {
  Schema schema{.kind = Kind::kFixed};
  schema.name = std::move(name);
  schema.size = size;
  schema.attributes = std::move(attributes);
  return std::make_shared<const Schema>(std::move(schema));
}

SchemaPtr Record(std::string name, std::vector<RecordField> fields) {
  Schema schema{.kind = Kind::kRecord};
  schema.name = std::move(name);
  schema.fields = std::move(fields);
  return std::make_shared<const Schema>(std::move(schema));
}

SchemaPtr Array(SchemaPtr element, std::optional<FieldId> element_id,
                std::string attributes) {
  Schema schema{.kind = Kind::kArray};
  schema.parts = {std::move(element)};
  schema.element_id = element_id;
  schema.attributes = std::move(attributes);
  return std::make_shared<const Schema>(std::move(schema));
}

SchemaPtr Optional(SchemaPtr type) {
  Schema schema{.kind = Kind::kUnion};
  schema.parts = {Primitive(Kind::kNull), std::move(type)};
  return std::make_shared<const Schema>(std::move(schema));
}

std::string SanitizeName(std::string_view name) {
  std::string sanitized;
  for (const char c : name) {
    if (sanitized.empty() && std::isdigit(static_cast<unsigned char>(c)) != 0) {
      sanitized += '_';
    }
    if (IsNameByte(c)) {
      sanitized += c;
    } else {
      sanitized += fmt::format("_x{:X}", static_cast<unsigned char>(c));
    }
  }
  return sanitized.empty() ? "_" : sanitized;
}

std::string ToJson(const Schema& schema) {
  std::string json;
  AppendSchema(schema, json);
  return json;
}

Result<SchemaPtr> ParseSchema(std::string_view json, FieldFilter is_read) {
  thread_local KnownSchemas known;
  if (SchemaPtr schema = known.Find(json, is_read)) return schema;
  Result<Json> value = serde::ParseJson(json);
  if (!value.ok()) return AddContext(value.status(), "Avro schema");
  Parser parser(is_read);
  SchemaPtr schema = parser.Parse(*value, "schema");
  FIRN_RETURN_NOT_OK(parser.outcome().status);
  known.Add(json, is_read, schema);
  return schema;
}

bool IsNullable(const Schema& type) {
  if (type.kind != Kind::kUnion) return type.kind == Kind::kNull;
  return std::ranges::any_of(
      type.parts, [](const SchemaPtr& part) { return part->kind == Kind::kNull; });
}

}  // namespace firn::iceberg::avro
