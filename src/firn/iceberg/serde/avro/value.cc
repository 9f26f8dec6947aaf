#include "firn/iceberg/serde/avro/value.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <arrow/util/utf8.h>

namespace firn::iceberg::avro {
namespace {

constexpr int kVarintBytesMax = 10;

/// Avro's strings are UTF-8 (specification, "Primitive Types").
Result<std::string> TakeString(std::string_view& bytes) {
  FIRN_ASSIGN_OR_RETURN(const std::string_view taken, TakeBytes(bytes));
  arrow::util::InitializeUTF8();
  if (arrow::util::ValidateUTF8(taken)) return std::string(taken);
  return Error(ErrorKind::kCorruption,
               "a string is not UTF-8: the file is damaged, or its writer is wrong");
}

Status EndsEarly() { return Error(ErrorKind::kCorruption, "Avro data ends early"); }

template <typename Bits>
void AppendLittleEndian(Bits bits, std::string& out) {
  for (std::size_t i = 0; i < sizeof(bits); ++i) {
    out.push_back(static_cast<char>(bits >> (8 * i)));
  }
}

template <typename Bits>
Result<Bits> TakeLittleEndian(std::string_view& bytes) {
  if (bytes.size() < sizeof(Bits)) return EndsEarly();
  Bits bits = 0;
  for (std::size_t i = 0; i < sizeof(Bits); ++i) {
    bits |= static_cast<Bits>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  bytes.remove_prefix(sizeof(Bits));
  return bits;
}

Result<std::string_view> TakeExactly(std::int64_t length, std::string_view& bytes) {
  if (length < 0 || static_cast<std::uint64_t>(length) > bytes.size()) return EndsEarly();
  const std::string_view taken = bytes.substr(0, static_cast<std::size_t>(length));
  bytes.remove_prefix(taken.size());
  return taken;
}

void EncodeArray(const Schema& schema, const Values& values, std::string& out) {
  if (!values.empty()) {
    AppendLong(static_cast<std::int64_t>(values.size()), out);
    for (const Value& value : values) Encode(*schema.parts[0], value, out);
  }
  AppendLong(0, out);
}

/// Arrays and maps are blocks of (count, items), the last one empty; a negative count is
/// followed by the block's size in bytes.
template <typename DecodeItem>
Status DecodeBlocks(std::string_view& bytes, const DecodeItem& decode_item) {
  // Items that have no bytes (nulls) are bounded, too: a small file could hold any
  // number.
  std::size_t items_left = bytes.size();
  while (true) {
    FIRN_ASSIGN_OR_RETURN(std::int64_t count, TakeLong(bytes));
    if (count == 0) return Status::OK();
    if (count == std::numeric_limits<std::int64_t>::min()) return EndsEarly();
    if (count < 0) {
      FIRN_RETURN_NOT_OK(TakeLong(bytes));
      count = -count;
    }
    if (static_cast<std::uint64_t>(count) > items_left) return EndsEarly();
    items_left -= static_cast<std::size_t>(count);
    for (std::int64_t i = 0; i < count; ++i) FIRN_RETURN_NOT_OK(decode_item());
  }
}

Result<Value> DecodeArray(const Schema& schema, std::string_view& bytes) {
  Values values;
  FIRN_RETURN_NOT_OK(DecodeBlocks(bytes, [&]() -> Status {
    FIRN_ASSIGN_OR_RETURN(Value value, Decode(*schema.parts[0], bytes));
    values.push_back(std::move(value));
    return Status::OK();
  }));
  return Value{std::move(values)};
}

Result<Value> DecodeMap(const Schema& schema, std::string_view& bytes) {
  Values values;
  FIRN_RETURN_NOT_OK(DecodeBlocks(bytes, [&]() -> Status {
    FIRN_ASSIGN_OR_RETURN(std::string key, TakeString(bytes));
    values.push_back({std::move(key)});
    FIRN_ASSIGN_OR_RETURN(Value value, Decode(*schema.parts[0], bytes));
    values.push_back(std::move(value));
    return Status::OK();
  }));
  return Value{std::move(values)};
}

Result<Value> DecodeRecord(const Schema& schema, std::string_view& bytes) {
  Values values;
  values.reserve(schema.fields.size());
  for (const RecordField& field : schema.fields) {
    Result<Value> value = Decode(*field.type, bytes);
    if (!value.ok()) {
      return AddContext(value.status(), fmt::format("field '{}'", field.name));
    }
    values.push_back(*std::move(value));
  }
  return Value{std::move(values)};
}

Result<Value> DecodeUnion(const Schema& schema, std::string_view& bytes) {
  FIRN_ASSIGN_OR_RETURN(const std::int64_t branch, TakeLong(bytes));
  if (branch < 0 || static_cast<std::uint64_t>(branch) >= schema.parts.size()) {
    return Error(ErrorKind::kCorruption, "Avro data: a union has no branch {}", branch);
  }
  return Decode(*schema.parts[static_cast<std::size_t>(branch)], bytes);
}

/// The binary form of null in a type that has it.
void EncodeNull(const Schema& type, std::string& out) {
  if (type.kind == Kind::kNull) return;
  const auto null = std::ranges::find(type.parts, Kind::kNull, &Schema::kind);
  FIRN_CHECK(null != type.parts.end(), "a null of a type that has none");
  AppendLong(null - type.parts.begin(), out);
}

Result<Value> DecodeVerbatim(const Schema& type, std::string_view& bytes) {
  std::string_view rest = bytes;
  FIRN_ASSIGN_OR_RETURN(const Value value, Decode(type, rest));
  const std::string_view taken = bytes.substr(0, bytes.size() - rest.size());
  bytes = rest;
  return value.is_null() ? Value{} : Value{std::string(taken)};
}

}  // namespace

void AppendLong(std::int64_t value, std::string& out) {
  auto bits =
      (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  while (bits >= 0x80) {
    out.push_back(static_cast<char>(bits | 0x80));
    bits >>= 7;
  }
  out.push_back(static_cast<char>(bits));
}

void AppendBytes(std::string_view value, std::string& out) {
  AppendLong(static_cast<std::int64_t>(value.size()), out);
  out.append(value);
}

Result<std::int64_t> TakeLong(std::string_view& bytes) {
  std::uint64_t bits = 0;
  for (int i = 0; i < kVarintBytesMax; ++i) {
    if (bytes.empty()) return EndsEarly();
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    bits |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
    }
  }
  return Error(ErrorKind::kCorruption, "Avro data: an integer has more than {} bytes",
               kVarintBytesMax);
}

Result<std::string_view> TakeBytes(std::string_view& bytes) {
  FIRN_ASSIGN_OR_RETURN(const std::int64_t length, TakeLong(bytes));
  return TakeExactly(length, bytes);
}

void Encode(const Schema& schema, const Value& value, std::string& out) {
  switch (schema.kind) {
    case Kind::kNull:
      return;
    case Kind::kBoolean:
      out.push_back(std::get<bool>(value.data) ? '\1' : '\0');
      return;
    case Kind::kInt:
    case Kind::kLong:
    case Kind::kEnum:
      AppendLong(std::get<std::int64_t>(value.data), out);
      return;
    case Kind::kFloat:
      AppendLittleEndian(std::bit_cast<std::uint32_t>(std::get<float>(value.data)), out);
      return;
    case Kind::kDouble:
      AppendLittleEndian(std::bit_cast<std::uint64_t>(std::get<double>(value.data)), out);
      return;
    case Kind::kBytes:
    case Kind::kString:
      AppendBytes(std::get<std::string>(value.data), out);
      return;
    case Kind::kFixed:
      out.append(std::get<std::string>(value.data));
      return;
    case Kind::kRecord: {
      const Values& values = std::get<Values>(value.data);
      FIRN_CHECK(values.size() == schema.fields.size(), "record {}", schema.name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        Encode(*schema.fields[i].type, values[i], out);
      }
      return;
    }
    case Kind::kArray:
      EncodeArray(schema, std::get<Values>(value.data), out);
      return;
    case Kind::kMap:
      FIRN_CHECK(false, "Avro maps are not written");
    case Kind::kUnion:
      AppendLong(value.is_null() ? 0 : 1, out);
      Encode(*schema.parts[value.is_null() ? 0 : 1], value, out);
      return;
    case Kind::kVerbatim:
      if (value.is_null()) return EncodeNull(*schema.parts[0], out);
      out.append(std::get<std::string>(value.data));
      return;
  }
}

Result<Value> Decode(const Schema& schema, std::string_view& bytes) {
  switch (schema.kind) {
    case Kind::kNull:
      return Value{};
    case Kind::kBoolean: {
      FIRN_ASSIGN_OR_RETURN(std::string_view byte, TakeExactly(1, bytes));
      return Value{byte[0] != '\0'};
    }
    case Kind::kInt:
    case Kind::kLong:
    case Kind::kEnum: {
      FIRN_ASSIGN_OR_RETURN(std::int64_t number, TakeLong(bytes));
      return Value{number};
    }
    case Kind::kFloat: {
      FIRN_ASSIGN_OR_RETURN(auto bits, TakeLittleEndian<std::uint32_t>(bytes));
      return Value{std::bit_cast<float>(bits)};
    }
    case Kind::kDouble: {
      FIRN_ASSIGN_OR_RETURN(auto bits, TakeLittleEndian<std::uint64_t>(bytes));
      return Value{std::bit_cast<double>(bits)};
    }
    case Kind::kString: {
      FIRN_ASSIGN_OR_RETURN(std::string taken, TakeString(bytes));
      return Value{std::move(taken)};
    }
    case Kind::kBytes: {
      FIRN_ASSIGN_OR_RETURN(std::string_view taken, TakeBytes(bytes));
      return Value{std::string(taken)};
    }
    case Kind::kFixed: {
      FIRN_ASSIGN_OR_RETURN(std::string_view taken, TakeExactly(schema.size, bytes));
      return Value{std::string(taken)};
    }
    case Kind::kRecord:
      return DecodeRecord(schema, bytes);
    case Kind::kArray:
      return DecodeArray(schema, bytes);
    case Kind::kMap:
      return DecodeMap(schema, bytes);
    case Kind::kUnion:
      return DecodeUnion(schema, bytes);
    case Kind::kVerbatim:
      return DecodeVerbatim(*schema.parts[0], bytes);
  }
  return EndsEarly();
}

const Value* RecordReader::Find(FieldId id, std::string_view name, const Schema** type) {
  const Values* values = std::get_if<Values>(&value_.data);
  if (values == nullptr || values->size() != schema_.fields.size()) return nullptr;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const RecordField& field = schema_.fields[i];
    const bool matches =
        field.field_id.has_value() ? *field.field_id == id : field.name == name;
    if (!matches) continue;
    const Value& value = (*values)[i];
    if (value.is_null()) return nullptr;
    if (type != nullptr) {
      const bool is_union = field.type->kind == Kind::kUnion;
      *type = is_union ? field.type->parts.back().get() : field.type.get();
    }
    return &value;
  }
  return nullptr;
}

void RecordReader::Fail(std::string_view name, std::string_view what) {
  if (!status_.ok()) return;
  status_ = Error(ErrorKind::kCorruption, "{}: field '{}' {}", path_, name, what);
}

}  // namespace firn::iceberg::avro
