#pragma once

#include <string>

#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// Null if the table has no such property. The result lives as long as `metadata`,
/// unchanged.
const std::string* FindTableProperty(const TableMetadata& metadata,
                                     const std::string& name);

/// As Java reads a boolean: true if the text is "true" in any case, else false.
bool IsTrue(const std::string& text);

}  // namespace firn::iceberg
