#pragma once

#include <cstdint>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/iceberg/io/file_io.h"

namespace firn::commit {

/// Merges a table's small manifests, if there are many (iceberg/update/manifest_merge.h),
/// in a commit of its own, and returns how many were replaced.
///
/// One attempt: where another commit was faster, or nobody knows what became of it, 0 is
/// returned; nothing is lost by merging later. NotFound if the table is not the one of
/// `table_uuid` any more.
Result<std::int64_t> MergeManifests(iceberg::Catalog& catalog, const iceberg::FileIo& io,
                                    Runtime& runtime,
                                    const iceberg::TableIdentifier& table,
                                    const TableUuid& table_uuid);

}  // namespace firn::commit
