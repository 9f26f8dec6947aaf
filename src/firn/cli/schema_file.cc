#include "firn/cli/schema_file.h"

#include <fmt/ranges.h>

#include "firn/cli/file_text.h"
#include "firn/cli/text_table.h"
#include "firn/iceberg/serde/schema_json.h"
#include "firn/sources/files/column_names.h"

namespace firn::cli {

Result<types::Schema> ReadSchemaFile(const std::string& path) {
  FIRN_ASSIGN_OR_RETURN(const std::string text, ReadFileText(path));
  auto schema = iceberg::ParseSchemaJson(text);
  FIRN_RETURN_NOT_OK(AddContext(schema.status(), path));
  FIRN_RETURN_NOT_OK(AddContext(sources::CheckFieldNames(schema->fields), path));
  return schema;
}

bool HasSameColumns(const types::Schema& a, const types::Schema& b) {
  // Types of nested columns hold ids too.
  return types::AssignFreshIds({.fields = a.fields}).fields ==
         types::AssignFreshIds({.fields = b.fields}).fields;
}

namespace {

/// Without field ids, which say nothing before there is a table.
std::string TypeText(const types::Type& type) {
  if (type.is_primitive()) return type.ToString();
  std::vector<std::string> parts;
  for (const types::Field& field : type.fields()) {
    const bool is_struct = type.kind() == types::TypeKind::kStruct;
    parts.push_back((is_struct ? field.name + ": " : "") + TypeText(field.type) +
                    (is_struct && field.required ? " required" : ""));
  }
  const std::string text = type.ToString();
  return fmt::format("{}<{}>", text.substr(0, text.find('<')), fmt::join(parts, ", "));
}

}  // namespace

std::string SchemaText(const types::Schema& schema) {
  TextTable table({{"column"}, {"type", Align::kLeft, kNoLimit}, {""}});
  for (const types::Field& field : schema.fields) {
    table.AddRow({field.name, TypeText(field.type), field.required ? "required" : ""});
  }
  return table.ToString();
}

}  // namespace firn::cli
