#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/table_metadata.h"

namespace firn::iceberg {

/// Reads a metadata file, gunzipped if its name says so (".gz.metadata.json" or
/// ".metadata.json.gz"). Corruption, naming the file and the field, if it is malformed.
/// `known` as for ParseTableMetadata.
Result<TableMetadata> ReadTableMetadata(const FileIo& io, std::string_view location,
                                        const TableMetadata* known = nullptr);

/// A failure to read the metadata file at `location`, wherever its text came from: the
/// same kind, naming the file, and what to do if it is broken.
Status AtMetadataFile(const Status& status, std::string_view location);

/// Gzipped if the location says so, as in ReadTableMetadata. Durable once it returns OK.
/// Fails before a byte is written if CheckWritable does.
Status WriteTableMetadata(const FileIo& io, std::string_view location,
                          const TableMetadata& metadata);

/// Invalid, saying why and what to do, for a table that Firn can only read: one of format
/// version 1, one whose files are encrypted, or whose metadata has a codec that is none
/// of Iceberg's.
Status CheckWritable(const TableMetadata& metadata);

/// The location of the next metadata file: "<folder>/<version>-<uuid>.metadata.json", the
/// version being five digits and one above the previous file's (0 for a new table), as
/// PyIceberg and Java name them; with ".gz" before the ending if the property
/// write.metadata.compression-codec is "gzip".
std::string NextMetadataLocation(const TableMetadata& metadata,
                                 std::string_view previous_location,
                                 std::string_view uuid);

}  // namespace firn::iceberg
