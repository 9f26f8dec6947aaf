// What every Catalog promises, tried on each of them.

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/catalog/memory_catalog.h"
#include "firn/iceberg/catalog/rest/rest_catalog.h"
#include "firn/iceberg/catalog/sql_catalog.h"
#include "firn/iceberg/catalog/sqlite_database.h"
#include "firn/iceberg/testing/rest_test_server.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/storage/temporary_directory.h"

namespace firn::iceberg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A catalog and what it stands on.
class CatalogUnderTest {
 public:
  virtual ~CatalogUnderTest() = default;
  virtual Catalog& catalog() = 0;
  /// Tables lie in "<warehouse>/<namespace>/<table>".
  virtual std::string warehouse() const { return "memory:///warehouse"; }
};

class Memory : public CatalogUnderTest {
 public:
  Catalog& catalog() override { return catalog_; }

 private:
  MemoryCatalog catalog_{SystemRuntime(), "memory:///warehouse"};
};

class Sql : public CatalogUnderTest {
 public:
  Catalog& catalog() override { return *catalog_; }

 private:
  const storage::TemporaryDirectory directory_ =
      storage::TemporaryDirectory::Make().ValueOrDie();
  MemoryFiles files_;
  const std::unique_ptr<SqlCatalog> catalog_ =
      SqlCatalog::Open(SqliteDatabase::Open(directory_.path() + "/catalog.db", 10'000,
                                            CatalogMode::kCreate, SystemRuntime())
                           .ValueOrDie(),
                       {.warehouse = "memory:///warehouse/"}, files_.io(),
                       SystemRuntime())
          .ValueOrDie();
};

std::unique_ptr<RestCatalog> OpenRest(const std::string& uri) {
  return RestCatalog::Open({{"uri", uri}},
                           http::MakeHttpClient(SystemRuntime(), {}).ValueOrDie(),
                           SystemRuntime())
      .ValueOrDie();
}

/// RestCatalog with a server in this process.
class Rest : public CatalogUnderTest {
 public:
  Catalog& catalog() override { return *catalog_; }

 private:
  MemoryCatalog backend_{SystemRuntime(), "memory:///warehouse"};
  RestTestServer server_{backend_, {.prefix = "ws", .page_size = 1}};
  const std::unique_ptr<RestCatalog> catalog_ = OpenRest(server_.uri());
};

/// RestCatalog with a server that runs already. Everything in it is dropped: the suite
/// wants an empty catalog. tests/interop starts Iceberg's own server for this.
class RestServer : public CatalogUnderTest {
 public:
  RestServer(std::string uri, std::string warehouse)
      : warehouse_(std::move(warehouse)), uri_(std::move(uri)), catalog_(OpenRest(uri_)) {
    std::vector<std::string> names = catalog_->ListNamespaces().ValueOrDie();
    std::ranges::reverse(names);  // children first
    for (const std::string& name : names) DropNamespace(name);
  }

  Catalog& catalog() override { return *catalog_; }
  std::string warehouse() const override { return warehouse_; }

 private:
  void DropNamespace(const std::string& name) {
    const auto tables = catalog_->ListTables(name);
    // Some servers have a namespace only as long as there is another one in it.
    if (IsError(tables.status(), ErrorKind::kNotFound)) return;
    for (const TableIdentifier& table : tables.ValueOrDie()) {
      EXPECT_TRUE(catalog_->DropTable(table).ok());
    }
    const auto client = http::MakeHttpClient(SystemRuntime(), {}).ValueOrDie();
    EXPECT_TRUE(client
                    ->Send({.method = "DELETE",
                            .url = uri_ + rest::Routes({}).Namespace(name).target})
                    .ok());
  }

  const std::string warehouse_;
  const std::string uri_;
  const std::unique_ptr<RestCatalog> catalog_;
};

template <typename T>
std::unique_ptr<CatalogUnderTest> MakeCatalog() {
  return std::make_unique<T>();
}

/// Null where the environment names no server.
std::unique_ptr<CatalogUnderTest> MakeRestServer() {
  const char* uri = std::getenv("FIRN_TEST_REST_URI");
  const char* warehouse = std::getenv("FIRN_TEST_REST_WAREHOUSE");
  if (uri == nullptr || warehouse == nullptr) return nullptr;
  return std::make_unique<RestServer>(uri, warehouse);
}

struct Kind {
  const char* name;
  std::unique_ptr<CatalogUnderTest> (*make)();
};

const TableIdentifier kFlights{"demo", "flights"};

class CatalogConformanceTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (under_test_ == nullptr) {
      GTEST_SKIP() << "FIRN_TEST_REST_URI and FIRN_TEST_REST_WAREHOUSE name no server";
    }
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

  std::string Get(const std::string& key) {
    return catalog().LoadTable(kFlights).ValueOrDie().metadata.properties[key];
  }

 private:
  const std::unique_ptr<CatalogUnderTest> under_test_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(, CatalogConformanceTest,
                         testing::Values(Kind{"Memory", MakeCatalog<Memory>},
                                         Kind{"Sql", MakeCatalog<Sql>},
                                         Kind{"Rest", MakeCatalog<Rest>},
                                         Kind{"RestServer", MakeRestServer}),
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
