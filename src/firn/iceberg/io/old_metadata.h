#pragma once

#include <vector>

#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// Deletes the metadata files that were in the log `before` a commit and are not in that
/// of `after`, if the table's property write.metadata.delete-after-commit.enabled is true
/// (by default it is not), as Iceberg's Java library does.
///
/// For the catalog that decided the commit, once it is durable. What cannot be deleted
/// stays, for whoever looks for files that no table names.
void DeleteOldMetadata(const FileIo& io, const std::vector<MetadataLogEntry>& before,
                       const TableMetadata& after);

}  // namespace firn::iceberg
