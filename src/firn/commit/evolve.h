#pragma once

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"

namespace firn::commit {

/// The table whose schema is to change: one that was dropped and made again under the
/// same name is another table.
struct EvolvedTable {
  iceberg::TableIdentifier identifier;
  TableUuid uuid;
  /// Ends the attempts, as CommitRetry's.
  StopToken stop = {};
};

/// Changes a table's schema until it takes rows of `wanted`
/// (iceberg/update/schema_change.h), in a commit of its own, and gives the table as it is
/// then. Without a commit if it takes them already.
///
/// Every attempt loads the table anew, so of several that want the same one changes the
/// schema and the others find that it did; what they want beside that is added on top.
/// Errors: Invalid, naming the field, if the schema cannot become such a one; NotFound if
/// the table is another one; Conflict, OutcomeUnknown or Unavailable as CommitRetry.
Result<iceberg::LoadedTable> EvolveTable(iceberg::Catalog& catalog, Runtime& runtime,
                                         const EvolvedTable& table,
                                         const types::Schema& wanted);

}  // namespace firn::commit
