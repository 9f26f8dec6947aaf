#include "firn/iceberg/testing/commit_reader.h"

#include <functional>
#include <map>
#include <string>

#include "firn/iceberg/serde/json_value.h"

namespace firn::iceberg {
namespace {

using serde::Json;
using serde::ObjectReader;
using serde::ParseOutcome;

template <typename Value>
using Readers = std::map<std::string, std::function<Value(ObjectReader&)>>;

const Readers<TableUpdate>& UpdateReaders() {
  static const Readers<TableUpdate> readers = {
      {"assign-uuid",
       [](ObjectReader& reader) { return AssignUuid{TableUuid(reader.String("uuid"))}; }},
      {"add-schema",
       [](ObjectReader& reader) {
         return AddSchema{
             serde::ReadSchema(reader.Get("schema"), "schema", reader.outcome())};
       }},
      {"set-current-schema",
       [](ObjectReader& reader) {
         return SetCurrentSchema{SchemaId(reader.Int("schema-id"))};
       }},
      {"add-spec",
       [](ObjectReader& reader) {
         return AddSpec{serde::ReadSpec(reader.Get("spec"), "spec", reader.outcome())};
       }},
      {"set-default-spec",
       [](ObjectReader& reader) {
         return SetDefaultSpec{PartitionSpecId(reader.Int("spec-id"))};
       }},
      {"add-sort-order",
       [](ObjectReader& reader) {
         return AddSortOrder{serde::ReadSortOrder(reader.Get("sort-order"), "sort-order",
                                                  reader.outcome())};
       }},
      {"set-default-sort-order",
       [](ObjectReader& reader) {
         return SetDefaultSortOrder{SortOrderId(reader.Int("sort-order-id"))};
       }},
      {"add-snapshot",
       [](ObjectReader& reader) {
         return AddSnapshot{
             serde::ReadSnapshot({reader.Get("snapshot"), "snapshot", reader.outcome()})};
       }},
      {"set-snapshot-ref",
       [](ObjectReader& reader) {
         return SetSnapshotRef{reader.String("ref-name"), serde::ReadRef(reader)};
       }},
      {"set-properties",
       [](ObjectReader& reader) { return SetProperties{reader.StringMap("updates")}; }},
      {"remove-properties",
       [](ObjectReader& reader) {
         return RemoveProperties{reader.StringList("removals")};
       }},
  };
  return readers;
}

const Readers<TableRequirement>& RequirementReaders() {
  static const Readers<TableRequirement> readers = {
      {"assert-create", [](ObjectReader&) { return AssertCreate{}; }},
      {"assert-table-uuid",
       [](ObjectReader& reader) {
         return AssertTableUuid{TableUuid(reader.String("uuid"))};
       }},
      {"assert-ref-snapshot-id",
       [](ObjectReader& reader) {
         AssertRefSnapshotId read{reader.String("ref"), std::nullopt};
         if (const auto id = reader.OptionalLong("snapshot-id")) {
           read.snapshot_id = SnapshotId(*id);
         }
         return read;
       }},
      {"assert-last-assigned-field-id",
       [](ObjectReader& reader) {
         return AssertLastAssignedFieldId{reader.Int("last-assigned-field-id")};
       }},
      {"assert-current-schema-id",
       [](ObjectReader& reader) {
         return AssertCurrentSchemaId{SchemaId(reader.Int("current-schema-id"))};
       }},
      {"assert-last-assigned-partition-id",
       [](ObjectReader& reader) {
         return AssertLastAssignedPartitionId{reader.Int("last-assigned-partition-id")};
       }},
      {"assert-default-spec-id",
       [](ObjectReader& reader) {
         return AssertDefaultSpecId{PartitionSpecId(reader.Int("default-spec-id"))};
       }},
      {"assert-default-sort-order-id",
       [](ObjectReader& reader) {
         return AssertDefaultSortOrderId{
             SortOrderId(reader.Int("default-sort-order-id"))};
       }},
  };
  return readers;
}

/// The elements of the array `field`, each told apart by its own field `tag`.
template <typename Value>
std::vector<Value> ReadTagged(ObjectReader& reader, const char* field, const char* tag,
                              const Readers<Value>& readers) {
  std::vector<Value> values;
  reader.Get(field);
  const Json& array = reader.Array(field);
  for (std::size_t i = 0; i < array.size(); ++i) {
    ObjectReader one(array[i], reader.PathOf(field, i), reader.outcome());
    const std::string name = one.String(tag);
    const auto read = readers.find(name);
    if (read == readers.end()) {
      reader.outcome().Fail(InvalidError("{}: '{}' is not known", one.PathOf(tag), name));
      return {};
    }
    values.push_back(read->second(one));
  }
  return values;
}

}  // namespace

Result<ReceivedCommit> ParseCommit(std::string_view text) {
  FIRN_ASSIGN_OR_RETURN(const Json json, serde::ParseJson(text));
  ParseOutcome outcome;
  ObjectReader reader(json, "", outcome);
  ReceivedCommit commit = {
      .requirements = ReadTagged(reader, "requirements", "type", RequirementReaders()),
      .updates = ReadTagged(reader, "updates", "action", UpdateReaders())};
  FIRN_RETURN_NOT_OK(outcome.status);
  return commit;
}

Result<ReceivedCreation> ParseCreation(std::string_view text) {
  FIRN_ASSIGN_OR_RETURN(const Json json, serde::ParseJson(text));
  ParseOutcome outcome;
  ObjectReader reader(json, "", outcome);
  ReceivedCreation received;
  received.name = reader.String("name");
  received.creation.location = reader.OptionalString("location");
  received.creation.properties = reader.StringMap("properties");
  received.creation.schema = serde::ReadSchema(reader.Get("schema"), "schema", outcome);
  if (const Json* spec = reader.Find("partition-spec")) {
    received.creation.partition_spec = serde::ReadSpec(*spec, "partition-spec", outcome);
  }
  if (const Json* order = reader.Find("write-order")) {
    received.creation.sort_order = serde::ReadSortOrder(*order, "write-order", outcome);
  }
  FIRN_RETURN_NOT_OK(outcome.status);
  return received;
}

}  // namespace firn::iceberg
