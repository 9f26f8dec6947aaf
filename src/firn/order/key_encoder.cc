#include "firn/order/key_encoder.h"

#include <optional>
#include <utility>

#include "firn/order/key_cell.h"

namespace firn::order {
namespace {

using types::Type;
using types::TypeKind;
using types::Value;

constexpr std::size_t kUuidBytes = 16;

Result<KeyColumn> ColumnOf(const SortField& field, const types::Schema& schema) {
  const types::Field* source = types::FindField(schema, field.source_id);
  if (source == nullptr) {
    return InvalidError("sort field {}: the schema has no such column", field.source_id);
  }
  if (!types::ColumnPath(schema, field.source_id)) {
    return InvalidError("sort field {}: column '{}' is inside a list or map",
                        field.source_id, source->name);
  }
  const Result<Type> type = types::ResultType(field.transform, source->type);
  if (!type.ok()) {
    return AddContext(type.status(), fmt::format("sort field {}: column '{}'",
                                                 field.source_id, source->name));
  }
  return KeyColumn{
      .type = *type, .direction = field.direction, .null_order = field.null_order};
}

template <typename Unsigned>
Unsigned FromBigEndian(std::string_view bytes) {
  Unsigned bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
  return bits;
}

std::int64_t LongOf(std::string_view bytes) {
  return static_cast<std::int64_t>(FromBigEndian<std::uint64_t>(bytes) ^ std::uint64_t{1}
                                                                             << 63);
}

double DoubleOf(std::string_view bytes) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = FromBigEndian<std::uint64_t>(bytes);
  return std::bit_cast<double>((bits & kSign) != 0 ? bits ^ kSign : ~bits);
}

types::DecimalValue DecimalOf(std::string_view bytes) {
  using Unsigned = unsigned __int128;
  return {static_cast<__int128>(FromBigEndian<Unsigned>(bytes) ^ Unsigned{1} << 127)};
}

/// Bytes of the column's values; nothing for a text.
std::optional<std::size_t> FixedBytes(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return 1;
    case TypeKind::kDecimal:
      return 16;
    case TypeKind::kUuid:
      return kUuidBytes;
    case TypeKind::kFixed:
      return static_cast<std::size_t>(type.length());
    case TypeKind::kString:
    case TypeKind::kBinary:
      return std::nullopt;
    default:
      return 8;
  }
}

/// Nothing if the bytes are not those of a value.
std::optional<Value> FixedValue(const Type& type, std::string_view bytes) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (static_cast<unsigned char>(bytes[0]) > 1) return std::nullopt;
      return bytes[0] == 1;
    case TypeKind::kInt:
    case TypeKind::kDate:
      if (!std::in_range<std::int32_t>(LongOf(bytes))) return std::nullopt;
      return static_cast<std::int32_t>(LongOf(bytes));
    case TypeKind::kFloat:
      return static_cast<float>(DoubleOf(bytes));
    case TypeKind::kDouble:
      return DoubleOf(bytes);
    case TypeKind::kDecimal:
      return DecimalOf(bytes);
    case TypeKind::kUuid:
    case TypeKind::kFixed:
      return std::string(bytes);
    default:
      return LongOf(bytes);
  }
}

/// Reads a key column by column. A truncated key ends early, and truncating up may have
/// raised its last byte: what is wrong only in the last byte ends the key, too.
class KeyReader {
 public:
  explicit KeyReader(std::string_view key) : key_(key) {}

  bool AtEnd() const { return position_ == key_.size(); }

  /// Nothing if the key ends before the column does.
  Result<std::optional<Value>> Read(const KeyColumn& column) {
    const char marker = key_[position_++];
    if (marker == NullMarker(column)) return Value();
    if (marker != kPresentMarker) return Wrong(column);
    inverted_ = column.direction == Direction::kDescending;
    const auto bytes = FixedBytes(column.type);
    return bytes ? ReadFixed(column, *bytes) : ReadText(column);
  }

 private:
  Result<std::optional<Value>> ReadFixed(const KeyColumn& column, std::size_t size) {
    if (key_.size() - position_ < size) {
      position_ = key_.size();
      return std::nullopt;
    }
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += NextByte();
    const auto value = FixedValue(column.type, bytes);
    if (!value) return Wrong(column);
    return value;
  }

  Result<std::optional<Value>> ReadText(const KeyColumn& column) {
    if (AtEnd()) return std::nullopt;
    std::string text;
    while (!AtEnd()) {
      const char byte = NextByte();
      if (byte == kEscape) {
        if (AtEnd()) break;
        const char escaped = NextByte();
        if (escaped == kTextEnd) break;
        if (escaped != kEscapedZero && !AtEnd()) return Wrong(column);
        if (escaped != kEscapedZero) break;
      }
      text += byte;
    }
    return Value(std::move(text));
  }

  char NextByte() {
    const char byte = key_[position_++];
    return inverted_ ? static_cast<char>(~byte) : byte;
  }

  Result<std::optional<Value>> Wrong(const KeyColumn& column) const {
    if (AtEnd()) return std::nullopt;
    return Error(ErrorKind::kCorruption, "key has no value of type {} before byte {}",
                 column.type.ToString(), position_);
  }

  const std::string_view key_;
  std::size_t position_ = 0;
  bool inverted_ = false;
};

/// Types whose keys may be compared with each other have one text.
std::string ComparableTypeText(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kInt:
      return "long";
    case TypeKind::kFloat:
      return "double";
    case TypeKind::kDecimal:
      return fmt::format("decimal(scale {})", type.scale());
    default:
      return type.ToString();
  }
}

}  // namespace

KeyEncoder::KeyEncoder(std::vector<KeyColumn> columns) : columns_(std::move(columns)) {}

Result<KeyEncoder> KeyEncoder::Make(const SortOrder& order, const types::Schema& schema) {
  std::vector<KeyColumn> columns;
  for (const SortField& field : order.fields) {
    FIRN_ASSIGN_OR_RETURN(KeyColumn column, ColumnOf(field, schema));
    columns.push_back(std::move(column));
  }
  return KeyEncoder(std::move(columns));
}

void KeyEncoder::Encode(const std::vector<Value>& values, std::string& out) const {
  FIRN_CHECK(values.size() == columns_.size(), "{} values for {} columns", values.size(),
             columns_.size());
  std::size_t size = out.size();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    VisitCell(columns_[i].type, values[i],
              [&](const auto& cell) { size += 1 + CellBytes(cell); });
  }
  const std::size_t start = out.size();
  out.resize(size);
  char* end = out.data() + start;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    VisitCell(columns_[i].type, values[i],
              [&](const auto& cell) { end = PutColumn(columns_[i], cell, end); });
  }
}

Result<std::vector<Value>> KeyEncoder::Decode(std::string_view key) const {
  KeyReader reader(key);
  std::vector<Value> values;
  for (const KeyColumn& column : columns_) {
    if (reader.AtEnd()) return values;
    FIRN_ASSIGN_OR_RETURN(std::optional<Value> value, reader.Read(column));
    if (!value) return values;
    values.push_back(*std::move(value));
  }
  if (!reader.AtEnd()) {
    return Error(ErrorKind::kCorruption, "key of {} bytes goes on after its {} columns",
                 key.size(), columns_.size());
  }
  return values;
}

std::string KeyEncoder::KeyTypesText() const {
  std::string text;
  for (const KeyColumn& column : columns_) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {} nulls {}", ComparableTypeText(column.type),
                        column.direction == Direction::kAscending ? "asc" : "desc",
                        column.null_order == NullOrder::kNullsFirst ? "first" : "last");
  }
  return text;
}

std::vector<KeyColumn> PartitionKeyColumns(const std::vector<Type>& types) {
  std::vector<KeyColumn> columns;
  for (const Type& type : types) columns.push_back({.type = type});
  return columns;
}

}  // namespace firn::order
