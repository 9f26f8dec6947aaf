// Many committers append to one table at once, on every kind of catalog.

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "firn/commit/committer.h"
#include "firn/commit/positions.h"
#include "firn/commit/test_table.h"
#include "firn/core/ulid.h"
#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/testing/catalog_under_test.h"
#include "firn/iceberg/testing/sample_table.h"

namespace firn::commit {
namespace {

constexpr int kWriters = 8;
constexpr int kAppendsEach = 20;
constexpr int kAppends = kWriters * kAppendsEach;
const iceberg::TableIdentifier kTable{"demo", "flights"};

/// The records of an append: no two writers have the same sum.
std::int64_t RecordsOf(int writer, int append) { return 1000 * writer + append; }

class ManyWritersTest : public testing::TestWithParam<iceberg::CatalogKind> {
 protected:
  void SetUp() override {
    if (under_test_ == nullptr) GTEST_SKIP() << GetParam().skipped;
    ASSERT_TRUE(catalog().CreateNamespace("demo").ok());
    table_uuid_ = catalog()
                      .CreateTable(kTable, iceberg::FlightsCreation())
                      .ValueOrDie()
                      .metadata.table_uuid;
  }

  iceberg::Catalog& catalog() { return under_test_->catalog(); }

  iceberg::TableMetadata Load() {
    return catalog().LoadTable(kTable).ValueOrDie().metadata;
  }

  /// Appends one file after another, each in a commit, as an installation of its own.
  void Write(int writer) {
    Committer committer(
        catalog(), under_test_->io(), SystemRuntime(),
        {.table = kTable, .table_uuid = table_uuid_, .wal = TestWal(writer)});
    std::optional<BatchId> parent;
    for (int append = 1; append <= kAppendsEach; ++append) {
      Batch batch = NewBatch(writer, append);
      batch.parent = parent;
      parent = batch.id;
      const auto outcomes = committer.Commit({batch});
      ASSERT_TRUE(outcomes.ok()) << outcomes.status();
      EXPECT_EQ(outcomes->at(0).state, BatchState::kCommitted);
    }
  }

  static Batch NewBatch(int writer, int append) {
    Batch batch;
    batch.id = BatchId(NewUlid(SystemRuntime()));
    batch.files.push_back(iceberg::FlightsFile(
        fmt::format("memory:///warehouse/demo/flights/data/{}-{}", writer, append),
        append, fmt::format("writer {}", writer), RecordsOf(writer, append)));
    batch.shards[TestShard(writer)] = {.after = SegmentSequence(append - 1),
                                       .through = SegmentSequence(append)};
    return batch;
  }

  /// Records of the live files, by path; twice if a file is listed twice.
  std::multimap<std::string, std::int64_t> LiveFiles() {
    const iceberg::TableMetadata metadata = Load();
    std::multimap<std::string, std::int64_t> files;
    const auto manifests = iceberg::ReadManifestList(
        under_test_->io(), iceberg::CurrentSnapshot(metadata)->manifest_list);
    for (const auto& manifest : manifests.ValueOrDie()) {
      const auto entries = iceberg::ReadManifest(under_test_->io(), metadata, manifest);
      for (const auto& entry : entries.ValueOrDie()) {
        files.emplace(entry.data_file.file_path, entry.data_file.record_count);
      }
    }
    return files;
  }

  const std::unique_ptr<iceberg::CatalogUnderTest> under_test_ = GetParam().make();
  TableUuid table_uuid_;
};

INSTANTIATE_TEST_SUITE_P(, ManyWritersTest, testing::ValuesIn(iceberg::CatalogKinds()),
                         [](const auto& info) { return info.param.name; });

TEST_P(ManyWritersTest, AllThatTheyAppendIsThereOnceAndCounted) {
  {
    std::vector<Thread> threads;
    for (int writer = 1; writer <= kWriters; ++writer) {
      threads.emplace_back(SystemRuntime(), "writer", [this, writer] { Write(writer); });
    }
  }
  std::multimap<std::string, std::int64_t> expected;
  std::int64_t records = 0;
  for (int writer = 1; writer <= kWriters; ++writer) {
    for (int append = 1; append <= kAppendsEach; ++append) {
      expected.emplace(NewBatch(writer, append).files[0].file_path,
                       RecordsOf(writer, append));
      records += RecordsOf(writer, append);
    }
  }
  EXPECT_EQ(LiveFiles(), expected);

  const iceberg::TableMetadata metadata = Load();
  const iceberg::Snapshot& last = *iceberg::CurrentSnapshot(metadata);
  EXPECT_EQ(last.summary.at("total-data-files"), fmt::format("{}", kAppends));
  EXPECT_EQ(last.summary.at("total-records"), fmt::format("{}", records));
  EXPECT_EQ(last.summary.at("total-files-size"), fmt::format("{}", 100 * records));
  EXPECT_EQ(metadata.snapshots.size(), static_cast<std::size_t>(kAppends));
  EXPECT_EQ(metadata.last_sequence_number, SnapshotSequence(kAppends));
  for (int writer = 1; writer <= kWriters; ++writer) {
    const auto positions = ReadPositions(metadata, TestWal(writer)).ValueOrDie();
    EXPECT_EQ(positions.reached.shards.at(TestShard(writer)),
              SegmentSequence(kAppendsEach));
  }
}

}  // namespace
}  // namespace firn::commit
