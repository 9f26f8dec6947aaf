#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// Table metadata as JSON (Iceberg spec, Appendix C). Everything that ParseTableMetadata
/// read comes out again, except what format version 1 keeps twice ("schema",
/// "partition-spec") and a current snapshot of -1, which means none. Invalid if a string
/// is not UTF-8.
Result<std::string> MetadataToJson(const TableMetadata& metadata);

/// A snapshot as MetadataToJson writes it. Invalid if a string is not UTF-8.
Result<std::string> SnapshotToJson(const Snapshot& snapshot);
/// As above, for an entry of the snapshot log.
Result<std::string> SnapshotLogEntryToJson(const SnapshotLogEntry& entry);

/// Reads format versions 1, 2 and 3. Snapshots and log entries that `known`, an older
/// version of the same table's metadata, has word for word are taken from it, not parsed
/// again; null if there is none. Corruption, naming the field by its path, if `text`
/// is malformed or names a schema, spec, sort order or snapshot that it does not hold;
/// Invalid for a version, type or transform that Firn does not know.
Result<TableMetadata> ParseTableMetadata(std::string_view text,
                                         const TableMetadata* known = nullptr);

}  // namespace firn::iceberg
