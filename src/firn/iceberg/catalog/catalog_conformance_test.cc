// What every Catalog promises, tried on each of them.

#include <algorithm>
#include <atomic>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/testing/catalog_under_test.h"
#include "firn/iceberg/testing/sample_table.h"

namespace firn::iceberg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TableIdentifier kFlights{"demo", "flights"};

class CatalogConformanceTest : public testing::TestWithParam<CatalogKind> {
 protected:
  void SetUp() override {
    if (under_test_ == nullptr) GTEST_SKIP() << GetParam().skipped;
  }

  std::string warehouse() const { return under_test_->warehouse(); }
  Catalog& catalog() { return under_test_->catalog(); }

  LoadedTable Create(const TableIdentifier& identifier = kFlights) {
    (void)catalog().CreateNamespace(identifier.namespace_name);
    return catalog().CreateTable(identifier, FlightsCreation()).ValueOrDie();
  }

  Result<LoadedTable> Set(const std::string& key, const std::string& value,
                          const std::vector<TableRequirement>& requirements = {}) {
    return catalog().CommitTable(kFlights, requirements, {SetProperties{{{key, value}}}});
  }

  /// Makes a snapshot main, if main is still what it was.
  Status AppendNothing(const TableMetadata& before, int id) {
    Snapshot snapshot{
        .snapshot_id = SnapshotId(id + 1),
        .parent_snapshot_id = before.current_snapshot_id,
        .sequence_number = SnapshotSequence(before.last_sequence_number.value() + 1),
        .timestamp_ms = before.last_updated_ms,
        .manifest_list = fmt::format("{}/metadata/snap-{}.avro", before.location, id),
        .summary = {{"operation", "append"}}};
    return catalog()
        .CommitTable(kFlights, {AssertRefSnapshotId{"main", before.current_snapshot_id}},
                     {AddSnapshot{snapshot},
                      SetSnapshotRef{"main", {.snapshot_id = snapshot.snapshot_id}}})
        .status();
  }

  std::string Get(const std::string& key) {
    return catalog().LoadTable(kFlights).ValueOrDie().metadata.properties[key];
  }

 private:
  const std::unique_ptr<CatalogUnderTest> under_test_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(, CatalogConformanceTest, testing::ValuesIn(CatalogKinds()),
                         [](const auto& info) { return info.param.name; });

TEST_P(CatalogConformanceTest, CreatedTableIsLoaded) {
  const LoadedTable created = Create();
  EXPECT_EQ(catalog().LoadTable(kFlights).ValueOrDie(), created);
  EXPECT_EQ(created.metadata.location, warehouse() + "/demo/flights");
  // Java writes "file:/path" for "file:///path".
  EXPECT_THAT(created.metadata_location, HasSubstr("/demo/flights/metadata/00000-"));
  EXPECT_EQ(created.metadata.table_uuid.value().size(), 36U);
}

TEST_P(CatalogConformanceTest, LocationMayBeChosen) {
  ASSERT_TRUE(catalog().CreateNamespace("demo").ok());
  TableCreation creation = FlightsCreation();
  creation.location = warehouse() + "/elsewhere";
  EXPECT_EQ(catalog().CreateTable(kFlights, creation).ValueOrDie().metadata.location,
            creation.location);
}

TEST_P(CatalogConformanceTest, CommitGivesTheTableAfterIt) {
  const LoadedTable created = Create();
  const LoadedTable committed = Set("a", "1").ValueOrDie();
  EXPECT_EQ(committed.metadata.properties.at("a"), "1");
  EXPECT_THAT(committed.metadata_location, HasSubstr("/metadata/00001-"));
  EXPECT_EQ(committed.metadata.metadata_log.back().metadata_file,
            created.metadata_location);
  EXPECT_EQ(catalog().LoadTable(kFlights).ValueOrDie(), committed);
}

TEST_P(CatalogConformanceTest, RequirementThatDoesNotHoldIsAConflict) {
  Create();
  const Status status = Set("a", "1", {AssertTableUuid{TableUuid("other")}}).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kConflict)) << status;
  EXPECT_EQ(Get("a"), "");
}

TEST_P(CatalogConformanceTest, UpdateThatCannotBeAppliedChangesNothing) {
  const LoadedTable created = Create();
  const Status status =
      catalog()
          .CommitTable(kFlights, {},
                       {SetProperties{{{"a", "1"}}}, SetCurrentSchema{SchemaId(7)}})
          .status();
  EXPECT_THAT(status.message(), HasSubstr("schema"));
  EXPECT_THAT(status.message(), HasSubstr("7"));
  EXPECT_EQ(catalog().LoadTable(kFlights).ValueOrDie(), created);
}

TEST_P(CatalogConformanceTest, NothingIsFoundWhereNothingIs) {
  ASSERT_TRUE(catalog().CreateNamespace("demo").ok());
  for (const Status& status :
       {catalog().LoadTable(kFlights).status(), Set("a", "1").status(),
        catalog().DropTable(kFlights), catalog().ListTables("none").status(),
        catalog().CreateTable({"none", "t"}, FlightsCreation()).status()}) {
    EXPECT_TRUE(IsError(status, ErrorKind::kNotFound)) << status;
  }
}

TEST_P(CatalogConformanceTest, NothingIsMadeTwice) {
  Create();
  for (const Status& status :
       {catalog().CreateTable(kFlights, FlightsCreation()).status(),
        catalog().CreateNamespace("demo")}) {
    EXPECT_TRUE(IsError(status, ErrorKind::kAlreadyExists)) << status;
  }
}

TEST_P(CatalogConformanceTest, BadNamesAreRefused) {
  for (const char* name : {"", ".", "a..b", "a/b", "a\nb"}) {
    EXPECT_FALSE(catalog().CreateNamespace(name).ok()) << name;
    EXPECT_FALSE(catalog().CreateTable({"demo", name}, FlightsCreation()).ok()) << name;
  }
}

TEST_P(CatalogConformanceTest, DroppedTableIsGoneAndItsNameFree) {
  const LoadedTable first = Create();
  ASSERT_TRUE(catalog().DropTable(kFlights).ok());
  EXPECT_TRUE(IsError(catalog().LoadTable(kFlights).status(), ErrorKind::kNotFound));
  EXPECT_NE(Create().metadata.table_uuid, first.metadata.table_uuid);
}

TEST_P(CatalogConformanceTest, ListsAreInOrder) {
  EXPECT_THAT(catalog().ListNamespaces().ValueOrDie(), IsEmpty());
  Create({"b.c", "z"});
  Create({"b.c", "a"});
  Create({"a", "t"});
  Create({"b.cc", "t"});
  EXPECT_THAT(catalog().ListNamespaces().ValueOrDie(),
              ElementsAre("a", "b", "b.c", "b.cc"));
  EXPECT_THAT(catalog().ListTables("b.c").ValueOrDie(),
              ElementsAre(TableIdentifier{"b.c", "a"}, TableIdentifier{"b.c", "z"}));
  EXPECT_THAT(catalog().ListTables("b").ValueOrDie(), IsEmpty());
}

TEST_P(CatalogConformanceTest, CommitWithAFailedRequirementMayBeFollowedByAnother) {
  const LoadedTable table = Create();
  const AssertRefSnapshotId wrong{.ref = "main", .snapshot_id = SnapshotId(1)};
  const AssertRefSnapshotId right{.ref = "main", .snapshot_id = std::nullopt};
  EXPECT_TRUE(IsError(Set("a", "1", {wrong}).status(), ErrorKind::kConflict));
  EXPECT_TRUE(Set("a", "2", {right, AssertTableUuid{table.metadata.table_uuid}}).ok());
  EXPECT_EQ(Get("a"), "2");
}

TEST_P(CatalogConformanceTest, NestedNamespaceBringsItsParents) {
  ASSERT_TRUE(catalog().CreateNamespace("a.b.c").ok());
  EXPECT_THAT(catalog().ListNamespaces().ValueOrDie(), ElementsAre("a", "a.b", "a.b.c"));
  EXPECT_TRUE(catalog().CreateTable({"a.b", "t"}, FlightsCreation()).ok());
  for (const char* name : {"a", "a.b.c"}) {
    EXPECT_TRUE(IsError(catalog().CreateNamespace(name), ErrorKind::kAlreadyExists))
        << name;
    EXPECT_THAT(catalog().ListTables(name).ValueOrDie(), IsEmpty());
  }
  EXPECT_THAT(catalog().ListTables("a.b").ValueOrDie(),
              ElementsAre(TableIdentifier{"a.b", "t"}));
}

TEST_P(CatalogConformanceTest, NamesAreNotPatternsAndTheirCaseCounts) {
  Create({"a_b", "t"});
  Create({"axb", "T"});
  EXPECT_THAT(catalog().ListTables("a_b").ValueOrDie(),
              ElementsAre(TableIdentifier{"a_b", "t"}));
  EXPECT_TRUE(IsError(catalog().LoadTable({"a_b", "T"}).status(), ErrorKind::kNotFound));
}

/// N threads, each in turn with its own snapshot, all after the same one.
TEST_P(CatalogConformanceTest, OneOfRacingCommittersWinsEachRound) {
  constexpr int kCommitters = 8;
  constexpr int kRounds = 5;
  Create();
  for (int round = 0; round < kRounds; ++round) {
    const LoadedTable before = catalog().LoadTable(kFlights).ValueOrDie();
    std::vector<Status> outcomes(kCommitters);
    {
      std::vector<Thread> threads;
      for (int i = 0; i < kCommitters; ++i) {
        threads.emplace_back(SystemRuntime(), "committer", [&, i] {
          outcomes[i] = AppendNothing(before.metadata, round * kCommitters + i);
        });
      }
    }
    EXPECT_EQ(std::ranges::count_if(outcomes, &Status::ok), 1);
    for (const Status& status : outcomes) {
      EXPECT_TRUE(status.ok() || IsError(status, ErrorKind::kConflict)) << status;
    }
    const LoadedTable after = catalog().LoadTable(kFlights).ValueOrDie();
    EXPECT_EQ(after.metadata.snapshots.size(), static_cast<std::size_t>(round) + 1);
  }
}

TEST_P(CatalogConformanceTest, OneOfRacingCreatorsMakesTheTable) {
  constexpr int kCreators = 8;
  std::vector<Status> outcomes(kCreators);
  std::atomic<int> namespaces = 0;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < kCreators; ++i) {
      threads.emplace_back(SystemRuntime(), "creator", [&, i] {
        if (catalog().CreateNamespace("demo").ok()) ++namespaces;
        outcomes[i] = catalog().CreateTable(kFlights, FlightsCreation()).status();
      });
    }
  }
  EXPECT_EQ(namespaces, 1);
  EXPECT_EQ(std::ranges::count_if(outcomes, &Status::ok), 1);
  for (const Status& status : outcomes) {
    EXPECT_TRUE(status.ok() || IsError(status, ErrorKind::kAlreadyExists)) << status;
  }
}

TEST_P(CatalogConformanceTest, RacingCommittersAllGetThrough) {
  constexpr int kCommitters = 10;
  constexpr int kCommitsEach = 5;
  // Some servers set properties of their own.
  const std::size_t before = Create().metadata.properties.size();
  const auto commit = [&](int committer) {
    for (int i = 0; i < kCommitsEach; ++i) {
      while (true) {
        const std::string key = fmt::format("{}.{}", committer, i);
        const Status status = Set(key, "x").status();
        if (status.ok()) break;
        const bool is_unknown = IsError(status, ErrorKind::kOutcomeUnknown);
        if (is_unknown && Get(key) == "x") break;
        ASSERT_TRUE(is_unknown || IsError(status, ErrorKind::kConflict)) << status;
      }
    }
  };
  {
    std::vector<Thread> threads;
    for (int i = 0; i < kCommitters; ++i) {
      threads.emplace_back(SystemRuntime(), "committer", [&, i] { commit(i); });
    }
  }
  const LoadedTable table = catalog().LoadTable(kFlights).ValueOrDie();
  EXPECT_EQ(table.metadata.properties.size(), before + kCommitters * kCommitsEach);
  EXPECT_EQ(table.metadata.metadata_log.size(), kCommitters * kCommitsEach);
}

TEST(TableIdentifierTest, TheLastDotDivides) {
  EXPECT_EQ(ParseTableIdentifier("a.b.t").ValueOrDie(), (TableIdentifier{"a.b", "t"}));
  EXPECT_EQ(fmt::format("{}", TableIdentifier{"a.b", "t"}), "a.b.t");
  for (const char* text : {"", "t", ".t", "a.", "a..t", "a/b.t", "a.b\\t"}) {
    EXPECT_FALSE(ParseTableIdentifier(text).ok()) << text;
  }
}

TEST(MemoryCatalogTest, HooksFailACommitBeforeOrAfterItIsApplied) {
  bool before = false;
  bool after = false;
  const auto fail_if = [](const bool& fails) {
    return [&fails](const TableIdentifier&) {
      return fails ? MakeError(ErrorKind::kOutcomeUnknown, "lost") : Status::OK();
    };
  };
  MemoryCatalog catalog(
      SystemRuntime(), "memory:///warehouse",
      {.before_commit = fail_if(before), .after_commit = fail_if(after)});
  ASSERT_TRUE(catalog.CreateNamespace("demo").ok());
  ASSERT_TRUE(catalog.CreateTable(kFlights, FlightsCreation()).ok());
  const auto commit = [&](const char* key) {
    return catalog.CommitTable(kFlights, {}, {SetProperties{{{key, "1"}}}}).status();
  };
  before = true;
  EXPECT_TRUE(IsError(commit("a"), ErrorKind::kOutcomeUnknown));
  before = false;
  after = true;
  EXPECT_TRUE(IsError(commit("b"), ErrorKind::kOutcomeUnknown));
  const auto properties = catalog.LoadTable(kFlights).ValueOrDie().metadata.properties;
  EXPECT_THAT(properties, ElementsAre(std::pair("b", "1")));
}

}  // namespace
}  // namespace firn::iceberg
