#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/order/sort_order.h"
#include "firn/types/partition_spec.h"
#include "firn/types/schema.h"

// Shared by the .cc files that read or write Iceberg's JSON and by nobody else: the JSON
// library stays inside.

namespace firn::iceberg::serde {

/// Keeps the order of fields, so that a file that is written again reads like before.
using Json = nlohmann::ordered_json;

/// Corruption if `text` is not JSON in UTF-8, or nested deeper than 128 levels.
Result<Json> ParseJson(std::string_view text);

/// Invalid if a string in `json` is not UTF-8.
Result<std::string> DumpJson(const Json& json);

/// Adds what was kept from an earlier reading. REQUIRES: values are JSON text.
void AddUnknown(const types::UnknownFields& unknown, Json& object);

/// The first thing that was wrong with a document, with its path in front.
///
/// Readers go on with default values after it, so that only the end has to ask.
struct ParseOutcome {
  Status status;

  void Fail(Status failure) {
    if (status.ok()) status = std::move(failure);
  }
};

/// Reads one JSON object field by field; what nobody asked for is unknown.
///
/// A missing required field or a wrong type fails `outcome` with Corruption and gives an
/// empty value. A field that is null counts as missing, save for Has.
class ObjectReader {
 public:
  /// `path` names the object in messages: "snapshots[2]"; empty for the document.
  ObjectReader(const Json& json, std::string path, ParseOutcome& outcome);

  /// Null if it is missing.
  const Json* Find(std::string_view name);
  /// Whether there is such a field, null included: who reads it only then refuses null.
  bool Has(std::string_view name) const;
  /// Never null: an empty JSON value stands for a missing field.
  const Json& Get(std::string_view name);
  /// The elements; none if the field is missing.
  const Json& Array(std::string_view name);

  std::int64_t Long(std::string_view name);
  std::int32_t Int(std::string_view name);
  bool Bool(std::string_view name);
  std::string String(std::string_view name);
  std::optional<std::int64_t> OptionalLong(std::string_view name);
  std::optional<std::int32_t> OptionalInt(std::string_view name);
  std::string OptionalString(std::string_view name);
  std::vector<std::int32_t> IntList(std::string_view name);
  std::vector<std::string> StringList(std::string_view name);
  /// Empty if the field is missing.
  std::map<std::string, std::string> StringMap(std::string_view name);

  /// Everything that was not asked for so far.
  types::UnknownFields Unknown() const;

  std::string PathOf(std::string_view name) const;
  std::string PathOf(std::string_view name, std::size_t index) const;
  ParseOutcome& outcome() { return outcome_; }

 private:
  void WrongType(std::string_view name, std::string_view expected);
  std::int64_t Integer(const Json& json, std::string_view name, std::int64_t min,
                       std::int64_t max);

  const Json& json_;
  const std::string path_;
  ParseOutcome& outcome_;
  std::set<std::string, std::less<>> asked_;
};

types::Schema ReadSchema(const Json& json, const std::string& path,
                         ParseOutcome& outcome);
types::PartitionSpec ReadSpec(const Json& json, const std::string& path,
                              ParseOutcome& outcome);
/// The fields alone, as format version 1 keeps them. Ids are given from 1000 on where no
/// field has one, as old writers left them.
std::vector<types::PartitionField> ReadPartitionFields(const Json& json,
                                                       const std::string& path,
                                                       ParseOutcome& outcome);
order::SortOrder ReadSortOrder(const Json& json, const std::string& path,
                               ParseOutcome& outcome);
Snapshot ReadSnapshot(ObjectReader reader);
SnapshotRef ReadRef(ObjectReader reader);
SnapshotLogEntry ReadSnapshotLogEntry(ObjectReader reader);
MetadataLogEntry ReadMetadataLogEntry(ObjectReader reader);

/// See ParseTableMetadata.
Result<TableMetadata> ReadTableMetadata(const Json& json);

Json ToJsonValue(const types::Schema& schema);
Json ToJsonValue(const std::vector<types::PartitionField>& fields);
Json ToJsonValue(const types::PartitionSpec& spec);
Json ToJsonValue(const order::SortOrder& order);
Json ToJsonValue(const Snapshot& snapshot);
Json ToJsonValue(const SnapshotRef& ref);
Json ToJsonValue(const SnapshotLogEntry& entry);
Json ToJsonValue(const MetadataLogEntry& entry);

}  // namespace firn::iceberg::serde
