// Requests of an append to the store, counted.

#include <memory>

#include <gtest/gtest.h>

#include "firn/commit/committer.h"
#include "firn/commit/test_table.h"
#include "firn/iceberg/catalog/open_catalog.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/storage/counting_store.h"
#include "firn/storage/temporary_directory.h"

namespace firn::commit {
namespace {

using storage::RequestCounts;

const iceberg::TableIdentifier kTable{"demo", "flights"};

/// One process that appends to a table in a SQLite catalog.
class Writer {
 public:
  Writer(const std::string& catalog_path, storage::ObjectStore& store, int number)
      : number_(number),
        store_(store),
        catalog_(OpenCatalog({.properties = {{"uri", "sqlite:///" + catalog_path},
                                             {"warehouse", "memory:///warehouse"}}},
                             io_, SystemRuntime())
                     .ValueOrDie()) {}

  iceberg::Catalog& catalog() { return *catalog_; }

  /// Appends a file, and tells what that took: "3 PUT, 0 GET".
  std::string Append() {
    if (committer_ == nullptr) Begin();
    const RequestCounts before = store_.counts();
    const auto after = static_cast<std::uint64_t>(appended_++);
    Batch batch = TestBatch(appended_, after, after + 1);
    batch.files = {iceberg::FlightsFile(
        fmt::format("memory:///warehouse/{}-{}", number_, appended_), 500, "UA")};
    const auto outcomes = committer_->Commit({batch}).ValueOrDie();
    EXPECT_EQ(outcomes.front().state, BatchState::kCommitted);
    const RequestCounts now = store_.counts();
    EXPECT_EQ(now.lists + now.deletes, before.lists + before.deletes);
    return fmt::format("{} PUT, {} GET", now.puts - before.puts, now.gets - before.gets);
  }

 private:
  void Begin() {
    const auto table = catalog_->LoadTable(kTable).ValueOrDie();
    committer_ = std::make_unique<Committer>(
        *catalog_, io_, SystemRuntime(),
        CommitterOptions{.table = kTable,
                         .table_uuid = table.metadata.table_uuid,
                         .wal = TestWal(number_)});
  }

  const int number_;
  storage::CountingStore store_;
  const iceberg::FileIo io_ =
      iceberg::FileIo::Make({{.prefix = "memory:///", .store = &store_}}).ValueOrDie();
  const std::unique_ptr<iceberg::Catalog> catalog_;
  std::unique_ptr<Committer> committer_;
  int appended_ = 0;
};

class AppendCostTest : public testing::Test {
 protected:
  AppendCostTest() {
    EXPECT_TRUE(ours_.catalog().CreateNamespace(kTable.namespace_name).ok());
    EXPECT_TRUE(ours_.catalog().CreateTable(kTable, iceberg::FlightsCreation()).ok());
  }

  const storage::TemporaryDirectory directory_ =
      storage::TemporaryDirectory::Make().ValueOrDie();
  const std::string path_ = directory_.path() + "/catalog.db";
  storage::MemoryStore memory_{SystemRuntime()};
  Writer ours_{path_, memory_, 1};
  Writer foreign_{path_, memory_, 2};
};

TEST_F(AppendCostTest, NothingIsReadThatThisProcessWrote) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ours_.Append(), "3 PUT, 0 GET");
}

TEST_F(AppendCostTest, AForeignCommitIsReadOnce) {
  EXPECT_EQ(ours_.Append(), "3 PUT, 0 GET");
  for (int i = 0; i < 3; ++i) {
    foreign_.Append();
    EXPECT_EQ(ours_.Append(), "3 PUT, 2 GET") << "metadata and manifest list";
    EXPECT_EQ(ours_.Append(), "3 PUT, 0 GET");
  }
  foreign_.Append();
  foreign_.Append();
  EXPECT_EQ(ours_.Append(), "3 PUT, 2 GET") << "of the last one only";
}

}  // namespace
}  // namespace firn::commit
