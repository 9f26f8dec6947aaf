#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/types/partition_spec.h"
#include "firn/types/schema.h"

namespace firn::iceberg {

/// A schema as JSON (Iceberg spec, Appendix C, "Schemas"). Invalid if a name is not
/// UTF-8.
Result<std::string> SchemaToJson(const types::Schema& schema);

/// Corruption, naming the field by its path, if `text` is malformed; Invalid for a type
/// that Firn does not know.
Result<types::Schema> ParseSchemaJson(std::string_view text);

/// The fields of a spec alone, as a manifest's header has them.
Result<std::string> PartitionFieldsToJson(const types::PartitionSpec& spec);
/// Corruption, naming the field by its path, if `text` is malformed.
Result<std::vector<types::PartitionField>> ParsePartitionFieldsJson(
    std::string_view text);

}  // namespace firn::iceberg
