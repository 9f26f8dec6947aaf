#pragma once

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// Refuses metadata whose parts contradict each other, before anybody builds upon it:
/// Corruption that begins with the field's path ("snapshots[2].sequence-number") and has
/// its value. Pure; linear in the metadata.
///
/// Refused is what Java's TableMetadata or PyIceberg's validators refuse too, and what
/// would give two things one id or make rows unreadable (Iceberg spec, sections in
/// brackets):
/// - table-uuid that is no UUID ("Table Metadata Fields"; PyIceberg), but missing in
///   format version 1;
/// - two schemas, specs, sort orders or snapshots of one id (Java), and a current or
///   default id that is none of them;
/// - what CheckSchemaIds and CheckSpecIds refuse;
/// - a default spec or sort order of a column that the current schema does not have
///   ("Partition Evolution"; Java). Others may be of columns that were dropped, and so
///   may a void field;
/// - last-sequence-number that is negative, has no number above it, or is below a
///   snapshot's ("Sequence Numbers"; Java). Format version 1 has none of these numbers,
///   and a snapshot from then has 0 after the upgrade;
/// - next-row-id at or below an id that a snapshot gave out, and a first-row-id without
///   added-rows ("Snapshot Row IDs"; of the latter Java), from format version 3 on. A
///   snapshot from before the upgrade has no first-row-id;
/// - a snapshot among its own ancestors, whose history would have no end ("Snapshots").
///   A parent that is not there has expired;
/// - a branch or tag of a snapshot that is not there, current-snapshot-id that differs
///   from main (both Java), and main as a tag, which could not move ("Snapshot
///   References"). No current snapshot is fine, as a missing field, null or -1.
///
/// Snapshots that no ref reaches are fine: staged ones, and those of dropped branches.
Status CheckCoherence(const TableMetadata& metadata);

}  // namespace firn::iceberg
