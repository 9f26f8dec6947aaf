#pragma once

#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/iceberg/update/requirement.h"
#include "firn/iceberg/update/table_update.h"

namespace firn::iceberg::rest {

struct Commit {
  std::vector<TableRequirement> requirements;
  std::vector<TableUpdate> updates;
};

/// True if a spec is added: AddSpec leaves the ids of partition fields to the applier,
/// but a REST server takes those that it is sent.
bool NeedsPartitionIds(const Commit& commit);

/// Gives the fields of added specs the ids that Apply would give them on top of `base`,
/// and requires that no partition id was given since. Pure. Errors are those of Apply.
Status GivePartitionIds(const TableMetadata& base, Commit& commit);

}  // namespace firn::iceberg::rest
