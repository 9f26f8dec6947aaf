#include "firn/sources/files/rejected_records.h"

#include <algorithm>
#include <string_view>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>
#include <arrow/util/utf8.h>

#include "firn/sources/files/arrow_text.h"
#include "firn/sources/files/row_text.h"

namespace firn::sources {
namespace {

using types::Field;
using types::TypeKind;

/// What a message shows of a value at most.
constexpr std::size_t kShownBytesMax = 100;

constexpr std::int64_t kMicrosPerDay = 86'400'000'000;

/// Of a value that is not null: true if its type has it.
bool IsTimeOfDay(const arrow::Array& column, std::int64_t row) {
  const auto micros = static_cast<const arrow::Time64Array&>(column).Value(row);
  return micros >= 0 && micros < kMicrosPerDay;
}

bool IsInPrecision(const arrow::Array& column, const Field& field, std::int64_t row) {
  const auto& decimals = static_cast<const arrow::Decimal128Array&>(column);
  return arrow::Decimal128(decimals.GetValue(row))
      .FitsInPrecision(field.type.precision());
}

bool IsOfType(const arrow::Array& column, const Field& field, std::int64_t row) {
  switch (field.type.kind()) {
    case TypeKind::kString:
      return arrow::util::ValidateUTF8(
          static_cast<const arrow::StringArray&>(column).GetView(row));
    case TypeKind::kTime:
      return IsTimeOfDay(column, row);
    case TypeKind::kDecimal:
      return IsInPrecision(column, field, row);
    default:
      return true;
  }
}

bool AllAreOfType(const arrow::Array& column, const Field& field) {
  if (field.type.kind() == TypeKind::kString) {
    return static_cast<const arrow::StringArray&>(column).ValidateUTF8().ok();
  }
  const bool is_checked =
      field.type.kind() == TypeKind::kTime || field.type.kind() == TypeKind::kDecimal;
  if (!is_checked) return true;
  for (std::int64_t row = 0; row < column.length(); ++row) {
    if (column.IsValid(row) && !IsOfType(column, field, row)) return false;
  }
  return true;
}

std::string KeyText(const arrow::Array& keys, const Field& key, std::int64_t row) {
  return key.type.is_primitive() ? TextOfValue(keys, &key.type, row).text
                                 : ValueAsJson(keys, key.type, row);
}

/// A key that is in the map of this row more than once. Keys are equal if their texts
/// are: 0.0 and -0.0 are two.
std::optional<std::string> RepeatedKey(const arrow::MapArray& map, const Field& key,
                                       std::int64_t row) {
  const std::int64_t begin = map.value_offset(row);
  const std::int64_t end = map.value_offset(row + 1);
  if (end - begin < 2) return std::nullopt;
  std::vector<std::string> keys;
  for (std::int64_t i = begin; i < end; ++i) {
    keys.push_back(KeyText(*map.keys(), key, i));
  }
  std::ranges::sort(keys);
  const auto repeated = std::ranges::adjacent_find(keys);
  if (repeated == keys.end()) return std::nullopt;
  return *repeated;
}

bool HasRepeatedKey(const arrow::MapArray& map, const Field& key) {
  for (std::int64_t row = 0; row < map.length(); ++row) {
    if (map.IsValid(row) && RepeatedKey(map, key, row)) return true;
  }
  return false;
}

bool NeedsLook(const arrow::Array& column, const Field& field);

bool ChildrenNeedLook(const arrow::Array& column, const Field& field) {
  const auto& fields = field.type.fields();
  switch (field.type.kind()) {
    case TypeKind::kStruct: {
      const auto& structs = static_cast<const arrow::StructArray&>(column);
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (NeedsLook(*structs.field(static_cast<int>(i)), fields[i])) return true;
      }
      return false;
    }
    case TypeKind::kList:
      return NeedsLook(*static_cast<const arrow::ListArray&>(column).values(), fields[0]);
    case TypeKind::kMap: {
      const auto& map = static_cast<const arrow::MapArray&>(column);
      return NeedsLook(*map.keys(), fields[0]) || NeedsLook(*map.items(), fields[1]) ||
             HasRepeatedKey(map, fields[0]);
    }
    default:
      return false;
  }
}

/// False if no row of the column has to be rejected; looks at whole columns.
bool NeedsLook(const arrow::Array& column, const Field& field) {
  if (field.required && column.null_count() > 0) return true;
  return !AllAreOfType(column, field) || ChildrenNeedLook(column, field);
}

using Reason = std::optional<Rejection>;

/// Looks at single values, and names the first one that is wrong.
class RowLook {
 public:
  explicit RowLook(const Field& field) { path_.push_back(field.name); }

  Reason At(const arrow::Array& column, const Field& field, std::int64_t row) {
    if (column.IsNull(row)) return field.required ? IsNullReason(field) : std::nullopt;
    if (!IsOfType(column, field, row)) return IsNotOfTypeReason(column, field, row);
    switch (field.type.kind()) {
      case TypeKind::kStruct:
        return AtStruct(static_cast<const arrow::StructArray&>(column), field, row);
      case TypeKind::kList: {
        const auto& list = static_cast<const arrow::ListArray&>(column);
        return AtRange(*list.values(), field.type.fields()[0], list.value_offset(row),
                       list.value_offset(row + 1));
      }
      case TypeKind::kMap:
        return AtMap(static_cast<const arrow::MapArray&>(column), field, row);
      default:
        return std::nullopt;
    }
  }

 private:
  Reason IsNullReason(const Field& field) const {
    return Rejection{.text = fmt::format("column '{}' is null, but required as {}",
                                         fmt::join(path_, "."), field.type.ToString()),
                     .reason_class = ReasonClass::kMissingValue};
  }

  Reason IsNotOfTypeReason(const arrow::Array& column, const Field& field,
                           std::int64_t row) const {
    if (field.type.kind() == TypeKind::kString) {
      return Rejection{
          .text = fmt::format("column '{}' is not UTF-8", fmt::join(path_, "."))};
    }
    return Rejection{
        .text = fmt::format("column '{}': {} is not of type {}", fmt::join(path_, "."),
                            Shown(TextOfValue(column, &field.type, row).text),
                            field.type.ToString())};
  }

  Reason AtChild(const arrow::Array& column, const Field& field, std::int64_t row) {
    path_.push_back(field.name);
    Reason reason = At(column, field, row);
    path_.pop_back();
    return reason;
  }

  Reason AtStruct(const arrow::StructArray& column, const Field& field,
                  std::int64_t row) {
    const auto& fields = field.type.fields();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      Reason reason = AtChild(*column.field(static_cast<int>(i)), fields[i], row);
      if (reason) return reason;
    }
    return std::nullopt;
  }

  Reason AtRange(const arrow::Array& values, const Field& field, std::int64_t begin,
                 std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Reason reason = AtChild(values, field, i);
      if (reason) return reason;
    }
    return std::nullopt;
  }

  Reason AtMap(const arrow::MapArray& map, const Field& field, std::int64_t row) {
    const std::int64_t begin = map.value_offset(row);
    const std::int64_t end = map.value_offset(row + 1);
    Reason reason = AtRange(*map.keys(), field.type.fields()[0], begin, end);
    if (reason) return reason;
    if (const auto key = RepeatedKey(map, field.type.fields()[0], row)) {
      return Rejection{.text = fmt::format("column '{}': the key {} is there twice",
                                           fmt::join(path_, "."), Shown(*key))};
    }
    return AtRange(*map.items(), field.type.fields()[1], begin, end);
  }

  std::vector<std::string> path_;
};

Result<std::shared_ptr<arrow::Array>> Kept(const std::shared_ptr<arrow::Array>& column,
                                           const Rejections& rejections) {
  arrow::ArrayVector pieces;
  std::int64_t start = 0;
  for (const auto& [row, reason] : rejections) {
    if (row > start) pieces.push_back(column->Slice(start, row - start));
    start = row + 1;
  }
  pieces.push_back(column->Slice(start));
  return arrow::Concatenate(pieces);
}

}  // namespace

void RejectInvalidRows(const arrow::RecordBatch& rows, const types::Schema& schema,
                       Rejections& rejections) {
  arrow::util::InitializeUTF8();
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    const Field& field = schema.fields[i];
    const arrow::Array& column = *rows.column(static_cast<int>(i));
    if (!NeedsLook(column, field)) continue;
    RowLook look(field);
    for (std::int64_t row = 0; row < rows.num_rows(); ++row) {
      const Reason reason = look.At(column, field, row);
      if (reason) rejections.try_emplace(row, *reason);
    }
  }
}

Result<std::shared_ptr<arrow::RecordBatch>> WithoutRejected(
    const std::shared_ptr<arrow::RecordBatch>& rows, const Rejections& rejections) {
  if (rejections.empty()) return rows;
  arrow::ArrayVector columns;
  for (const auto& column : rows->columns()) {
    FIRN_ASSIGN_OR_RETURN(auto kept, Kept(column, rejections));
    columns.push_back(std::move(kept));
  }
  return arrow::RecordBatch::Make(
      rows->schema(), rows->num_rows() - std::ssize(rejections), std::move(columns));
}

std::vector<std::int64_t> RowsThatFit(std::int64_t row_count,
                                      const Rejections& rejections) {
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(row_count));
  for (std::int64_t row = 0; row < row_count; ++row) {
    if (!rejections.contains(row)) rows.push_back(row);
  }
  return rows;
}

std::string Shown(std::string_view value) {
  if (value.size() <= kShownBytesMax) return fmt::format("'{}'", value);
  // Not in the middle of a character.
  std::size_t end = kShownBytesMax;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) --end;
  return fmt::format("'{}...' ({} bytes)", value.substr(0, end), value.size());
}

}  // namespace firn::sources
