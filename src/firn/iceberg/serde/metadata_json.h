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
/// again; null if there is none. Corruption, naming the field by its path, if `text` is
/// malformed or contradicts itself (metadata/coherence.h); Invalid for a version, type or
/// transform that Firn does not know.
///
/// Null is as good as a missing field, as in Java, save for what would be lost silently:
/// "snapshots", a snapshot's "sequence-number" and its manifest list, a sort order's
/// "fields" and a partition field's "field-id", of which all or none may be missing.
Result<TableMetadata> ParseTableMetadata(std::string_view text,
                                         const TableMetadata* known = nullptr);

}  // namespace firn::iceberg
