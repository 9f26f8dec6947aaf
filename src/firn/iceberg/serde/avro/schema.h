#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/status.h"

namespace firn::iceberg::avro {

enum class Kind : std::uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kRecord,
  kArray,
  kMap,
  kUnion,
  /// Of a record's field that is carried along, not looked into. A value is null, or a
  /// string: Avro's binary form. `parts` holds what is carried, `attributes` is the
  /// field as JSON, name and default included.
  kVerbatim,
};

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

struct RecordField {
  std::string name;
  /// The Iceberg field id; absent in files that carry none.
  std::optional<FieldId> field_id;
  SchemaPtr type;
};

/// An Avro schema (Avro specification 1.11) with Iceberg's ids and logical types (Iceberg
/// spec, Appendix A, "Avro"). Immutable once made.
struct Schema {
  Kind kind = Kind::kNull;
  /// Of records and fixed types.
  std::string name;
  /// Records only.
  std::vector<RecordField> fields;
  /// The element of an array, the values of a map, the branches of a union.
  std::vector<SchemaPtr> parts;
  /// Bytes of a fixed.
  std::int32_t size = 0;
  /// Of an array.
  std::optional<FieldId> element_id;
  /// Further attributes, as JSON members: "\"logicalType\": \"date\"". Written as they
  /// are, not read.
  std::string attributes;
};

SchemaPtr Primitive(Kind kind, std::string attributes = {});
SchemaPtr Fixed(std::string name, std::int32_t size, std::string attributes = {});
SchemaPtr Record(std::string name, std::vector<RecordField> fields);
SchemaPtr Array(SchemaPtr element, std::optional<FieldId> element_id,
                std::string attributes = {});
/// A union of null and `type`, null being its default.
SchemaPtr Optional(SchemaPtr type);

/// The name as Avro allows it: letters, digits and '_', not starting with a digit. Other
/// bytes become "_x<HEX>"; readers go by field id.
std::string SanitizeName(std::string_view name);

/// REQUIRES: names of records and fixed types are distinct.
std::string ToJson(const Schema& schema);

/// Tells which fields of a record somebody reads.
using FieldFilter = bool (*)(const RecordField&);

/// Reads an Avro schema, in which fixed types and enums may be referred to by name, but
/// no records: Iceberg's metadata never does. Corruption, saying what is wrong,
/// otherwise. With `is_read`, fields that it refuses are kVerbatim.
Result<SchemaPtr> ParseSchema(std::string_view json, FieldFilter is_read = nullptr);

/// Whether null is a value of the type.
bool IsNullable(const Schema& type);

}  // namespace firn::iceberg::avro
