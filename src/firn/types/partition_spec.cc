#include "firn/types/partition_spec.h"

#include <algorithm>
#include <utility>

#include "firn/types/single_value.h"
#include "firn/types/transform_term.h"

namespace firn::types {
namespace {

constexpr FieldId kFirstPartitionFieldId = 1000;

bool IsKeptInUrl(char c) {
  const bool is_alphanumeric =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_alphanumeric || c == '-' || c == '_' || c == '.' || c == '*';
}

std::string EncodeForUrl(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (IsKeptInUrl(c)) {
      encoded += c;
    } else if (c == ' ') {
      encoded += '+';
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

Result<Type> PartitionType(const PartitionField& field, const Schema& schema) {
  const Field* source = FindField(schema, field.source_id);
  if (source == nullptr) {
    return InvalidError("partition field '{}': the schema has no column with id {}",
                        field.name, field.source_id);
  }
  if (!ColumnPath(schema, field.source_id)) {
    return InvalidError("partition field '{}': column '{}' is inside a list or map",
                        field.name, source->name);
  }
  const Result<Type> type = ResultType(field.transform, source->type);
  if (type.ok()) return type;
  return AddContext(type.status(), fmt::format("partition field '{}' of column '{}'",
                                               field.name, source->name));
}

std::string_view NameSuffix(TransformKind kind) {
  switch (kind) {
    case TransformKind::kIdentity:
      return "";
    case TransformKind::kBucket:
      return "_bucket";
    case TransformKind::kTruncate:
      return "_trunc";
    case TransformKind::kYear:
      return "_year";
    case TransformKind::kMonth:
      return "_month";
    case TransformKind::kDay:
      return "_day";
    case TransformKind::kHour:
      return "_hour";
    case TransformKind::kVoid:
      return "_null";
  }
  return "";
}

/// Names of partition fields are unique, and only an identity may have that of a column.
bool IsNameTaken(const PartitionField& field, const PartitionSpec& spec,
                 const Schema& schema) {
  const bool is_used =
      std::ranges::count(spec.fields, field.name, &PartitionField::name) > 0;
  return is_used || (field.transform.kind != TransformKind::kIdentity &&
                     FindField(schema, field.name) != nullptr);
}

}  // namespace

Result<std::vector<Type>> PartitionTypes(const PartitionSpec& spec,
                                         const Schema& schema) {
  std::vector<Type> types;
  for (const PartitionField& field : spec.fields) {
    FIRN_ASSIGN_OR_RETURN(Type type, PartitionType(field, schema));
    types.push_back(std::move(type));
  }
  return types;
}

std::string PartitionPath(const PartitionSpec& spec, const std::vector<Type>& types,
                          const PartitionTuple& tuple) {
  std::string path;
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    // Only identity and truncate look at the source type, and it is their result type.
    const std::string value = ToText(field.transform, types[i], tuple[i]);
    if (i > 0) path += '/';
    path += EncodeForUrl(field.name) + '=' + EncodeForUrl(value);
  }
  return path;
}

Result<PartitionSpec> ParsePartitionSpec(std::string_view text, const Schema& schema) {
  PartitionSpec spec;
  for (const std::string_view term_text : SplitTerms(text)) {
    FIRN_ASSIGN_OR_RETURN(TransformTerm term, ParseTransformTerm(term_text, schema));
    PartitionField field{
        .source_id = term.source_id,
        .field_id = kFirstPartitionFieldId + static_cast<FieldId>(spec.fields.size()),
        .name = term.source_name + std::string(NameSuffix(term.transform.kind)),
        .transform = term.transform};
    if (IsNameTaken(field, spec, schema)) {
      return InvalidError("'{}': the partition field's name '{}' is taken", term_text,
                          field.name);
    }
    spec.fields.push_back(std::move(field));
  }
  return spec;
}

}  // namespace firn::types
