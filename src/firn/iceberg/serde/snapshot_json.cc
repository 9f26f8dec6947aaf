// Snapshots, refs and logs, as metadata files and REST updates have them.

#include "firn/iceberg/serde/json_value.h"

namespace firn::iceberg::serde {
namespace {

/// Format version 1 had none, and a later one leaves those snapshots as they are.
SnapshotSequence ReadSequenceNumber(ObjectReader& reader) {
  constexpr std::string_view kName = "sequence-number";
  return SnapshotSequence(reader.Has(kName) ? reader.Long(kName) : 0);
}

/// Without manifests a snapshot would look as if it had no rows. Format version 1 may
/// list them here.
void CheckNamesManifests(ObjectReader& reader) {
  constexpr std::string_view kList = "manifest-list";
  if (reader.Find("manifests") != nullptr || !reader.String(kList).empty()) return;
  reader.outcome().Fail(
      Error(ErrorKind::kCorruption, "{}: '' names no file", reader.PathOf(kList)));
}

}  // namespace

Snapshot ReadSnapshot(ObjectReader reader) {
  CheckNamesManifests(reader);
  Snapshot snapshot{.snapshot_id = SnapshotId(reader.Long("snapshot-id")),
                    .parent_snapshot_id = std::nullopt,
                    .sequence_number = ReadSequenceNumber(reader),
                    .timestamp_ms = reader.Long("timestamp-ms"),
                    .manifest_list = reader.OptionalString("manifest-list"),
                    .manifests = reader.StringList("manifests"),
                    .summary = reader.StringMap("summary"),
                    .schema_id = std::nullopt,
                    .first_row_id = reader.OptionalLong("first-row-id"),
                    .added_rows = reader.OptionalLong("added-rows"),
                    .unknown = {}};
  if (const auto parent = reader.OptionalLong("parent-snapshot-id")) {
    snapshot.parent_snapshot_id = SnapshotId(*parent);
  }
  if (const auto schema_id = reader.OptionalInt("schema-id")) {
    snapshot.schema_id = SchemaId(*schema_id);
  }
  snapshot.unknown = reader.Unknown();
  return snapshot;
}

Json ToJsonValue(const Snapshot& snapshot) {
  Json json = {{"sequence-number", snapshot.sequence_number.value()},
               {"snapshot-id", snapshot.snapshot_id.value()}};
  if (snapshot.parent_snapshot_id.has_value()) {
    json["parent-snapshot-id"] = snapshot.parent_snapshot_id->value();
  }
  json["timestamp-ms"] = snapshot.timestamp_ms;
  if (!snapshot.summary.empty()) json["summary"] = snapshot.summary;
  if (!snapshot.manifest_list.empty()) json["manifest-list"] = snapshot.manifest_list;
  if (!snapshot.manifests.empty() || snapshot.manifest_list.empty()) {
    json["manifests"] = snapshot.manifests;
  }
  if (snapshot.schema_id.has_value()) json["schema-id"] = snapshot.schema_id->value();
  if (snapshot.first_row_id) json["first-row-id"] = *snapshot.first_row_id;
  if (snapshot.added_rows) json["added-rows"] = *snapshot.added_rows;
  AddUnknown(snapshot.unknown, json);
  return json;
}

SnapshotRef ReadRef(ObjectReader reader) {
  SnapshotRef ref{.snapshot_id = SnapshotId(reader.Long("snapshot-id")),
                  .type = RefType::kBranch,
                  .min_snapshots_to_keep = reader.OptionalInt("min-snapshots-to-keep"),
                  .max_snapshot_age_ms = reader.OptionalLong("max-snapshot-age-ms"),
                  .max_ref_age_ms = reader.OptionalLong("max-ref-age-ms"),
                  .unknown = {}};
  const std::string type = reader.String("type");
  if (type == "tag") {
    ref.type = RefType::kTag;
  } else if (type != "branch") {
    reader.outcome().Fail(Error(ErrorKind::kCorruption, "{}: '{}' is not branch or tag",
                                reader.PathOf("type"), type));
  }
  ref.unknown = reader.Unknown();
  return ref;
}

Json ToJsonValue(const SnapshotRef& ref) {
  Json json = {{"snapshot-id", ref.snapshot_id.value()},
               {"type", ref.type == RefType::kTag ? "tag" : "branch"}};
  if (ref.min_snapshots_to_keep) {
    json["min-snapshots-to-keep"] = *ref.min_snapshots_to_keep;
  }
  if (ref.max_snapshot_age_ms) json["max-snapshot-age-ms"] = *ref.max_snapshot_age_ms;
  if (ref.max_ref_age_ms) json["max-ref-age-ms"] = *ref.max_ref_age_ms;
  AddUnknown(ref.unknown, json);
  return json;
}

SnapshotLogEntry ReadSnapshotLogEntry(ObjectReader reader) {
  SnapshotLogEntry entry{.timestamp_ms = reader.Long("timestamp-ms"),
                         .snapshot_id = SnapshotId(reader.Long("snapshot-id")),
                         .unknown = {}};
  entry.unknown = reader.Unknown();
  return entry;
}

Json ToJsonValue(const SnapshotLogEntry& entry) {
  Json json = {{"timestamp-ms", entry.timestamp_ms},
               {"snapshot-id", entry.snapshot_id.value()}};
  AddUnknown(entry.unknown, json);
  return json;
}

MetadataLogEntry ReadMetadataLogEntry(ObjectReader reader) {
  MetadataLogEntry entry{.timestamp_ms = reader.Long("timestamp-ms"),
                         .metadata_file = reader.String("metadata-file"),
                         .unknown = {}};
  entry.unknown = reader.Unknown();
  return entry;
}

Json ToJsonValue(const MetadataLogEntry& entry) {
  Json json = {{"timestamp-ms", entry.timestamp_ms},
               {"metadata-file", entry.metadata_file}};
  AddUnknown(entry.unknown, json);
  return json;
}

}  // namespace firn::iceberg::serde
