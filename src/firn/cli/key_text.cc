#include "firn/cli/key_text.h"

#include <vector>

#include <fmt/ranges.h>

#include "firn/iceberg/metadata/dropped_columns.h"
#include "firn/types/single_value.h"

namespace firn::cli {
namespace {

constexpr std::string_view kColumnSeparator = ", ";

/// Takes `suffix` off `text` if it is there.
bool ConsumeSuffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

/// The inverse of one column's part of KeyTypesText: "string asc nulls first".
std::optional<order::KeyColumn> ParseKeyColumn(std::string_view text) {
  order::KeyColumn column;
  if (ConsumeSuffix(text, " nulls last")) {
    column.null_order = order::NullOrder::kNullsLast;
  } else if (!ConsumeSuffix(text, " nulls first")) {
    return std::nullopt;
  }
  if (ConsumeSuffix(text, " desc")) {
    column.direction = order::Direction::kDescending;
  } else if (!ConsumeSuffix(text, " asc")) {
    return std::nullopt;
  }
  auto type = types::ParsePrimitiveType(text);
  if (!type.ok()) return std::nullopt;
  column.type = *std::move(type);
  return column;
}

std::string PlainText(const types::Value& value) {
  const auto show = [](const auto& v) -> std::string {
    using T = std::decay_t<decltype(v)>;
    if constexpr (std::is_same_v<T, std::monostate>) {
      return "null";
    } else if constexpr (std::is_same_v<T, types::DecimalValue>) {
      return types::ToText(types::Type::Decimal(38, 0), types::Value(v));
    } else {
      return fmt::format("{}", v);
    }
  };
  return std::visit(show, value);
}

}  // namespace

std::string HexText(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

Result<std::string> KeyText(const order::KeyEncoder& encoder, std::string_view key) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<types::Value> values, encoder.Decode(key));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    parts.push_back(types::ToText(encoder.columns()[i].type, values[i]));
  }
  if (values.size() < encoder.columns().size()) parts.emplace_back("...");
  return fmt::format("{}", fmt::join(parts, kColumnSeparator));
}

std::optional<order::KeyEncoder> EncoderOfKeyTypes(std::string_view key_types) {
  std::vector<order::KeyColumn> columns;
  while (!key_types.empty()) {
    const std::size_t end = key_types.find(kColumnSeparator);
    auto column = ParseKeyColumn(key_types.substr(0, end));
    if (!column) return std::nullopt;
    columns.push_back(*std::move(column));
    if (end == std::string_view::npos) break;
    key_types.remove_prefix(end + kColumnSeparator.size());
  }
  return order::KeyEncoder(std::move(columns));
}

std::string KeyTextOrHex(const std::optional<order::KeyEncoder>& encoder,
                         std::string_view key) {
  if (!encoder) return HexText(key);
  return KeyText(*encoder, key).ValueOr(HexText(key));
}

Result<std::string> PartitionTupleText(const iceberg::TableMetadata& metadata,
                                       const types::PartitionSpec& spec,
                                       const types::PartitionTuple& tuple) {
  const types::Schema schema = SchemaFor(metadata, spec);
  FIRN_ASSIGN_OR_RETURN(const std::vector<types::Type> types,
                        PartitionTypes(spec, schema));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < tuple.size(); ++i) {
    const types::PartitionField& field = spec.fields[i];
    const types::Field* source = FindField(schema, field.source_id);
    parts.push_back(
        fmt::format("{}={}", field.name,
                    source ? types::ToText(field.transform, source->type, tuple[i])
                           : types::ToText(types[i], tuple[i])));
  }
  return fmt::format("{}", fmt::join(parts, kColumnSeparator));
}

std::string PlainTupleText(const types::PartitionTuple& tuple) {
  std::vector<std::string> parts;
  for (const types::Value& value : tuple) parts.push_back(PlainText(value));
  return fmt::format("{}", fmt::join(parts, kColumnSeparator));
}

}  // namespace firn::cli
