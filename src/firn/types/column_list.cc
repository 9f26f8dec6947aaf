#include "firn/types/column_list.h"

#include <array>
#include <string>
#include <utility>

#include "firn/core/lower_case.h"
#include "firn/types/transform_term.h"

namespace firn::types {
namespace {

constexpr std::string_view kNotNull = " not null";

/// What SQL calls the types.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kNamesInSql = {{
    {"bigint", "long"},
    {"integer", "int"},
    {"smallint", "int"},
    {"tinyint", "int"},
    {"int8", "long"},
    {"int4", "int"},
    {"bool", "boolean"},
    {"real", "float"},
    {"float4", "float"},
    {"float8", "double"},
    {"double precision", "double"},
    {"text", "string"},
    {"varchar", "string"},
    {"char", "string"},
    {"numeric", "decimal(p, s)"},
    {"decimal", "decimal(p, s)"},
    {"bytea", "binary"},
    {"blob", "binary"},
    {"datetime", "timestamp"},
    {"timestamp with time zone", "timestamptz"},
}};

/// Nothing if it is no type that others have.
std::string AdviceFor(std::string_view type) {
  const std::string name = LowerCase(type);
  for (const std::string_view nested : {"struct", "list", "array", "map"}) {
    if (name.starts_with(nested)) return "; columns of columns need --schema";
  }
  const std::string word = name.substr(0, name.find('('));
  for (const auto& [in_sql, meant] : kNamesInSql) {
    if (word == in_sql) return fmt::format("; did you mean {}?", meant);
  }
  return "";
}

Result<Field> ParseColumn(std::string_view term) {
  const std::size_t blank = term.find_first_of(" \t");
  if (blank == std::string_view::npos) {
    return InvalidError("'{}': write a name and a type, as in 'id long'", term);
  }
  std::string_view type = TrimBlanks(term.substr(blank));
  const bool required = type.ends_with(kNotNull);
  if (required) type = TrimBlanks(type.substr(0, type.size() - kNotNull.size()));
  const Result<Type> parsed = ParsePrimitiveType(type);
  if (!parsed.ok()) {
    return InvalidError("'{}': {}{}", term, ErrorText(parsed.status()), AdviceFor(type));
  }
  return Field{
      .name = std::string(term.substr(0, blank)), .type = *parsed, .required = required};
}

}  // namespace

Result<Schema> ParseColumnList(std::string_view text) {
  Schema schema;
  for (const std::string_view term : SplitTerms(text)) {
    FIRN_ASSIGN_OR_RETURN(Field field, ParseColumn(term));
    field.id = static_cast<FieldId>(schema.fields.size()) + 1;
    schema.fields.push_back(std::move(field));
  }
  return schema;
}

std::vector<std::string> ColumnNames(const std::vector<Field>& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

}  // namespace firn::types
