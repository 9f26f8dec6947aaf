#include "firn/iceberg/io/metadata_io.h"

#include <algorithm>

#include "firn/core/lower_case.h"
#include "firn/core/whole_number.h"
#include "firn/iceberg/metadata/table_properties.h"
#include "firn/iceberg/serde/deflate.h"
#include "firn/iceberg/serde/metadata_json.h"

namespace firn::iceberg {
namespace {

constexpr std::int32_t kOldestWritableVersion = 2;
constexpr std::int32_t kNewestWritableVersion = 3;
constexpr const char* kEncryptionKeyProperty = "encryption.key-id";
constexpr const char* kCodecProperty = "write.metadata.compression-codec";
constexpr std::size_t kMetadataBytesMax = std::size_t{1} << 30;

bool IsGzipped(std::string_view location) {
  return location.ends_with(".gz.metadata.json") ||
         location.ends_with(".metadata.json.gz");
}

Result<TableMetadata> Parse(std::string_view location, std::string bytes,
                            const TableMetadata* known) {
  if (IsGzipped(location)) {
    FIRN_ASSIGN_OR_RETURN(bytes, Gunzip(bytes, kMetadataBytesMax));
  }
  return ParseTableMetadata(bytes, known);
}

/// Whether new metadata files are gzipped. Codecs have no case, as in Java.
Result<bool> WantsGzip(const TableMetadata& metadata) {
  const std::string* text = FindTableProperty(metadata, kCodecProperty);
  if (text == nullptr) return false;
  const std::string codec = LowerCase(*text);
  if (codec == "gzip") return true;
  if (codec == "none") return false;
  return InvalidError("table property {}: \"{}\" is not none or gzip", kCodecProperty,
                      *text);
}

/// The number before the first '-' of the file's name; nothing if there is none.
std::optional<std::int64_t> VersionOf(std::string_view location) {
  const std::string_view name = location.substr(location.rfind('/') + 1);
  const auto version = ParseWholeNumber<std::int32_t>(name.substr(0, name.find('-')));
  if (!version || *version < 0) return std::nullopt;
  return version;
}

}  // namespace

Result<TableMetadata> ReadTableMetadata(const FileIo& io, std::string_view location,
                                        const TableMetadata* known) {
  FIRN_ASSIGN_OR_RETURN(std::string bytes, io.Read(location));
  Result<TableMetadata> metadata = Parse(location, std::move(bytes), known);
  if (metadata.ok()) return metadata;
  return AtMetadataFile(metadata.status(), location);
}

Status AtMetadataFile(const Status& status, std::string_view location) {
  if (!IsError(status, ErrorKind::kCorruption)) return AddContext(status, location);
  return Error(ErrorKind::kCorruption,
               "{}: {}; put the file back from a backup, or let the catalog name the "
               "metadata file before it",
               location, ErrorText(status));
}

Status CheckWritable(const TableMetadata& metadata) {
  if (metadata.format_version < kOldestWritableVersion) {
    return InvalidError(
        "table at {} is of format version {}, which Firn only reads: upgrade it with the "
        "engine that made it, in Spark by ALTER TABLE ... SET TBLPROPERTIES "
        "('format-version' = '{}')",
        metadata.location, metadata.format_version, kOldestWritableVersion);
  }
  if (metadata.format_version > kNewestWritableVersion) {
    return InvalidError(
        "table at {} is of format version {}, Firn writes up to version {}",
        metadata.location, metadata.format_version, kNewestWritableVersion);
  }
  if (metadata.properties.contains(kEncryptionKeyProperty)) {
    return InvalidError(
        "table at {} is encrypted (its property {} is set), and Firn would write plain "
        "files: write to it with another engine",
        metadata.location, kEncryptionKeyProperty);
  }
  return WantsGzip(metadata).status();
}

Status WriteTableMetadata(const FileIo& io, std::string_view location,
                          const TableMetadata& metadata) {
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  FIRN_ASSIGN_OR_RETURN(const std::string json, MetadataToJson(metadata));
  return io.WriteNew(location, IsGzipped(location) ? Gzip(json) : json);
}

std::string NextMetadataLocation(const TableMetadata& metadata,
                                 std::string_view previous_location,
                                 std::string_view uuid) {
  std::int64_t version = 0;
  if (const auto previous = VersionOf(previous_location)) version = *previous + 1;
  const Result<bool> wants_gzip = WantsGzip(metadata);
  return fmt::format("{}/{:05}-{}{}.metadata.json", MetadataFolder(metadata), version,
                     uuid, wants_gzip.ok() && *wants_gzip ? ".gz" : "");
}

}  // namespace firn::iceberg
