#include "firn/cli/manifest_text.h"

#include "firn/types/single_value.h"

namespace firn::cli {

using iceberg::ManifestHeader;

std::string_view ContentName(iceberg::ManifestContent content) {
  return content == iceberg::ManifestContent::kData ? "data" : "deletes";
}

const types::Field* SourceOf(const ManifestHeader& header, std::size_t field) {
  return FindField(header.schema, header.spec.fields[field].source_id);
}

std::string PartitionValueText(const ManifestHeader& header, std::size_t field,
                               const types::Value& value) {
  const types::Field* source = SourceOf(header, field);
  if (source == nullptr) return types::ToText(header.partition_types[field], value);
  return types::ToText(header.spec.fields[field].transform, source->type, value);
}

}  // namespace firn::cli
