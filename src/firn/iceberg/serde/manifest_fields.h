#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/status.h"
#include "firn/core/whole_number.h"
#include "firn/iceberg/serde/avro/container.h"
#include "firn/iceberg/serde/avro/schema.h"
#include "firn/iceberg/serde/avro/value.h"

// Shared by the .cc files that read or write manifests and manifest lists, and by nobody
// else.

namespace firn::iceberg::serde {

using avro::Kind;
using avro::Optional;
using avro::Primitive;
using avro::RecordField;
using avro::RecordReader;
using avro::SchemaPtr;
using avro::Value;
using avro::Values;

inline constexpr avro::Codec kManifestCodec = avro::Codec::kDeflate;

/// Field ids and names of the spec's `manifest_entry`, `data_file`, `manifest_file` and
/// `field_summary` structs.
struct Named {
  FieldId id;
  const char* name;
};

/// Whether a field is one of these: by id, or by name if it has no id.
inline bool IsAmong(std::span<const Named> known, const RecordField& field) {
  return std::ranges::any_of(known, [&](const Named& one) {
    return field.field_id ? one.id == *field.field_id : one.name == field.name;
  });
}

/// A map of the spec: from field id to a metric.
struct NamedMap {
  Named field;
  FieldId key_id;
  FieldId value_id;
};

inline RecordField Field(Named field, SchemaPtr type) {
  return {.name = field.name, .field_id = field.id, .type = std::move(type)};
}

inline RecordField Field(Named field, Kind kind) { return Field(field, Primitive(kind)); }

inline RecordField OptionalField(Named field, Kind kind) {
  return Field(field, Optional(Primitive(kind)));
}

template <typename Number>
Value Long(Number number) {
  return {static_cast<std::int64_t>(number)};
}

inline Value OptionalLong(std::optional<std::int64_t> number) {
  return number.has_value() ? Long(*number) : Value{};
}

template <typename Id>
Value OptionalId(const std::optional<Id>& id) {
  return id.has_value() ? Long(id->value()) : Value{};
}

inline Value OptionalBytes(const std::optional<std::string>& bytes) {
  return bytes.has_value() ? Value{*bytes} : Value{};
}

template <typename Id>
std::optional<Id> ToId(std::optional<std::int64_t> value) {
  if (!value.has_value()) return std::nullopt;
  return Id(*value);
}

/// The spec's format version of a manifest or manifest list; 1 if it is not said.
inline std::int32_t VersionOf(const std::map<std::string, std::string>& metadata) {
  const auto said = metadata.find("format-version");
  if (said == metadata.end()) return 1;
  return ParseWholeNumber<std::int32_t>(said->second).value_or(1);
}

/// Typed access to one record of a manifest or manifest list.
class Reader : public RecordReader {
 public:
  using RecordReader::RecordReader;

  std::int64_t LongOf(Named field) { return Require<std::int64_t>(field.id, field.name); }

  std::int32_t IntOf(Named field) { return Narrow(field, LongOf(field)); }

  std::string StringOf(Named field) { return Require<std::string>(field.id, field.name); }

  std::optional<std::int64_t> OptionalLongOf(Named field) {
    if (Find(field.id, field.name) == nullptr) return std::nullopt;
    return LongOf(field);
  }

  std::optional<std::int32_t> OptionalIntOf(Named field) {
    if (Find(field.id, field.name) == nullptr) return std::nullopt;
    return IntOf(field);
  }

  std::optional<std::string> OptionalStringOf(Named field) {
    if (Find(field.id, field.name) == nullptr) return std::nullopt;
    return StringOf(field);
  }

  std::optional<bool> OptionalBoolOf(Named field) {
    if (Find(field.id, field.name) == nullptr) return std::nullopt;
    return Require<bool>(field.id, field.name);
  }

  /// An enumeration whose values are 0 to `last`; 0 if the field is missing.
  template <typename Enum>
  Enum EnumOf(Named field, Enum last) {
    const std::int64_t value = Get<std::int64_t>(field.id, field.name, 0);
    if (0 <= value && value <= static_cast<std::int64_t>(last)) {
      return static_cast<Enum>(value);
    }
    Fail(field.name, fmt::format("is {}, which means nothing", value));
    return Enum{};
  }

  void RequireAll(std::initializer_list<Named> fields) {
    for (const Named& field : fields) {
      if (Find(field.id, field.name) == nullptr) Fail(field.name, "is missing");
    }
  }

  template <typename Metric>
  std::map<FieldId, Metric> MapOf(const NamedMap& map) {
    const avro::Schema* type = nullptr;
    const Value* value = Find(map.field.id, map.field.name, &type);
    std::map<FieldId, Metric> metrics;
    if (value == nullptr) return metrics;
    const Values* pairs = std::get_if<Values>(&value->data);
    if (pairs == nullptr || type->kind != Kind::kArray) {
      Fail(map.field.name, "is not a map");
      return metrics;
    }
    for (const Value& pair : *pairs) {
      Reader reader(*type->parts[0], pair, map.field.name);
      const FieldId id = reader.IntOf({map.key_id, "key"});
      metrics[id] = reader.Require<Metric>(map.value_id, "value");
      if (!reader.status().ok()) Fail(map.field.name, "is damaged");
    }
    return metrics;
  }

  template <typename Number>
  std::vector<Number> ListOf(Named field) {
    const Value* value = Find(field.id, field.name);
    std::vector<Number> numbers;
    if (value == nullptr) return numbers;
    const Values* values = std::get_if<Values>(&value->data);
    if (values == nullptr) {
      Fail(field.name, "is not a list");
      return numbers;
    }
    for (const Value& element : *values) {
      const auto* number = std::get_if<std::int64_t>(&element.data);
      if (number == nullptr) Fail(field.name, "has an element that is no number");
      if (number != nullptr) numbers.push_back(static_cast<Number>(*number));
    }
    return numbers;
  }

 private:
  std::int32_t Narrow(Named field, std::int64_t value) {
    using Limits = std::numeric_limits<std::int32_t>;
    if (value < Limits::min() || value > Limits::max())
      Fail(field.name, "is out of range");
    return static_cast<std::int32_t>(value);
  }
};

}  // namespace firn::iceberg::serde
