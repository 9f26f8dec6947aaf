#include "firn/iceberg/io/manifest_io.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/metadata/partition_summary.h"
#include "firn/iceberg/serde/manifest_avro.h"
#include "firn/iceberg/serde/manifest_list_avro.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/types/single_value.h"

namespace firn::iceberg {
namespace {

using testing::HasSubstr;
using types::Type;
using types::TypeKind;

constexpr const char* kPath = "memory:///flights/metadata/m0.avro";
constexpr const char* kListPath = "memory:///flights/metadata/snap-1.avro";

class ManifestIoTest : public testing::Test {
 protected:
  Result<ManifestFile> Write(const std::vector<DataFile>& data_files) {
    return WriteManifest(files_.io(), metadata_,
                         {.location = kPath,
                          .partition_spec_id = PartitionSpecId(0),
                          .snapshot_id = SnapshotId(77)},
                         data_files);
  }

  std::vector<ManifestEntry> Read(const ManifestFile& manifest) {
    return ReadManifest(files_.io(), metadata_, manifest).ValueOrDie();
  }

  MemoryFiles files_;
  TableMetadata metadata_ = FlightsMetadata();
};

DataFile FullFile() {
  DataFile file = FlightsFile("memory:///flights/data/a.parquet", 516, "UA");
  file.column_sizes = {{1, 100}, {2, 50}};
  file.value_counts = {{1, 10}, {2, 10}};
  file.null_value_counts = {{1, 0}, {2, 3}};
  file.nan_value_counts = {{3, 1}};
  file.lower_bounds = {{1, std::string("\0\1", 2)}, {2, "AA"}};
  file.upper_bounds = {{2, "ZZ"}};
  file.split_offsets = {4, 1000};
  file.sort_order_id = SortOrderId(1);
  return file;
}

TEST_F(ManifestIoTest, ComesBackEqualWithNothingReadInBetween) {
  const std::vector<DataFile> written = {FullFile(),
                                         FlightsFile("b", std::nullopt, std::nullopt)};
  ManifestFile manifest = Write(written).ValueOrDie();
  manifest.sequence_number = SnapshotSequence(5);
  const std::vector<ManifestEntry> entries = Read(manifest);
  ASSERT_EQ(entries.size(), 2U);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].data_file, written[i]);
    EXPECT_EQ(entries[i].status, EntryStatus::kAdded);
    EXPECT_EQ(entries[i].snapshot_id, SnapshotId(77));
    EXPECT_EQ(entries[i].sequence_number, SnapshotSequence(5));
    EXPECT_EQ(entries[i].file_sequence_number, SnapshotSequence(5));
  }
}

TEST_F(ManifestIoTest, LineSaysWhatTheManifestHolds) {
  const ManifestFile manifest =
      Write({FlightsFile("a", 516, "UA", 10), FlightsFile("b", 515, "AA", 7),
             FlightsFile("c", std::nullopt, "\xF0\x9F\x98\x80")})
          .ValueOrDie();
  EXPECT_EQ(manifest.manifest_path, kPath);
  EXPECT_EQ(static_cast<std::size_t>(manifest.manifest_length),
            files_.io().Read(kPath).ValueOrDie().size());
  EXPECT_EQ(manifest.added_files_count, 3);
  EXPECT_EQ(manifest.added_rows_count, 27);
  EXPECT_EQ(manifest.existing_files_count, 0);
  ASSERT_EQ(manifest.partitions->size(), 2U);
  const FieldSummary& month = manifest.partitions->at(0);
  const FieldSummary& carrier = manifest.partitions->at(1);
  EXPECT_TRUE(month.contains_null);
  EXPECT_EQ(month.contains_nan, false);
  EXPECT_EQ(month.lower_bound, std::string("\x03\x02\0\0", 4));
  EXPECT_EQ(month.upper_bound, std::string("\x04\x02\0\0", 4));
  EXPECT_FALSE(carrier.contains_null);
  EXPECT_EQ(carrier.lower_bound, "AA");
  EXPECT_EQ(carrier.upper_bound, "\xF0\x9F\x98\x80");
}

TEST_F(ManifestIoTest, NothingIsWrittenForAFileThatDoesNotFit) {
  DataFile short_tuple = FlightsFile("short", 516, "UA");
  short_tuple.partition.pop_back();
  DataFile wrong_type = FlightsFile("wrong", 516, "UA");
  wrong_type.partition[0] = std::int64_t{516};
  DataFile other_spec = FlightsFile("other", 516, "UA");
  other_spec.partition_spec_id = PartitionSpecId(9);
  DataFile deletes = FlightsFile("deletes", 516, "UA");
  deletes.content = FileContent::kPositionDeletes;
  for (const DataFile& file : {short_tuple, wrong_type, other_spec, deletes}) {
    EXPECT_THAT(Write({FullFile(), file}).status().message(), HasSubstr(file.file_path));
    EXPECT_FALSE(files_.io().Read(kPath).ok());
  }
}

TEST_F(ManifestIoTest, NeverReplacesAFile) {
  ASSERT_TRUE(Write({FullFile()}).ok());
  EXPECT_TRUE(IsError(Write({FullFile()}).status(), ErrorKind::kAlreadyExists));
}

TEST_F(ManifestIoTest, ManifestListGivesNewManifestsItsSequenceNumber) {
  const ManifestFile fresh = Write({FullFile()}).ValueOrDie();
  ManifestFile earlier = fresh;
  earlier.manifest_path = "earlier";
  earlier.content = ManifestContent::kDeletes;
  earlier.sequence_number = SnapshotSequence(3);
  earlier.min_sequence_number = SnapshotSequence(2);
  earlier.partitions.reset();
  earlier.key_metadata = "key";
  ASSERT_TRUE(WriteManifestList(files_.io(),
                                {.location = kListPath,
                                 .snapshot_id = SnapshotId(77),
                                 .parent_snapshot_id = std::nullopt,
                                 .sequence_number = SnapshotSequence(4)},
                                {fresh, earlier})
                  .ok());
  ManifestFile numbered = fresh;
  numbered.sequence_number = numbered.min_sequence_number = SnapshotSequence(4);
  EXPECT_THAT(ReadManifestList(files_.io(), kListPath).ValueOrDie(),
              testing::ElementsAre(numbered, earlier));
}

TEST_F(ManifestIoTest, OldManifestsWithoutCountsAreNamed) {
  ManifestFile manifest = Write({FullFile()}).ValueOrDie();
  manifest.added_rows_count.reset();
  const Status status =
      WriteManifestList(files_.io(), {.location = kListPath}, {manifest}).status();
  EXPECT_THAT(status.message(), HasSubstr(kPath));
}

TEST_F(ManifestIoTest, SourceColumnMayBeGoneFromTheCurrentSchema) {
  const ManifestFile manifest = Write({FullFile()}).ValueOrDie();
  types::Schema without = CurrentSchema(metadata_);
  without.id = SchemaId(1);
  without.fields.erase(without.fields.begin() + 1);
  metadata_.schemas.push_back(without);
  metadata_.current_schema_id = SchemaId(1);
  EXPECT_EQ(Read(manifest).at(0).data_file, FullFile());
}

TEST_F(ManifestIoTest, DamageNamesTheFile) {
  const ManifestFile manifest = Write({FullFile()}).ValueOrDie();
  const std::string bytes = files_.io().Read(kPath).ValueOrDie();
  ASSERT_TRUE(files_.io().WriteNew("memory:///cut", bytes.substr(0, 900)).ok());
  ManifestFile cut = manifest;
  cut.manifest_path = "memory:///cut";
  const Status status = ReadManifest(files_.io(), metadata_, cut).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kCorruption));
  EXPECT_THAT(status.message(), HasSubstr("memory:///cut"));
}

TEST_F(ManifestIoTest, OnlyAnAddedFileMayLackItsSequenceNumber) {
  const auto types =
      types::PartitionTypes(DefaultSpec(metadata_), CurrentSchema(metadata_))
          .ValueOrDie();
  for (const auto status :
       {EntryStatus::kAdded, EntryStatus::kExisting, EntryStatus::kDeleted}) {
    const ManifestEntry entry = {.status = status,
                                 .snapshot_id = SnapshotId(77),
                                 .sequence_number = std::nullopt,
                                 .file_sequence_number = std::nullopt,
                                 .data_file = FullFile()};
    const std::string path = fmt::format("memory:///{}", static_cast<int>(status));
    const std::string bytes =
        EncodeManifest({CurrentSchema(metadata_), DefaultSpec(metadata_), types}, {entry})
            .ValueOrDie();
    ASSERT_TRUE(files_.io().WriteNew(path, bytes).ok());
    ManifestFile manifest = {.manifest_path = path,
                             .partition_spec_id = DefaultSpec(metadata_).id,
                             .sequence_number = SnapshotSequence(5)};
    const auto read = ReadManifest(files_.io(), metadata_, manifest);
    EXPECT_EQ(read.ok(), status == EntryStatus::kAdded) << path;
    if (read.ok()) continue;
    EXPECT_TRUE(IsError(read.status(), ErrorKind::kCorruption)) << read.status();
    EXPECT_THAT(read.status().message(), HasSubstr(path));
    EXPECT_THAT(read.status().message(), HasSubstr(FullFile().file_path));
    // Version 1 has no numbers.
    manifest.sequence_number = SnapshotSequence(0);
    EXPECT_TRUE(ReadManifest(files_.io(), metadata_, manifest).ok());
  }
}

TEST_F(ManifestIoTest, NoFlippedByteCrashes) {
  const ManifestFile manifest = Write({FullFile()}).ValueOrDie();
  ASSERT_TRUE(WriteManifestList(files_.io(), {.location = kListPath}, {manifest}).ok());
  const auto types =
      types::PartitionTypes(DefaultSpec(metadata_), CurrentSchema(metadata_))
          .ValueOrDie();
  for (const char* path : {kPath, kListPath}) {
    const std::string whole = files_.io().Read(path).ValueOrDie();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string broken = whole;
      broken[i] = static_cast<char>(broken[i] ^ (1 << (i % 8)));
      (void)DecodeManifest(broken, DefaultSpec(metadata_), types);
      (void)DecodeManifestList(broken);
    }
  }
}

struct PartitionCase {
  Type type;
  types::Value value;
};

/// A spec of identities, one for each case, names that Avro does not allow among them.
void ExpectTupleComesBack(const std::vector<PartitionCase>& cases) {
  types::Schema schema;
  types::PartitionSpec spec;
  std::vector<Type> partition_types;
  DataFile file{.file_path = "a"};
  for (const PartitionCase& one : cases) {
    const auto id = static_cast<FieldId>(schema.fields.size() + 1);
    const std::string name = fmt::format("{}. field", id);
    schema.fields.push_back({.id = id, .name = name, .type = one.type});
    spec.fields.push_back({.source_id = id, .field_id = 999 + id, .name = name});
    partition_types.push_back(one.type);
    file.partition.push_back(one.value);
  }
  const std::string bytes =
      EncodeManifest({schema, spec, partition_types}, {{.data_file = file}}).ValueOrDie();
  const auto entries = DecodeManifest(bytes, spec, partition_types).ValueOrDie();
  EXPECT_EQ(entries.at(0).data_file, file);

  // The same fields in another order, one of them new: matched by id.
  types::PartitionSpec turned = spec;
  std::ranges::reverse(turned.fields);
  std::ranges::reverse(partition_types);
  std::ranges::reverse(file.partition);
  turned.fields.push_back({.source_id = 1, .field_id = 2000, .name = "new"});
  partition_types.push_back(cases[0].type);
  file.partition.emplace_back();
  EXPECT_EQ(DecodeManifest(bytes, turned, partition_types).ValueOrDie().at(0).data_file,
            file);
}

TEST(PartitionAvroTest, EveryTypeComesBack) {
  const std::string uuid = "0123456789abcdef";
  ExpectTupleComesBack({
      {Type(TypeKind::kBoolean), true},
      {Type(TypeKind::kInt), std::int32_t{-5}},
      {Type(TypeKind::kLong), std::numeric_limits<std::int64_t>::min()},
      {Type(TypeKind::kFloat), 1.5F},
      {Type(TypeKind::kDouble), -0.0},
      {Type(TypeKind::kDate), std::int32_t{-1}},
      {Type(TypeKind::kTime), std::int64_t{1}},
      {Type(TypeKind::kTimestamp), std::int64_t{-1}},
      {Type(TypeKind::kTimestamptz), std::int64_t{1}},
      {Type(TypeKind::kTimestampNs), std::int64_t{1}},
      {Type(TypeKind::kTimestamptzNs), std::int64_t{1}},
      {Type(TypeKind::kString), std::string()},
      {Type(TypeKind::kBinary), std::string("\0\xff", 2)},
      {Type(TypeKind::kUuid), uuid},
      {Type(TypeKind::kUuid), uuid},
      {Type::Fixed(3), std::string("abc")},
      {Type::Decimal(9, 2), types::DecimalValue{-999'999'999}},
      {Type::Decimal(38, 0), types::DecimalValue{__int128{1} << 100}},
      {Type(TypeKind::kString), types::Value()},
  });
}

TEST(PartitionAvroTest, PromotedTypesAreWidened) {
  types::Schema schema{
      .fields = {{.id = 1, .name = "a", .type = Type(TypeKind::kInt)},
                 {.id = 2, .name = "b", .type = Type(TypeKind::kFloat)}}};
  const types::PartitionSpec spec{
      .fields = {{.source_id = 1, .field_id = 1000, .name = "a"},
                 {.source_id = 2, .field_id = 1001, .name = "b"}}};
  const std::vector<Type> narrow = {Type(TypeKind::kInt), Type(TypeKind::kFloat)};
  const std::vector<Type> wide = {Type(TypeKind::kLong), Type(TypeKind::kDouble)};
  const DataFile file{.file_path = "a", .partition = {std::int32_t{7}, 1.5F}};
  const std::string bytes =
      EncodeManifest({schema, spec, narrow}, {{.data_file = file}}).ValueOrDie();
  EXPECT_EQ(DecodeManifest(bytes, spec, wide).ValueOrDie().at(0).data_file.partition,
            (types::PartitionTuple{std::int64_t{7}, 1.5}));
  const std::vector<Type> other = {Type(TypeKind::kString), Type(TypeKind::kDouble)};
  EXPECT_TRUE(
      IsError(DecodeManifest(bytes, spec, other).status(), ErrorKind::kCorruption));
}

TEST(PartitionAvroTest, BytesOfAnotherLengthAreCorruption) {
  const types::PartitionSpec spec{
      .fields = {{.source_id = 1, .field_id = 1000, .name = "a"}}};
  const types::Schema schema{.fields = {{.id = 1, .name = "a", .type = Type::Fixed(3)}}};
  const DataFile file{.file_path = "a", .partition = {std::string("abc")}};
  const std::string bytes =
      EncodeManifest({schema, spec, {Type::Fixed(3)}}, {{.data_file = file}})
          .ValueOrDie();
  for (const Type& other : {Type::Fixed(4), Type(TypeKind::kUuid)}) {
    EXPECT_TRUE(
        IsError(DecodeManifest(bytes, spec, {other}).status(), ErrorKind::kCorruption))
        << other.ToString();
  }
}

FieldSummary SummaryOf(const Type& type, const std::vector<types::Value>& values) {
  std::vector<DataFile> files;
  for (const types::Value& value : values) files.push_back({.partition = {value}});
  return SummarizePartitions({type}, files).at(0);
}

TEST(PartitionSummaryTest, BoundsLeaveOutNullAndNan) {
  const Type type(TypeKind::kDouble);
  const double nan = std::nan("");
  const FieldSummary none = SummaryOf(type, {nan, types::Value()});
  EXPECT_TRUE(none.contains_null);
  EXPECT_EQ(none.contains_nan, true);
  EXPECT_EQ(none.lower_bound, std::nullopt);
  EXPECT_EQ(none.upper_bound, std::nullopt);
  const FieldSummary some = SummaryOf(type, {nan, 2.0, -1.0});
  EXPECT_FALSE(some.contains_null);
  EXPECT_EQ(some.lower_bound, types::ToBytes(type, -1.0));
  EXPECT_EQ(some.upper_bound, types::ToBytes(type, 2.0));
}

TEST(PartitionSummaryTest, MinusZeroIsBelowZero) {
  const Type type(TypeKind::kDouble);
  for (const auto& values :
       {std::vector<types::Value>{0.0, -0.0}, std::vector<types::Value>{-0.0, 0.0}}) {
    const FieldSummary summary = SummaryOf(type, values);
    EXPECT_EQ(summary.lower_bound, types::ToBytes(type, -0.0));
    EXPECT_EQ(summary.upper_bound, types::ToBytes(type, 0.0));
  }
}

TEST(PartitionSummaryTest, StringsAreComparedByUnsignedBytes) {
  const FieldSummary summary =
      SummaryOf(Type(TypeKind::kString), {std::string("z"), std::string("\xc3\xa4")});
  EXPECT_EQ(summary.lower_bound, "z");
  EXPECT_EQ(summary.upper_bound, "\xc3\xa4");
}

}  // namespace
}  // namespace firn::iceberg
