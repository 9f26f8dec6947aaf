// For tests/iceberg: creates tables and appends data files through this layer alone, so
// that other implementations can look at the result, and it at theirs.
//
//   iceberg_tool create DATABASE CATALOG WAREHOUSE TABLE PARTITION_BY SORT_BY
//       standard input: the schema as JSON
//   iceberg_tool append DATABASE CATALOG TABLE
//       standard input: [{"path", "records", "bytes", "partition": {name: text},
//         "value_counts", "null_value_counts": {id: count},
//         "lower_bounds", "upper_bounds": {id: text}}, ...]
//   iceberg_tool files DATABASE CATALOG TABLE
//       standard output: [{"path", "records", "partition": {name: text}, ...}, ...]
//
// create and append print the metadata's location.

#include <iostream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "firn/core/ulid.h"
#include "firn/iceberg/catalog/open_catalog.h"
#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/serde/schema_json.h"
#include "firn/iceberg/update/append.h"
#include "firn/storage/local_store.h"
#include "firn/types/single_value.h"

namespace firn::iceberg {
namespace {

using nlohmann::json;

class Tool {
 public:
  static Result<Tool> Open(const std::string& database, const std::string& catalog_name,
                           const std::string& warehouse) {
    Tool tool;
    FIRN_ASSIGN_OR_RETURN(tool.store_, storage::LocalStore::Make(SystemRuntime(), "/"));
    FIRN_ASSIGN_OR_RETURN(
        FileIo io, FileIo::Make({{.prefix = "file:///", .store = tool.store_.get()}}));
    tool.io_ = std::make_unique<FileIo>(std::move(io));
    FIRN_ASSIGN_OR_RETURN(
        tool.catalog_,
        OpenCatalog({.name = catalog_name,
                     .properties = {{catalog_property::kUri, "sqlite:///" + database},
                                    {catalog_property::kWarehouse, warehouse}}},
                    *tool.io_, SystemRuntime()));
    return tool;
  }

  Status Create(const TableIdentifier& table, const std::string& partition_by,
                const std::string& sort_by, const std::string& input) {
    TableCreation creation;
    FIRN_ASSIGN_OR_RETURN(creation.schema, ParseSchemaJson(input));
    FIRN_ASSIGN_OR_RETURN(creation.partition_spec,
                          types::ParsePartitionSpec(partition_by, creation.schema));
    FIRN_ASSIGN_OR_RETURN(creation.sort_order,
                          order::ParseSortOrder(sort_by, creation.schema));
    const Status made = catalog_->CreateNamespace(table.namespace_name);
    if (!made.ok() && !IsError(made, ErrorKind::kAlreadyExists)) return made;
    FIRN_ASSIGN_OR_RETURN(const LoadedTable loaded,
                          catalog_->CreateTable(table, std::move(creation)));
    std::cout << loaded.metadata_location << "\n";
    return Status::OK();
  }

  Status Append(const TableIdentifier& table, const std::string& input) {
    FIRN_ASSIGN_OR_RETURN(const LoadedTable base, catalog_->LoadTable(table));
    const TableMetadata& metadata = base.metadata;
    std::vector<DataFile> files;
    for (const json& description : json::parse(input)) {
      FIRN_ASSIGN_OR_RETURN(DataFile file, FileOf(description, metadata));
      files.push_back(std::move(file));
    }
    FIRN_ASSIGN_OR_RETURN(
        const WrittenManifests written,
        WriteManifests(*io_, metadata, files, NewSnapshotId(metadata, SystemRuntime()),
                       NewUuid(SystemRuntime())));
    FIRN_ASSIGN_OR_RETURN(
        const PreparedSnapshot append,
        PrepareAppend(*io_, metadata, written, {.summary = {{"firn.test", "1"}}},
                      SystemRuntime().Now()));
    FIRN_ASSIGN_OR_RETURN(
        const LoadedTable committed,
        catalog_->CommitTable(table, append.requirements, append.updates));
    std::cout << committed.metadata_location << "\n";
    return Status::OK();
  }

  Status Files(const TableIdentifier& table) {
    FIRN_ASSIGN_OR_RETURN(const LoadedTable loaded, catalog_->LoadTable(table));
    json files = json::array();
    if (const Snapshot* snapshot = CurrentSnapshot(loaded.metadata)) {
      FIRN_ASSIGN_OR_RETURN(const auto manifests,
                            ReadManifestList(*io_, snapshot->manifest_list));
      for (const ManifestFile& manifest : manifests) {
        FIRN_ASSIGN_OR_RETURN(const auto entries,
                              ReadManifest(*io_, loaded.metadata, manifest));
        for (const ManifestEntry& entry : entries) {
          FIRN_ASSIGN_OR_RETURN(json file, DescriptionOf(entry, loaded.metadata));
          files.push_back(std::move(file));
        }
      }
    }
    std::cout << files.dump() << "\n";
    return Status::OK();
  }

 private:
  using Metrics = std::map<FieldId, std::int64_t>;
  using Bounds = std::map<FieldId, std::string>;

  static Metrics MetricsOf(const json& object) {
    Metrics metrics;
    for (const auto& [id, count] : object.items()) metrics[std::stoi(id)] = count;
    return metrics;
  }

  static Result<Bounds> BoundsOf(const json& object, const types::Schema& schema) {
    Bounds bounds;
    for (const auto& [id, text] : object.items()) {
      const types::Type& type = types::FindField(schema, std::stoi(id))->type;
      FIRN_ASSIGN_OR_RETURN(types::Value value,
                            types::FromText(type, text.get<std::string>()));
      bounds[std::stoi(id)] = types::ToBytes(type, value);
    }
    return bounds;
  }

  static Result<DataFile> FileOf(const json& description, const TableMetadata& metadata) {
    const types::Schema& schema = CurrentSchema(metadata);
    const types::PartitionSpec& spec = DefaultSpec(metadata);
    DataFile file{.file_path = description.at("path"),
                  .partition_spec_id = spec.id,
                  .record_count = description.at("records"),
                  .file_size_in_bytes = description.at("bytes"),
                  .value_counts = MetricsOf(description.at("value_counts")),
                  .null_value_counts = MetricsOf(description.at("null_value_counts")),
                  .sort_order_id = metadata.default_sort_order_id};
    FIRN_ASSIGN_OR_RETURN(file.lower_bounds,
                          BoundsOf(description.at("lower_bounds"), schema));
    FIRN_ASSIGN_OR_RETURN(file.upper_bounds,
                          BoundsOf(description.at("upper_bounds"), schema));
    FIRN_ASSIGN_OR_RETURN(const auto partition_types,
                          types::PartitionTypes(spec, schema));
    for (std::size_t i = 0; i < spec.fields.size(); ++i) {
      const json& text = description.at("partition").at(spec.fields[i].name);
      types::Value value;
      if (!text.is_null()) {
        FIRN_ASSIGN_OR_RETURN(
            value, types::FromText(partition_types[i], text.get<std::string>()));
      }
      file.partition.push_back(std::move(value));
    }
    return file;
  }

  static Result<json> DescriptionOf(const ManifestEntry& entry,
                                    const TableMetadata& metadata) {
    const DataFile& file = entry.data_file;
    const types::PartitionSpec& spec = *FindSpec(metadata, file.partition_spec_id);
    FIRN_ASSIGN_OR_RETURN(const auto partition_types,
                          types::PartitionTypes(spec, CurrentSchema(metadata)));
    json partition = json::object();
    for (std::size_t i = 0; i < spec.fields.size(); ++i) {
      partition[spec.fields[i].name] =
          types::ToText(partition_types[i], file.partition[i]);
    }
    return json{{"path", file.file_path},
                {"records", file.record_count},
                {"partition", std::move(partition)},
                {"sequence_number", entry.sequence_number->value()},
                {"value_counts", file.value_counts}};
  }

  std::unique_ptr<storage::LocalStore> store_;
  std::unique_ptr<FileIo> io_;
  std::unique_ptr<Catalog> catalog_;
};

Status Run(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  const bool creates = command == "create";
  if (arguments.size() != (creates ? 7 : 4)) {
    return InvalidError("wrong usage, see src/firn/iceberg/testing/interop_tool.cc");
  }
  FIRN_ASSIGN_OR_RETURN(
      Tool tool, Tool::Open(arguments[1], arguments[2], creates ? arguments[3] : ""));
  FIRN_ASSIGN_OR_RETURN(const TableIdentifier table,
                        ParseTableIdentifier(arguments[creates ? 4 : 3]));
  if (command == "files") return tool.Files(table);
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  if (creates) return tool.Create(table, arguments[5], arguments[6], input);
  return tool.Append(table, input);
}

}  // namespace
}  // namespace firn::iceberg

int main(int argc, char** argv) {
  const firn::Status status =
      firn::iceberg::Run(std::vector<std::string>(argv + 1, argv + argc));
  if (status.ok()) return 0;
  std::cerr << firn::ErrorText(status) << "\n";
  return 1;
}
