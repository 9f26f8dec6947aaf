// Avro: a container file, a schema, and a value of a schema that has every kind which is
// written. What is read is written and read again as the same.

#include "firn/iceberg/serde/avro/container.h"
#include "fuzz_input.h"

namespace firn::iceberg::avro {
namespace {

/// Of what is written there are neither maps nor enums, and null is the first of two
/// branches.
bool IsWritten(const Schema& schema) {
  if (schema.kind == Kind::kEnum || schema.kind == Kind::kMap) return false;
  const bool is_optional =
      schema.parts.size() == 2 && schema.parts[0]->kind == Kind::kNull;
  if (schema.kind == Kind::kUnion && !is_optional) return false;
  for (const RecordField& field : schema.fields) {
    if (!IsWritten(*field.type)) return false;
  }
  for (const SchemaPtr& part : schema.parts) {
    if (!IsWritten(*part)) return false;
  }
  return true;
}

std::string Encoded(const Container& file) {
  std::string records;
  for (const Value& value : file.values) Encode(*file.schema, value, records);
  return records;
}

void TryContainer(std::string_view bytes) {
  const Result<ContainerBlocks> blocks = ReadBlocks(bytes);
  const Result<Container> file = ReadContainer(bytes);
  if (!file.ok() || !IsWritten(*file->schema)) return;
  fuzz::Require(blocks.status());
  ContainerWriter writer(file->schema, Codec::kDeflate, {});
  if (!writer.CanTakeOver(*blocks)) return;
  fuzz::Require(writer.TakeOver(*blocks));
  const Result<Container> again = ReadContainer(writer.Finish());
  fuzz::Require(again.status());
  FIRN_CHECK(Encoded(*again) == Encoded(*file));
}

void TrySchema(std::string_view json) {
  const Result<SchemaPtr> schema = ParseSchema(json);
  if (!schema.ok() || !IsWritten(**schema)) return;
  const std::string text = ToJson(**schema);
  const Result<SchemaPtr> again = ParseSchema(text);
  fuzz::Require(again.status());
  FIRN_CHECK(ToJson(**again) == text, "{}", text);
}

SchemaPtr EveryKind() {
  const SchemaPtr inner =
      Record("inner", {{"text", 11, Primitive(Kind::kString)},
                       {"bytes", 12, Optional(Primitive(Kind::kBytes))}});
  return Record("outer", {{"flag", 1, Primitive(Kind::kBoolean)},
                          {"int", 2, Primitive(Kind::kInt)},
                          {"long", 3, Optional(Primitive(Kind::kLong))},
                          {"float", 4, Primitive(Kind::kFloat)},
                          {"double", 5, Primitive(Kind::kDouble)},
                          {"fixed", 6, Fixed("five", 5)},
                          {"inner", 7, Optional(inner)},
                          {"lists", 8, Array(Array(Primitive(Kind::kLong), 10), 9)},
                          {"nothing", 13, Primitive(Kind::kNull)}});
}

void TryValue(std::string_view bytes) {
  static const SchemaPtr kSchema = EveryKind();
  const Result<Value> value = Decode(*kSchema, bytes);
  if (!value.ok()) return;
  std::string text;
  Encode(*kSchema, *value, text);
  std::string_view rest = text;
  const Result<Value> again = Decode(*kSchema, rest);
  fuzz::Require(again.status());
  FIRN_CHECK(rest.empty());
  std::string text_again;
  Encode(*kSchema, *again, text_again);
  FIRN_CHECK(text_again == text);
}

}  // namespace
}  // namespace firn::iceberg::avro

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = firn::fuzz::TextOf(data, size);
  firn::iceberg::avro::TryContainer(bytes);
  firn::iceberg::avro::TrySchema(bytes);
  firn::iceberg::avro::TryValue(bytes);
  return 0;
}
