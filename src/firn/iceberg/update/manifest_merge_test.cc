#include "firn/iceberg/update/manifest_merge.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/serde/avro/container.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/iceberg/update/append.h"

namespace firn::iceberg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

class ManifestMergeTest : public testing::Test {
 protected:
  ManifestMergeTest() { Set("commit.manifest.min-count-to-merge", "3"); }

  void Set(const std::string& property, const std::string& value) {
    metadata_.properties[property] = value;
  }

  void Commit(const PreparedSnapshot& prepared) {
    ASSERT_TRUE(Check(prepared.requirements, metadata_).ok());
    metadata_ = Apply(metadata_, "base", prepared.updates, runtime_.Now()).ValueOrDie();
  }

  void Append(const std::string& path) {
    const auto written =
        WriteManifests(files_.io(), metadata_, {FlightsFile(path, 516, "UA", 10)},
                       NewSnapshotId(metadata_, runtime_), path);
    Commit(
        PrepareAppend(files_.io(), metadata_, *written, {}, runtime_.Now()).ValueOrDie());
  }

  auto Prepare() { return PrepareManifestMerge(files_.io(), metadata_, runtime_); }
  bool Merge() {
    const auto prepared = Prepare().ValueOrDie();
    if (prepared) Commit(*prepared);
    return prepared.has_value();
  }

  std::vector<ManifestFile> Manifests() {
    return ManifestsOfMain(files_.io(), metadata_).ValueOrDie();
  }

  /// "a@1": every live file, and its sequence number.
  std::vector<std::string> Files() {
    std::vector<std::string> files;
    for (const ManifestFile& manifest : Manifests()) {
      for (const auto& entry :
           ReadManifest(files_.io(), metadata_, manifest).ValueOrDie()) {
        EXPECT_EQ(entry.sequence_number, entry.file_sequence_number);
        files.push_back(
            fmt::format("{}@{}", entry.data_file.file_path, *entry.sequence_number));
      }
    }
    return files;
  }

  const std::string& Summary(const std::string& key) {
    return CurrentSnapshot(metadata_)->summary.at(key);
  }

  /// As if a later version had written the manifest: each of its files has a field that
  /// is not known, with this value.
  void AddFieldToFiles(const ManifestFile& manifest, const avro::Value& value) {
    const std::string bytes = files_.io().Read(manifest.manifest_path).ValueOrDie();
    avro::Container container = avro::ReadContainer(bytes).ValueOrDie();
    avro::RecordField file = container.schema->fields.back();
    std::vector<avro::RecordField> file_fields = file.type->fields;
    file_fields.push_back({.name = "quality",
                           .field_id = 9000,
                           .type = avro::Optional(avro::Primitive(avro::Kind::kLong))});
    file.type = avro::Record(file.type->name, std::move(file_fields));
    std::vector<avro::RecordField> fields = container.schema->fields;
    fields.back() = std::move(file);
    for (avro::Value& entry : container.values) {
      auto& file_value = std::get<avro::Values>(entry.data).back();
      std::get<avro::Values>(file_value.data).push_back(value);
    }
    Replace(manifest, container, avro::Record(container.schema->name, std::move(fields)));
  }

  /// As if a later version had written the manifest: it says more of itself.
  void AddProperty(const ManifestFile& manifest, const std::string& key,
                   const std::string& value) {
    const std::string bytes = files_.io().Read(manifest.manifest_path).ValueOrDie();
    avro::Container container = avro::ReadContainer(bytes).ValueOrDie();
    container.metadata[key] = value;
    Replace(manifest, container, container.schema);
  }

  void Replace(const ManifestFile& manifest, avro::Container& container,
               const avro::SchemaPtr& schema) {
    std::erase_if(container.metadata,
                  [](const auto& entry) { return entry.first.starts_with("avro."); });
    avro::ContainerWriter writer(schema, avro::Codec::kNull, container.metadata);
    for (const avro::Value& entry : container.values) writer.Add(entry);
    ASSERT_TRUE(files_.io().Delete(manifest.manifest_path).ok());
    ASSERT_TRUE(files_.io().WriteNew(manifest.manifest_path, writer.Finish()).ok());
  }

  /// What each manifest says beside what is known.
  std::vector<ManifestProperties> Properties() {
    std::vector<ManifestProperties> properties;
    for (const ManifestFile& manifest : Manifests()) {
      properties.push_back(ReadWholeManifest(files_.io(), metadata_, manifest)
                               .ValueOrDie()
                               .unknown_properties);
    }
    return properties;
  }

  FakeRuntime runtime_;
  MemoryFiles files_;
  TableMetadata metadata_ = FlightsMetadata();
};

TEST_F(ManifestMergeTest, FilesKeepTheirSequenceNumbers) {
  for (const char* path : {"a", "b", "c"}) Append(path);
  const Snapshot before = *CurrentSnapshot(metadata_);
  ASSERT_TRUE(Merge());
  EXPECT_THAT(Files(), UnorderedElementsAre("a@1", "b@2", "c@3"));
  ASSERT_EQ(Manifests().size(), 1U);
  const ManifestFile manifest = Manifests().front();
  EXPECT_EQ(manifest.sequence_number, SnapshotSequence(4));
  EXPECT_EQ(manifest.min_sequence_number, SnapshotSequence(1));
  EXPECT_EQ(manifest.existing_files_count, 3);
  EXPECT_EQ(manifest.existing_rows_count, 30);
  EXPECT_EQ(manifest.added_files_count, 0);
  EXPECT_EQ(CurrentSnapshot(metadata_)->parent_snapshot_id, before.snapshot_id);
  EXPECT_EQ(Summary("operation"), "replace");
  EXPECT_EQ(Summary("manifests-replaced"), "3");
  EXPECT_EQ(Summary("total-records"), "30");
  EXPECT_EQ(Summary("total-files-size"), before.summary.at("total-files-size"));
}

TEST_F(ManifestMergeTest, RowsKeepTheirIds) {
  metadata_.format_version = 3;
  for (const char* path : {"a", "b", "c"}) Append(path);
  ASSERT_TRUE(Merge());
  Append("d");
  std::map<std::string, std::int64_t> ids;
  for (const ManifestFile& manifest : Manifests()) {
    for (const auto& entry :
         ReadManifest(files_.io(), metadata_, manifest).ValueOrDie()) {
      ids[entry.data_file.file_path] = entry.data_file.first_row_id.value();
    }
  }
  // The merge took ids up for the rows of its manifest, which have theirs.
  EXPECT_THAT(ids,
              ElementsAre(Pair("a", 0), Pair("b", 10), Pair("c", 20), Pair("d", 60)));
}

TEST_F(ManifestMergeTest, WaitsUntilThereAreEnough) {
  EXPECT_FALSE(Merge());
  Append("a"), Append("b");
  EXPECT_FALSE(Merge());
  Append("c");
  EXPECT_TRUE(Merge());
  EXPECT_FALSE(Merge());
  Append("d"), Append("e");
  EXPECT_TRUE(Merge());
  EXPECT_THAT(Files(), UnorderedElementsAre("a@1", "b@2", "c@3", "d@5", "e@6"));
}

TEST_F(ManifestMergeTest, KeepsToTheTargetSize) {
  for (const char* path : {"a", "b", "c", "d"}) Append(path);
  const std::int64_t bytes = Manifests().front().manifest_length;
  Set("commit.manifest.target-size-bytes", fmt::format("{}", 2 * bytes + 2));
  ASSERT_TRUE(Merge());
  EXPECT_EQ(Manifests().size(), 2U);
  EXPECT_EQ(Files().size(), 4U);
  Set("commit.manifest.target-size-bytes", "10");
  EXPECT_FALSE(Merge());
}

TEST_F(ManifestMergeTest, LeavesManifestsAloneOfWhichItWouldLoseSomething) {
  for (const char* path : {"a", "b", "c", "d"}) Append(path);
  const ManifestFile later = Manifests()[1];
  AddFieldToFiles(later, {std::int64_t{7}});
  ASSERT_TRUE(Merge());
  ASSERT_EQ(Manifests().size(), 2U);
  EXPECT_EQ(Manifests().back(), later);
  EXPECT_EQ(Files().size(), 4U);
  EXPECT_EQ(Summary("manifests-replaced"), "3");
  EXPECT_EQ(Summary("manifests-kept"), "1");
}

TEST_F(ManifestMergeTest, MergesWhereAnUnknownFieldHasNoValue) {
  for (const char* path : {"a", "b", "c"}) Append(path);
  AddFieldToFiles(Manifests()[1], {});
  ASSERT_TRUE(Merge());
  EXPECT_EQ(Manifests().size(), 1U);
}

TEST_F(ManifestMergeTest, DoesNothingIfAllWouldLoseSomething) {
  for (const char* path : {"a", "b", "c"}) Append(path);
  AddFieldToFiles(Manifests()[0], {std::int64_t{7}});
  AddFieldToFiles(Manifests()[2], {std::int64_t{7}});
  EXPECT_FALSE(Merge());
}

TEST_F(ManifestMergeTest, KeepsWhatAllManifestsSayOfThemselves) {
  for (const char* path : {"a", "b", "c"}) Append(path);
  for (const ManifestFile& manifest : Manifests()) AddProperty(manifest, "tier", "hot");
  ASSERT_TRUE(Merge());
  EXPECT_THAT(Properties(), ElementsAre(ManifestProperties{{"tier", "hot"}}));
}

TEST_F(ManifestMergeTest, MergesOnlyManifestsThatSayTheSameOfThemselves) {
  for (const char* path : {"a", "b", "c", "d", "e"}) Append(path);
  AddProperty(Manifests()[0], "tier", "hot");
  AddProperty(Manifests()[2], "tier", "hot");
  AddProperty(Manifests()[3], "tier", "cold");
  ASSERT_TRUE(Merge());
  EXPECT_THAT(Properties(), UnorderedElementsAre(ManifestProperties{},
                                                 ManifestProperties{{"tier", "hot"}},
                                                 ManifestProperties{{"tier", "cold"}}));
  EXPECT_THAT(Files(), UnorderedElementsAre("a@1", "b@2", "c@3", "d@4", "e@5"));
  EXPECT_EQ(Summary("manifests-replaced"), "4");
  EXPECT_EQ(Summary("manifests-kept"), "1");
}

// Java's library repeats the schema of the records, which the merged manifest has anew.
TEST_F(ManifestMergeTest, DoesNotCarryOnWhatDescribesTheFileAlone) {
  for (const char* path : {"a", "b", "c"}) Append(path);
  AddProperty(Manifests()[1], "iceberg.schema", "{}");
  ASSERT_TRUE(Merge());
  EXPECT_THAT(Properties(), ElementsAre(ManifestProperties{}));
}

TEST_F(ManifestMergeTest, CanBeSwitchedOff) {
  for (const char* path : {"a", "b", "c"}) Append(path);
  Set("commit.manifest-merge.enabled", "false");
  EXPECT_FALSE(Merge());
}

TEST_F(ManifestMergeTest, RefusesPropertiesThatAreNotUnderstood) {
  for (const char* property :
       {"commit.manifest-merge.enabled", "commit.manifest.target-size-bytes",
        "commit.manifest.min-count-to-merge"}) {
    Set(property, "-5");
    EXPECT_THAT(ErrorText(Prepare().status()), HasSubstr(property));
    metadata_.properties.erase(property);
  }
}

}  // namespace
}  // namespace firn::iceberg
