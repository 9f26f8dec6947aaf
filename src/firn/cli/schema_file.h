#pragma once

#include <string>

#include "firn/core/status.h"
#include "firn/types/schema.h"

namespace firn::cli {

/// An Iceberg schema that a user wrote as JSON. Invalid, naming the file, if it is none
/// or has columns, or fields of a struct, that differ only in case.
Result<types::Schema> ReadSchemaFile(const std::string& path);

/// True if the columns have the same names, types and order; ids do not count.
bool HasSameColumns(const types::Schema& a, const types::Schema& b);

/// "name  type  required", a line each.
std::string SchemaText(const types::Schema& schema);

}  // namespace firn::cli
