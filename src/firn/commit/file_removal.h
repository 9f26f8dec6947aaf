#pragma once

#include <set>
#include <string>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/iceberg/io/file_io.h"

namespace firn::commit {

struct RemovedFiles {
  iceberg::TableIdentifier table;
  /// NotFound if the table is another one.
  TableUuid table_uuid;
  /// Locations.
  std::set<std::string> paths;
  /// Ends the attempts, as CommitRetry's.
  StopToken stop = {};
};

/// Takes data files out of a table in one snapshot, on top of whatever others commit
/// meanwhile. Files that are not live are passed over, so that it may be repeated.
///
/// Durable once it returns. Other errors as Committer::Commit's; of kind OutcomeUnknown,
/// the files may have left the table all the same.
Status RemoveFiles(iceberg::Catalog& catalog, const iceberg::FileIo& io, Runtime& runtime,
                   const RemovedFiles& removed);

}  // namespace firn::commit
