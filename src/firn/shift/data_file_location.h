#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/types/partition_spec.h"

namespace firn::shift {

/// The table property that names the folder of data files, see DataFileLocation; null if
/// they are in the table's own.
const char* DataFolderProperty(const iceberg::TableMetadata& metadata);

/// Whether the folder of a data file depends on its name, too: they are spread, see
/// DataFileLocation.
bool HasFoldersByName(const iceberg::TableMetadata& metadata);

/// Where a data file goes: "<folder>/<partition path>/<file name>", the folder being the
/// property write.data.path, else write.folder-storage.path, else "<location>/data".
///
/// If write.object-storage.enabled is true, files are spread over folders, since object
/// stores limit the requests for one prefix: "<folder>/<hash>/<partition path>/<file
/// name>". The folder may then also be write.object-storage.path. If it is not below the
/// table's location, the last two names of that follow the hash. The partition path is
/// left out if write.object-storage.partitioned-paths is "false"; the last folder of the
/// hash is then put in front of the file's name. All as Iceberg's Java library does it
/// (documentation, "Object Store File Layout").
///
/// Folder names that are too long for a file system are cut, so partitions may share a
/// folder.
Result<std::string> DataFileLocation(const iceberg::TableMetadata& metadata,
                                     const types::PartitionSpec& spec,
                                     const types::PartitionTuple& partition,
                                     std::string_view file_name);

}  // namespace firn::shift
