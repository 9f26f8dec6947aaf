// Metadata, manifest lists and manifests of tables by PyIceberg and by Java: read field
// by field as fastavro and PyIceberg read them (tests/iceberg/make_golden.py wrote that
// down beside them), and refused, by name of file and field, once they are damaged.

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/serde/avro/container.h"
#include "firn/iceberg/serde/manifest_avro.h"
#include "firn/iceberg/serde/metadata_json.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/types/single_value.h"

namespace firn::iceberg {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kFolder = FIRN_SOURCE_DIR "/src/firn/iceberg/testdata/foreign";
constexpr const char* kMetadataName = "table.metadata.json";
constexpr const char* kListName = "manifest_list.avro";

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

json OptionalHex(const std::optional<std::string>& bytes) {
  return bytes ? json(Hex(*bytes)) : json();
}

template <typename Number>
json OptionalNumber(const std::optional<Number>& number) {
  return number ? json(*number) : json();
}

template <typename Id>
json OptionalId(const std::optional<Id>& id) {
  return id ? json(id->value()) : json();
}

json ByField(const std::map<FieldId, std::int64_t>& counts) {
  json object = json::object();
  for (const auto& [id, count] : counts) object[fmt::format("{}", id)] = count;
  return object;
}

json ByField(const std::map<FieldId, std::string>& bounds) {
  json object = json::object();
  for (const auto& [id, bound] : bounds) object[fmt::format("{}", id)] = Hex(bound);
  return object;
}

json ToJson(const FieldSummary& summary) {
  return {{"contains_null", summary.contains_null},
          {"contains_nan", OptionalNumber(summary.contains_nan)},
          {"lower_bound", OptionalHex(summary.lower_bound)},
          {"upper_bound", OptionalHex(summary.upper_bound)}};
}

json ToJson(const ManifestFile& manifest) {
  json partitions;
  if (manifest.partitions) {
    partitions = json::array();
    for (const auto& summary : *manifest.partitions)
      partitions.push_back(ToJson(summary));
  }
  return {{"manifest_path", manifest.manifest_path},
          {"manifest_length", manifest.manifest_length},
          {"partition_spec_id", manifest.partition_spec_id.value()},
          {"content", static_cast<int>(manifest.content)},
          {"sequence_number", OptionalId(manifest.sequence_number)},
          {"min_sequence_number", OptionalId(manifest.min_sequence_number)},
          {"added_snapshot_id", manifest.added_snapshot_id.value()},
          {"added_files_count", OptionalNumber(manifest.added_files_count)},
          {"existing_files_count", OptionalNumber(manifest.existing_files_count)},
          {"deleted_files_count", OptionalNumber(manifest.deleted_files_count)},
          {"added_rows_count", OptionalNumber(manifest.added_rows_count)},
          {"existing_rows_count", OptionalNumber(manifest.existing_rows_count)},
          {"deleted_rows_count", OptionalNumber(manifest.deleted_rows_count)},
          {"partitions", std::move(partitions)},
          {"key_metadata", OptionalHex(manifest.key_metadata)},
          {"first_row_id", OptionalNumber(manifest.first_row_id)}};
}

/// A partition spec of a table, and the types of its fields.
struct SpecOfTable {
  const types::PartitionSpec& spec;
  std::vector<types::Type> types;
};

json ToJson(const ManifestEntry& entry, const SpecOfTable& of) {
  const DataFile& file = entry.data_file;
  json partition = json::object();
  for (std::size_t i = 0; i < of.types.size(); ++i) {
    const types::Value& value = file.partition.at(i);
    partition[of.spec.fields[i].name] =
        types::IsNull(value) ? json() : json(Hex(types::ToBytes(of.types[i], value)));
  }
  json data_file = {{"content", static_cast<int>(file.content)},
                    {"file_path", file.file_path},
                    {"file_format", file.file_format},
                    {"partition", std::move(partition)},
                    {"record_count", file.record_count},
                    {"file_size_in_bytes", file.file_size_in_bytes},
                    {"column_sizes", ByField(file.column_sizes)},
                    {"value_counts", ByField(file.value_counts)},
                    {"null_value_counts", ByField(file.null_value_counts)},
                    {"nan_value_counts", ByField(file.nan_value_counts)},
                    {"lower_bounds", ByField(file.lower_bounds)},
                    {"upper_bounds", ByField(file.upper_bounds)},
                    {"key_metadata", OptionalHex(file.key_metadata)},
                    {"split_offsets", file.split_offsets},
                    {"equality_ids", file.equality_ids},
                    {"sort_order_id", OptionalId(file.sort_order_id)},
                    {"first_row_id", OptionalNumber(file.first_row_id)},
                    {"referenced_data_file", OptionalNumber(file.referenced_data_file)}};
  return {{"status", static_cast<int>(entry.status)},
          {"snapshot_id", OptionalId(entry.snapshot_id)},
          {"sequence_number", OptionalId(entry.sequence_number)},
          {"file_sequence_number", OptionalId(entry.file_sequence_number)},
          {"data_file", std::move(data_file)}};
}

/// A schema without one of its fields, or with it as another type.
avro::SchemaPtr Changed(const avro::Schema& schema, FieldId id,
                        const avro::SchemaPtr& type) {
  std::vector<avro::RecordField> fields;
  for (avro::RecordField field : schema.fields) {
    if (field.field_id == id) {
      if (type == nullptr) continue;
      field.type = type;
    } else if (field.type->kind == avro::Kind::kRecord) {
      field.type = Changed(*field.type, id, type);
    }
    fields.push_back(std::move(field));
  }
  return avro::Record(schema.name, std::move(fields));
}

avro::Value Changed(const avro::Schema& schema, const avro::Value& value, FieldId id,
                    const std::optional<avro::Value>& instead) {
  const avro::Values& before = std::get<avro::Values>(value.data);
  avro::Values values;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const avro::RecordField& field = schema.fields[i];
    if (field.field_id == id) {
      if (instead) values.push_back(*instead);
    } else if (field.type->kind == avro::Kind::kRecord) {
      values.push_back(Changed(*field.type, before[i], id, instead));
    } else {
      values.push_back(before[i]);
    }
  }
  return {std::move(values)};
}

/// The file with a field of all records taken out, or of a type that nothing has there.
std::string WithChangedField(const std::string& bytes, FieldId id, bool is_there) {
  avro::Container file = avro::ReadContainer(bytes).ValueOrDie();
  std::erase_if(file.metadata,
                [](const auto& entry) { return entry.first.starts_with("avro."); });
  const auto type = is_there ? avro::Primitive(avro::Kind::kDouble) : nullptr;
  const auto instead = is_there ? std::optional(avro::Value{0.5}) : std::nullopt;
  avro::ContainerWriter writer(Changed(*file.schema, id, type), avro::Codec::kDeflate,
                               file.metadata);
  for (const avro::Value& value : file.values) {
    writer.Add(Changed(*file.schema, value, id, instead));
  }
  return writer.Finish();
}

/// The file's header alone, which ends with the marker that ends the file, too.
std::string HeaderOf(const std::string& bytes) {
  const std::string sync = bytes.substr(bytes.size() - 16);
  return bytes.substr(0, bytes.find(sync) + sync.size());
}

struct Damage {
  const char* name;
  std::function<std::string(std::string)> apply;
  const char* message;
};

/// What can be wrong with any Avro file.
std::vector<Damage> ContainerDamages() {
  return {
      {"empty", [](const std::string&) { return std::string(); }, "magic"},
      {"header cut", [](const std::string& bytes) { return bytes.substr(0, 100); },
       "ends early"},
      {"block cut",
       [](const std::string& bytes) { return bytes.substr(0, bytes.size() - 40); },
       "ends early"},
      {"marker cut",
       [](const std::string& bytes) { return bytes.substr(0, bytes.size() - 1); },
       "sync marker"},
      {"marker wrong",
       [](std::string bytes) {
         bytes.back() = static_cast<char>(bytes.back() ^ 1);
         return bytes;
       },
       "sync marker"},
      {"codec unknown",
       [](std::string bytes) {
         const std::string_view codec = "deflate";
         return bytes.replace(bytes.find(codec), codec.size(), "deflatX");
       },
       "codec 'deflatX'"},
      {"codec wrong",
       [](const std::string& bytes) {
         std::string header = HeaderOf(bytes);
         const std::string block = "these bytes were never deflated";
         avro::AppendLong(1, header);
         avro::AppendBytes(block, header);
         return header + bytes.substr(bytes.size() - 16);
       },
       "damaged"},
      {"count huge",
       [](const std::string& bytes) {
         std::string header = HeaderOf(bytes);
         const avro::ContainerBlocks file = avro::ReadBlocks(bytes).ValueOrDie();
         avro::AppendLong(std::int64_t{1} << 60, header);
         avro::AppendBytes(file.blocks.at(0).bytes, header);
         return header + bytes.substr(bytes.size() - 16);
       },
       "fewer records than it says"},
      {"schema nested too deep",
       [](const std::string&) {
         std::string schema;
         for (int i = 0; i < 10'000; ++i) schema += R"({"type":"array","items":)";
         std::string bytes("Obj\1", 4);
         avro::AppendLong(1, bytes);
         avro::AppendBytes("avro.schema", bytes);
         avro::AppendBytes(schema, bytes);
         avro::AppendLong(0, bytes);
         return bytes + std::string(16, '0');
       },
       "Avro schema"},
  };
}

struct RequiredField {
  FieldId id;
  const char* name;
};

/// A table of testdata/foreign.
class ForeignFilesTest : public testing::TestWithParam<const char*> {
 protected:
  ForeignFilesTest() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      Put(name, ReadFile(entry.path()));
      if (name.ends_with(".avro") && name != kListName) manifest_names_.push_back(name);
    }
  }

  static std::string At(const std::string& name) { return "memory:///" + name; }

  void Put(const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(files_.store().PutWhole(name, bytes).ok());
  }
  std::string Bytes(const std::string& name) {
    return files_.store().GetWhole(name).ValueOrDie();
  }

  json Expected() { return json::parse(Bytes("expected.json")); }

  TableMetadata Metadata() {
    return ReadTableMetadata(files_.io(), At(kMetadataName)).ValueOrDie();
  }

  /// The line of a manifest in the list, with the place where it lies here.
  ManifestFile LineOf(const std::string& name) {
    for (ManifestFile& line : ReadManifestList(files_.io(), At(kListName)).ValueOrDie()) {
      if (!line.manifest_path.ends_with(name)) continue;
      line.manifest_path = At(name);
      return line;
    }
    ADD_FAILURE() << name;
    return {};
  }

  Status ReadDamagedList(const std::string& bytes) {
    Put("damaged", bytes);
    return ReadManifestList(files_.io(), At("damaged")).status();
  }

  Status ReadDamagedManifest(const std::string& name, const std::string& bytes) {
    Put("damaged", bytes);
    ManifestFile line = LineOf(name);
    line.manifest_path = At("damaged");
    return ReadManifest(files_.io(), Metadata(), line).status();
  }

  const std::filesystem::path folder_ = std::filesystem::path(kFolder) / GetParam();
  MemoryFiles files_;
  std::vector<std::string> manifest_names_;
};

/// Metadata with what Firn leaves out or adds, since it means the same: version 1 keeps
/// some things twice and has no sequence numbers, and an empty list is none.
json Meant(json metadata) {
  if (metadata["format-version"] == 1) {
    metadata.erase("schema");
    metadata.erase("partition-spec");
    for (json& snapshot : metadata["snapshots"]) snapshot["sequence-number"] = 0;
  }
  for (json& schema : metadata["schemas"]) {
    if (schema["identifier-field-ids"].empty()) schema.erase("identifier-field-ids");
  }
  return metadata;
}

TEST_P(ForeignFilesTest, MetadataComesBackWithEveryField) {
  const json expected = Meant(json::parse(Bytes(kMetadataName)));
  const std::string written = MetadataToJson(Metadata()).ValueOrDie();
  EXPECT_EQ(json::diff(expected, json::parse(written)), json::array());
}

TEST_P(ForeignFilesTest, ManifestListHasEveryField) {
  const auto manifests = ReadManifestList(files_.io(), At(kListName)).ValueOrDie();
  const json expected = Expected()["manifests"];
  ASSERT_EQ(manifests.size(), expected.size());
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    EXPECT_EQ(json::diff(expected[i], ToJson(manifests[i])), json::array());
  }
}

TEST_P(ForeignFilesTest, ManifestsHaveEveryField) {
  const TableMetadata metadata = Metadata();
  for (const std::string& name : manifest_names_) {
    const types::PartitionSpec& spec =
        *FindSpec(metadata, LineOf(name).partition_spec_id);
    const SpecOfTable of = {
        spec, types::PartitionTypes(spec, CurrentSchema(metadata)).ValueOrDie()};
    const auto entries = DecodeManifest(Bytes(name), spec, of.types).ValueOrDie();
    const json expected = Expected()["entries"][name];
    ASSERT_EQ(entries.size(), expected.size()) << name;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(json::diff(expected[i], ToJson(entries[i], of)), json::array()) << name;
    }
    EXPECT_TRUE(ReadManifest(files_.io(), metadata, LineOf(name)).ok());
  }
}

TEST_P(ForeignFilesTest, DamagedAvroIsRefusedByName) {
  for (const Damage& damage : ContainerDamages()) {
    const auto refused = AllOf(HasSubstr(At("damaged")), HasSubstr(damage.message));
    EXPECT_THAT(ErrorText(ReadDamagedList(damage.apply(Bytes(kListName)))), refused)
        << damage.name;
    const std::string& name = manifest_names_.front();
    EXPECT_THAT(ErrorText(ReadDamagedManifest(name, damage.apply(Bytes(name)))), refused)
        << damage.name;
  }
}

TEST_P(ForeignFilesTest, AManifestListWithoutARequiredFieldIsRefusedByName) {
  std::vector<RequiredField> required = {{500, "manifest_path"},
                                         {501, "manifest_length"},
                                         {502, "partition_spec_id"},
                                         {503, "added_snapshot_id"}};
  if (Metadata().format_version > 1) {
    required.insert(
        required.end(),
        {{515, "sequence_number"}, {516, "min_sequence_number"}, {517, "content"}});
  }
  for (const RequiredField& field : required) {
    for (const bool is_there : {false, true}) {
      EXPECT_THAT(ErrorText(ReadDamagedList(
                      WithChangedField(Bytes(kListName), field.id, is_there))),
                  AllOf(HasSubstr(At("damaged")), HasSubstr(field.name),
                        HasSubstr(is_there ? "has another type" : "is missing")));
    }
  }
}

TEST_P(ForeignFilesTest, AManifestWithoutARequiredFieldIsRefusedByName) {
  const std::string& name = manifest_names_.front();
  for (const RequiredField& field : {RequiredField{0, "status"},
                                     {100, "file_path"},
                                     {101, "file_format"},
                                     {103, "record_count"},
                                     {104, "file_size_in_bytes"}}) {
    for (const bool is_there : {false, true}) {
      EXPECT_THAT(ErrorText(ReadDamagedManifest(
                      name, WithChangedField(Bytes(name), field.id, is_there))),
                  AllOf(HasSubstr(At("damaged")), HasSubstr(field.name),
                        HasSubstr(is_there ? "has another type" : "is missing")));
    }
  }
}

TEST_P(ForeignFilesTest, MetadataWithoutARequiredFieldIsRefusedByName) {
  const json whole = json::parse(Bytes(kMetadataName));
  std::vector<std::string> required = {"format-version", "location", "last-updated-ms",
                                       "last-column-id"};
  if (whole["format-version"] > 1) {
    required.insert(required.end(),
                    {"table-uuid", "last-sequence-number", "schemas", "current-schema-id",
                     "partition-specs", "default-spec-id", "last-partition-id",
                     "sort-orders", "default-sort-order-id"});
  }
  for (const std::string& field : required) {
    for (const bool is_there : {false, true}) {
      json damaged = whole;
      damaged.erase(field);
      if (is_there) damaged[field] = true;
      Put("damaged", damaged.dump());
      EXPECT_THAT(ErrorText(ReadTableMetadata(files_.io(), At("damaged")).status()),
                  AllOf(HasSubstr(At("damaged")), HasSubstr(field),
                        HasSubstr(is_there ? "expected" : "missing")));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, ForeignFilesTest,
                         testing::Values("java_v1", "java_v2", "java_v3", "pyiceberg_v1",
                                         "pyiceberg_v2"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace firn::iceberg
