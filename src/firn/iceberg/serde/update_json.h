#pragma once

#include <string>
#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/update/requirement.h"
#include "firn/iceberg/update/table_update.h"

namespace firn::iceberg {

/// A commit as a REST catalog takes it: "CommitTableRequest" of Iceberg's
/// rest-catalog-open-api.yaml.
///
/// The ids of schemas, specs and sort orders that are added stand in it as the updates
/// have them, and the server gives its own; the ids of partition fields are taken as they
/// are. Invalid if a string is not UTF-8.
Result<std::string> CommitToJson(const std::vector<TableRequirement>& requirements,
                                 const std::vector<TableUpdate>& updates);

}  // namespace firn::iceberg
