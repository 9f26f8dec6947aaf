#include "firn/types/column_list.h"

#include <string>

#include "firn/types/transform_term.h"

namespace firn::types {
namespace {

constexpr std::string_view kNotNull = " not null";

Result<Field> ParseColumn(std::string_view term) {
  const std::size_t blank = term.find_first_of(" \t");
  if (blank == std::string_view::npos) {
    return InvalidError("'{}': write a name and a type, as in 'id long'", term);
  }
  std::string_view type = TrimBlanks(term.substr(blank));
  const bool required = type.ends_with(kNotNull);
  if (required) type = TrimBlanks(type.substr(0, type.size() - kNotNull.size()));
  const Result<Type> parsed = ParsePrimitiveType(type);
  if (!parsed.ok()) return AddContext(parsed.status(), fmt::format("'{}'", term));
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

}  // namespace firn::types
