// A manifest list of a version to come has fields that Firn does not know: what is said
// of manifests that stay is said again, in the same words, by every list that follows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/serde/avro/container.h"
#include "firn/iceberg/serde/manifest_list_avro.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/iceberg/update/append.h"
#include "firn/iceberg/update/manifest_merge.h"
#include "firn/iceberg/update/remove_files.h"

namespace firn::iceberg {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A field as a list's schema has it, and the value that each record gets.
struct Extra {
  std::string schema;
  std::string_view value;
};

const Extra kQuality{
    R"({"default":null,"doc":"how good","field-id":9000,"name":"quality",)"
    R"("type":["null","long"]})",
    "\x02\x0e"sv};
/// A record with a string and a map, null being the last branch.
const Extra kOrigin{
    R"({"field-id":9001,"name":"origin","type":[{"fields":[)"
    R"({"field-id":9002,"name":"engine","type":"string"},)"
    R"({"field-id":9003,"name":"tags","type":{"type":"map","values":"int"}}],)"
    R"("name":"r9001","type":"record"},"null"]})",
    "\x00\x04Hi\x02\x02k\x08\x00"sv};
const Extra kDistinct{R"({"field-id":9010,"name":"distinct","type":["null","int"]})",
                      "\x02\x2a"sv};
const Extra kRequired{R"({"field-id":9020,"name":"shelf","type":"string"})", "\x02s"sv};

UnknownField FieldOf(const Extra& extra) {
  return {.schema = extra.schema, .value = std::string(extra.value)};
}

void Extend(std::vector<avro::RecordField>& fields, const std::vector<Extra>& extras) {
  std::vector<std::string> schemas;
  for (const Extra& extra : extras) schemas.push_back(extra.schema);
  const auto record =
      avro::ParseSchema(fmt::format(R"({{"type":"record","name":"r","fields":[{}]}})",
                                    fmt::join(schemas, ",")),
                        [](const avro::RecordField&) { return false; })
          .ValueOrDie();
  std::ranges::copy(record->fields, std::back_inserter(fields));
}

void Extend(avro::Value& record, const std::vector<Extra>& extras) {
  for (const Extra& extra : extras) {
    std::get<avro::Values>(record.data).push_back({std::string(extra.value)});
  }
}

class CarriedFieldsTest : public testing::Test {
 protected:
  CarriedFieldsTest() {
    metadata_.properties["commit.manifest.min-count-to-merge"] = "2";
  }

  void Commit(const PreparedSnapshot& prepared) {
    metadata_ = Apply(metadata_, "base", prepared.updates, runtime_.Now()).ValueOrDie();
  }

  Result<PreparedSnapshot> Prepare(const std::string& path) {
    FIRN_ASSIGN_OR_RETURN(
        const WrittenManifests written,
        WriteManifests(files_.io(), metadata_, {FlightsFile(path, 516, "UA")},
                       NewSnapshotId(metadata_, runtime_), path));
    return PrepareAppend(files_.io(), metadata_, written, {}, runtime_.Now());
  }

  void Append(const std::string& path) { Commit(Prepare(path).ValueOrDie()); }

  std::string ListBytes() {
    return files_.io().Read(CurrentSnapshot(metadata_)->manifest_list).ValueOrDie();
  }

  std::vector<ManifestFile> Manifests() {
    return DecodeManifestList(ListBytes()).ValueOrDie();
  }

  /// As if a later version had written the list: each of its lines says more, and so do
  /// the summaries in it.
  void ExtendList(const std::vector<Extra>& line, const std::vector<Extra>& summary) {
    avro::Container list = avro::ReadContainer(ListBytes()).ValueOrDie();
    std::vector<avro::RecordField> fields = list.schema->fields;
    avro::RecordField& partitions =
        *std::ranges::find(fields, FieldId(507), &avro::RecordField::field_id);
    const std::size_t position = static_cast<std::size_t>(&partitions - fields.data());
    const avro::Schema& array = *partitions.type->parts[1];
    std::vector<avro::RecordField> summary_fields = array.parts[0]->fields;
    Extend(summary_fields, summary);
    partitions.type = avro::Optional(
        avro::Array(avro::Record("r508", std::move(summary_fields)), array.element_id));
    Extend(fields, line);
    avro::ContainerWriter writer(avro::Record("manifest_file", std::move(fields)),
                                 avro::Codec::kDeflate, {{"format-version", "2"}});
    for (avro::Value& value : list.values) {
      avro::Value& summaries = std::get<avro::Values>(value.data)[position];
      for (avro::Value& one : std::get<avro::Values>(summaries.data)) {
        Extend(one, summary);
      }
      Extend(value, line);
      writer.Add(value);
    }
    const std::string& location = CurrentSnapshot(metadata_)->manifest_list;
    ASSERT_TRUE(files_.io().Delete(location).ok());
    ASSERT_TRUE(files_.io().WriteNew(location, writer.Finish()).ok());
  }

  FakeRuntime runtime_;
  MemoryFiles files_;
  TableMetadata metadata_ = FlightsMetadata();
};

TEST_F(CarriedFieldsTest, StayWithTheManifestsThatHaveThem) {
  Append("a");
  ExtendList({kQuality, kOrigin}, {kDistinct});
  const ManifestFile before = Manifests().front();
  EXPECT_THAT(before.unknown_fields, ElementsAre(FieldOf(kQuality), FieldOf(kOrigin)));
  EXPECT_THAT(before.partitions->at(1).unknown_fields, ElementsAre(FieldOf(kDistinct)));
  for (const char* path : {"b", "c", "d"}) Append(path);
  ASSERT_EQ(Manifests().size(), 4U);
  EXPECT_EQ(Manifests().back(), before);
  EXPECT_THAT(Manifests().front().unknown_fields, IsEmpty());
  EXPECT_THAT(Manifests().front().partitions->at(1).unknown_fields, IsEmpty());
}

TEST_F(CarriedFieldsTest, AreInTheSchemaWordForWord) {
  Append("a");
  ExtendList({kQuality, kOrigin}, {kDistinct});
  Append("b");
  for (const Extra& extra : {kQuality, kOrigin, kDistinct}) {
    EXPECT_THAT(ListBytes(), HasSubstr(extra.schema));
  }
}

TEST_F(CarriedFieldsTest, AreReadByWhoKnowsThem) {
  Append("a");
  ExtendList({kQuality}, {});
  Append("b");
  const avro::Container list = avro::ReadContainer(ListBytes()).ValueOrDie();
  ASSERT_EQ(list.schema->fields.back().name, "quality");
  std::vector<avro::Value> qualities;
  for (const avro::Value& line : list.values) {
    qualities.push_back(std::get<avro::Values>(line.data).back());
  }
  ASSERT_EQ(qualities.size(), 2U);
  EXPECT_TRUE(qualities[0].is_null());
  EXPECT_EQ(std::get<std::int64_t>(qualities[1].data), 7);
}

// Else each append would write all lines of the table anew.
TEST_F(CarriedFieldsTest, DoNotKeepAListFromBeingTakenOver) {
  Append("a");
  ExtendList({kQuality, kOrigin}, {kDistinct});
  Append("b");
  EXPECT_TRUE(CanTakeOverManifestList(ListBytes(), 2).ValueOrDie());
  EXPECT_FALSE(CanTakeOverManifestList(ListBytes(), 3).ValueOrDie());
}

TEST_F(CarriedFieldsTest, GoIntoTheListOfALaterFormatVersion) {
  Append("a");
  ExtendList({kQuality, kOrigin}, {kDistinct});
  metadata_.format_version = 3;
  Append("b");
  EXPECT_THAT(Manifests().back().unknown_fields,
              ElementsAre(FieldOf(kQuality), FieldOf(kOrigin)));
  EXPECT_THAT(Manifests().back().partitions->at(0).unknown_fields,
              ElementsAre(FieldOf(kDistinct)));
}

TEST_F(CarriedFieldsTest, AreNamedWhereNewManifestsWouldNeedThem) {
  Append("a");
  ExtendList({kRequired}, {});
  EXPECT_THAT(ErrorText(Prepare("b").status()), HasSubstr("field 'shelf'"));
}

TEST_F(CarriedFieldsTest, AreNamedWhereTheirTypeIsNotDefinedAnyMore) {
  Append("a");
  const Extra defines{
      R"({"name":"one","type":["null",{"type":"fixed","name":"pair","size":2}]})",
      "\0"sv};
  const Extra refers{R"({"name":"two","type":["null","pair"]})", "\x02xy"sv};
  ExtendList({defines, refers}, {});
  metadata_.format_version = 3;  // so that all lines are written anew
  EXPECT_THAT(ErrorText(Prepare("b").status()), HasSubstr("unknown type 'pair'"));
}

TEST_F(CarriedFieldsTest, KeepTheirManifestsFromBeingMerged) {
  Append("a");
  ExtendList({kQuality}, {});
  Append("b");
  const auto prepare = [&] {
    return PrepareManifestMerge(files_.io(), metadata_, runtime_).ValueOrDie();
  };
  EXPECT_FALSE(prepare());
  Append("c");
  Commit(prepare().value());
  ASSERT_EQ(Manifests().size(), 2U);
  EXPECT_THAT(Manifests().back().unknown_fields, ElementsAre(FieldOf(kQuality)));
}

TEST_F(CarriedFieldsTest, KeepTheirManifestsFromBeingWrittenAnew) {
  Append("a");
  ExtendList({}, {kDistinct});
  Append("b");
  const auto remove = [&](const char* path) {
    return PrepareRemoval(
               files_.io(), metadata_,
               {.paths = {path}, .snapshot_id = SnapshotId(9), .commit_uuid = "u"},
               runtime_.Now())
        .status();
  };
  EXPECT_TRUE(remove("b").ok());
  EXPECT_THAT(ErrorText(remove("a")), HasSubstr("distinct"));
}

}  // namespace
}  // namespace firn::iceberg
