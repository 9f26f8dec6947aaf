#include "firn/sources/files/schema_inference.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <arrow/array/array_binary.h>
#include <arrow/record_batch.h>

#include "firn/types/single_value.h"

namespace firn::sources {
namespace {

using types::Type;
using types::TypeKind;

constexpr std::array kByPreference = {TypeKind::kLong,        TypeKind::kDouble,
                                      TypeKind::kBoolean,     TypeKind::kDate,
                                      TypeKind::kTimestamptz, TypeKind::kTimestamp};
constexpr std::uint32_t kAllCandidates = (1u << kByPreference.size()) - 1;
/// Every integer of so many digits is a double.
constexpr std::size_t kDoubleDigits = 15;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view WithoutSign(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text;
}

bool HasLeadingZero(std::string_view number) {
  return number.size() > 1 && number[0] == '0' && IsDigit(number[1]);
}

/// True if a column of this type may hold `text` and give back what it says.
bool Fits(TypeKind kind, std::string_view text) {
  const bool is_number = kind == TypeKind::kLong || kind == TypeKind::kDouble;
  const std::string_view number = WithoutSign(text);
  if (is_number && HasLeadingZero(number)) return false;
  const bool is_long_integer =
      number.size() > kDoubleDigits && std::ranges::all_of(number, IsDigit);
  if (kind == TypeKind::kDouble && is_long_integer) return false;
  return types::FromText(Type(kind), text).ok();
}

std::uint32_t Narrowed(std::uint32_t candidates, std::string_view text) {
  for (std::size_t i = 0; i < kByPreference.size(); ++i) {
    const std::uint32_t bit = 1u << i;
    if ((candidates & bit) != 0 && !Fits(kByPreference[i], text)) candidates &= ~bit;
  }
  return candidates;
}

TypeKind Preferred(std::uint32_t candidates) {
  for (std::size_t i = 0; i < kByPreference.size(); ++i) {
    if ((candidates & 1u << i) != 0) return kByPreference[i];
  }
  return TypeKind::kString;
}

}  // namespace

SchemaInference::Column& SchemaInference::ColumnNamed(const std::string& name) {
  const auto found = std::ranges::find(columns_, name, &Column::name);
  if (found != columns_.end()) return *found;
  return columns_.emplace_back(Column{.name = name, .candidates = kAllCandidates});
}

void SchemaInference::Add(const arrow::RecordBatch& rows) {
  for (int i = 0; i < rows.num_columns(); ++i) {
    Column& column = ColumnNamed(rows.schema()->field(i)->name());
    const auto& texts = static_cast<const arrow::StringArray&>(*rows.column(i));
    for (std::int64_t row = 0; row < texts.length(); ++row) {
      if (texts.IsNull(row)) continue;
      column.has_values = true;
      if (column.candidates == 0) break;
      column.candidates = Narrowed(column.candidates, texts.GetView(row));
    }
  }
}

types::Schema SchemaInference::Finish() const {
  types::Schema schema;
  for (const Column& column : columns_) {
    const TypeKind kind =
        column.has_values ? Preferred(column.candidates) : TypeKind::kString;
    schema.fields.push_back({.name = column.name, .type = Type(kind)});
  }
  return types::AssignFreshIds(std::move(schema));
}

}  // namespace firn::sources
