#include "firn/iceberg/catalog/sql_catalog.h"

#include <unistd.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/catalog/open_catalog.h"
#include "firn/iceberg/catalog/sqlite_database.h"
#include "firn/iceberg/testing/postgres_schema.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/temporary_directory.h"

namespace firn::iceberg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TableIdentifier kFlights{"demo", "flights"};

class SqlCatalogTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Catalog>> OpenAt(const std::string& path, CatalogMode mode,
                                          const std::string& name = "firn") {
    return OpenCatalog({.name = name,
                        .properties = {{"uri", "sqlite:///" + path},
                                       {"warehouse", "memory:///warehouse"}},
                        .mode = mode,
                        .wait_ms = 1},
                       files_.io(), SystemRuntime());
  }

  Result<std::unique_ptr<Catalog>> Open(const std::string& name = "firn") {
    return OpenAt(path_, CatalogMode::kCreate, name);
  }

  std::unique_ptr<SqliteDatabase> Database() {
    return SqliteDatabase::Open(path_, 1, CatalogMode::kCreate, SystemRuntime())
        .ValueOrDie();
  }

  static LoadedTable CreateFlights(Catalog& catalog) {
    EXPECT_TRUE(catalog.CreateNamespace("demo").ok());
    return catalog.CreateTable(kFlights, FlightsCreation()).ValueOrDie();
  }

  static Status SetProperty(Catalog& catalog) {
    return catalog.CommitTable(kFlights, {}, {SetProperties{{{"a", "1"}}}}).status();
  }

  const storage::TemporaryDirectory directory_ =
      storage::TemporaryDirectory::Make().ValueOrDie();
  const std::string path_ = directory_.path() + "/catalog.db";
  MemoryFiles files_;
};

TEST_F(SqlCatalogTest, TablesSurviveAndCommitsShiftThePointer) {
  const LoadedTable created = CreateFlights(*Open().ValueOrDie());
  auto again = Open().ValueOrDie();
  EXPECT_EQ(again->LoadTable(kFlights).ValueOrDie(), created);
  ASSERT_TRUE(SetProperty(*again).ok());
  const std::string now = again->LoadTable(kFlights).ValueOrDie().metadata_location;
  EXPECT_THAT(Database()->Query("SELECT * FROM iceberg_tables").ValueOrDie(),
              ElementsAre(SqlRow{"firn", "demo", "flights", now,
                                 created.metadata_location, "TABLE"}));
  EXPECT_THAT(
      Database()->Query("SELECT * FROM iceberg_namespace_properties").ValueOrDie(),
      ElementsAre(SqlRow{"firn", "demo", "exists", "true"}));
}

TEST_F(SqlCatalogTest, ATableThatIsThereCostsNoFile) {
  auto catalog = Open().ValueOrDie();
  CreateFlights(*catalog);
  const auto files = files_.store().List("").ValueOrDie().size();
  EXPECT_TRUE(IsError(catalog->CreateTable(kFlights, FlightsCreation()).status(),
                      ErrorKind::kAlreadyExists));
  EXPECT_EQ(files_.store().List("").ValueOrDie().size(), files);
}

TEST_F(SqlCatalogTest, OtherCatalogsInTheFileAreNotSeen) {
  auto first = Open("first").ValueOrDie();
  auto second = Open("second").ValueOrDie();
  CreateFlights(*first);
  EXPECT_THAT(second->ListNamespaces().ValueOrDie(), IsEmpty());
  EXPECT_TRUE(IsError(second->LoadTable(kFlights).status(), ErrorKind::kNotFound));
}

TEST_F(SqlCatalogTest, LayoutWithoutTypeColumnIsUsedAsItIs) {
  ASSERT_TRUE(Database()
                  ->Write("CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT "
                          "NULL, table_namespace VARCHAR(255) NOT NULL, table_name "
                          "VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), "
                          "previous_metadata_location VARCHAR(1000), PRIMARY KEY "
                          "(catalog_name, table_namespace, table_name))")
                  .ok());
  auto catalog = Open().ValueOrDie();
  CreateFlights(*catalog);
  EXPECT_TRUE(SetProperty(*catalog).ok());
  EXPECT_EQ(catalog->ListTables("demo").ValueOrDie().size(), 1U);
  EXPECT_EQ(Database()->Query("SELECT * FROM iceberg_tables").ValueOrDie()[0].size(), 5U);
  EXPECT_TRUE(catalog->DropTable(kFlights).ok());
}

TEST_F(SqlCatalogTest, TablesOfAnotherProgramAreNamed) {
  ASSERT_TRUE(Database()->Write("CREATE TABLE iceberg_tables (catalog_name, x)").ok());
  EXPECT_THAT(ErrorText(Open().status()),
              HasSubstr("table iceberg_tables is no catalog's, it has no column "
                        "table_namespace"));
}

TEST_F(SqlCatalogTest, ViewsAreNoTables) {
  auto catalog = Open().ValueOrDie();
  CreateFlights(*catalog);
  ASSERT_TRUE(Database()->Write("UPDATE iceberg_tables SET iceberg_type = 'VIEW'").ok());
  EXPECT_THAT(catalog->ListTables("demo").ValueOrDie(), IsEmpty());
  EXPECT_TRUE(IsError(catalog->LoadTable(kFlights).status(), ErrorKind::kNotFound));
  EXPECT_TRUE(IsError(catalog->DropTable(kFlights), ErrorKind::kNotFound));
  ASSERT_TRUE(Database()->Write("UPDATE iceberg_tables SET iceberg_type = NULL").ok());
  EXPECT_TRUE(catalog->LoadTable(kFlights).ok());
}

TEST_F(SqlCatalogTest, NamespaceMaySayWhereItsTablesLie) {
  auto catalog = Open().ValueOrDie();
  ASSERT_TRUE(Database()
                  ->Write("INSERT INTO iceberg_namespace_properties VALUES ('firn', "
                          "'demo', 'location', 'memory:///far/')")
                  .ok());
  const auto table = catalog->CreateTable(kFlights, FlightsCreation()).ValueOrDie();
  EXPECT_EQ(table.metadata.location, "memory:///far/flights");
}

TEST_F(SqlCatalogTest, ALocationThatIsNoneIsNamedAndNoMissingTable) {
  auto catalog = Open().ValueOrDie();
  CreateFlights(*catalog);
  for (const auto& [value, shown] : std::vector<std::pair<std::string, std::string>>{
           {"NULL", "(it is NULL)"},
           {"''", "(it is '')"},
           {"5", "(it is '5')"},
           {"1.5", "(it is '1.5')"},
           {"x'00ff2f'", R"((it is '\x00\xff/'))"},
           {"x'2f6100'", R"((it is '/a\x00'))"},
           {"'metadata/1.json'", "(it is 'metadata/1.json')"}}) {
    const std::string set = "UPDATE iceberg_tables SET metadata_location = ";
    ASSERT_TRUE(Database()->Write(set + value).ok());
    const std::string begin = fmt::format(
        "{}: catalog firn: table demo.flights: column metadata_location of "
        "iceberg_tables is no location: ",
        path_);
    for (const Status& status :
         {catalog->LoadTable(kFlights).status(), SetProperty(*catalog),
          catalog->CreateTable(kFlights, FlightsCreation()).status()}) {
      EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << value;
      EXPECT_THAT(ErrorText(status),
                  testing::AllOf(testing::StartsWith(begin), testing::EndsWith(shown)));
    }
  }
  EXPECT_TRUE(catalog->DropTable(kFlights).ok()) << "which is a way out";
}

TEST_F(SqlCatalogTest, ALocationThatIsNoneIsNamedOnPostgres) {
  const auto schema = PostgresSchema::Make();
  if (schema == nullptr) GTEST_SKIP() << kNoPostgres;
  auto catalog =
      OpenCatalog(
          {.name = "firn",
           .properties = {{"uri", schema->Uri()}, {"warehouse", "memory:///warehouse"}}},
          files_.io(), SystemRuntime())
          .ValueOrDie();
  CreateFlights(*catalog);
  for (const std::string value : {"NULL", "''", "'5'"}) {
    const std::string set = "UPDATE iceberg_tables SET metadata_location = ";
    ASSERT_TRUE(schema->Open()->Write(set + value).ok());
    const Status status = catalog->LoadTable(kFlights).status();
    EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
    EXPECT_THAT(ErrorText(status),
                testing::AllOf(testing::StartsWith("postgresql://"),
                               HasSubstr("table demo.flights: column metadata_location"),
                               HasSubstr(fmt::format("(it is {})", value))));
  }
}

TEST_F(SqlCatalogTest, ALocationOfANamespaceThatIsNoneIsNamed) {
  auto catalog = Open().ValueOrDie();
  ASSERT_TRUE(catalog->CreateNamespace("demo").ok());
  ASSERT_TRUE(Database()
                  ->Write("INSERT INTO iceberg_namespace_properties VALUES "
                          "('firn', 'demo', 'location', 'lake')")
                  .ok());
  TableCreation creation = FlightsCreation();
  creation.location.clear();
  const Status status = catalog->CreateTable(kFlights, creation).status();
  EXPECT_THAT(ErrorText(status), testing::AllOf(HasSubstr(path_), HasSubstr("demo"),
                                                HasSubstr("(it is 'lake')")));
}

TEST_F(SqlCatalogTest, LockedDatabaseIsUnavailable) {
  auto catalog = Open().ValueOrDie();
  CreateFlights(*catalog);
  auto other = Database();
  ASSERT_TRUE(other->Query("BEGIN EXCLUSIVE").ok());
  EXPECT_TRUE(IsError(SetProperty(*catalog), ErrorKind::kUnavailable));
  EXPECT_TRUE(IsError(catalog->LoadTable(kFlights).status(), ErrorKind::kUnavailable));
  ASSERT_TRUE(other->Query("ROLLBACK").ok());
  EXPECT_TRUE(SetProperty(*catalog).ok());
}

TEST_F(SqlCatalogTest, ForeignFileIsNamed) {
  std::ofstream(path_) << std::string(5000, 'x');
  const Status status = Open().status();
  EXPECT_THAT(status.message(), HasSubstr(path_ + " is not a SQLite database"));
  EXPECT_FALSE(IsError(status, ErrorKind::kCorruption));
}

TEST_F(SqlCatalogTest, MissingFolderIsNamed) {
  const Status status =
      OpenAt(directory_.path() + "/none/catalog.db", CatalogMode::kCreate).status();
  EXPECT_THAT(status.message(), HasSubstr("none/catalog.db"));
}

TEST_F(SqlCatalogTest, AMetadataFileThatACommitMadeOldIsNotMissed) {
  CreateFlights(*Open().ValueOrDie());
  storage::FaultyStore store(
      SystemRuntime(), files_.store(), [&](const storage::StoreCall& call) {
        const bool is_first_read =
            call.operation == storage::StoreOperation::kGetWhole && call.number == 1;
        if (is_first_read) {
          EXPECT_TRUE(SetProperty(*Open().ValueOrDie()).ok());
          EXPECT_TRUE(files_.store().Delete(call.key).ok());
        }
        return storage::kPass;
      });
  const FileIo io =
      FileIo::Make({{.prefix = "memory:///", .store = &store}}).ValueOrDie();
  auto catalog = SqlCatalog::Open(Database(), {}, io, SystemRuntime()).ValueOrDie();
  const auto table = catalog->LoadTable(kFlights);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->metadata.properties.at("a"), "1");
}

TEST_F(SqlCatalogTest, MakesNothingIfItIsNotTo) {
  const auto open = [&] { return OpenAt(path_, CatalogMode::kExisting).status(); };
  EXPECT_TRUE(IsError(open(), ErrorKind::kNotFound));
  EXPECT_THAT(ErrorText(open()), HasSubstr(path_));
  EXPECT_NE(::access(path_.c_str(), F_OK), 0);
  Database();
  EXPECT_TRUE(IsError(open(), ErrorKind::kNotFound)) << "a database without tables";
  ASSERT_TRUE(Open().ok());
  EXPECT_TRUE(open().ok());
}

/// Commits to a table that remembers two earlier metadata files; how many are left then.
std::size_t MetadataFilesLeft(Catalog& catalog, storage::ObjectStore& store,
                              const std::string& deletes_old) {
  const std::map<std::string, std::string> properties = {
      {"write.metadata.previous-versions-max", "2"},
      {"write.metadata.delete-after-commit.enabled", deletes_old}};
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(catalog.CommitTable(kFlights, {}, {SetProperties{properties}}).ok());
  }
  EXPECT_EQ(catalog.LoadTable(kFlights).ValueOrDie().metadata.metadata_log.size(), 2U);
  return store.List("").ValueOrDie().size();
}

TEST_F(SqlCatalogTest, MetadataFilesThatTheLogForgetsAreDeletedIfTheTableSaysSo) {
  auto catalog = Open().ValueOrDie();
  CreateFlights(*catalog);
  EXPECT_EQ(MetadataFilesLeft(*catalog, files_.store(), "false"), 6U);
  EXPECT_EQ(MetadataFilesLeft(*catalog, files_.store(), "True"), 6U)
      << "what was forgotten before stays";
  EXPECT_TRUE(Open().ValueOrDie()->LoadTable(kFlights).ok());
}

TEST_F(SqlCatalogTest, OldMetadataThatCannotBeDeletedIsNoReasonToFail) {
  storage::FaultyStore faulty(
      SystemRuntime(), files_.store(), [](const storage::StoreCall& call) {
        return call.operation == storage::StoreOperation::kDelete ? storage::kFailBefore
                                                                  : storage::kPass;
      });
  const FileIo io =
      FileIo::Make({{.prefix = "memory:///", .store = &faulty}}).ValueOrDie();
  auto catalog = OpenCatalog({.properties = {{"uri", "sqlite:///" + path_},
                                             {"warehouse", "memory:///warehouse"}}},
                             io, SystemRuntime())
                     .ValueOrDie();
  CreateFlights(*catalog);
  EXPECT_EQ(MetadataFilesLeft(*catalog, files_.store(), "true"), 6U);
}

TEST_F(SqlCatalogTest, LostMetadataFileIsCorruptionAndNotAMissingTable) {
  const LoadedTable table = CreateFlights(*Open().ValueOrDie());
  const std::string key =
      table.metadata_location.substr(std::string("memory:///").size());
  ASSERT_TRUE(files_.store().Delete(key).ok());
  const Status status = Open().ValueOrDie()->LoadTable(kFlights).status();
  EXPECT_TRUE(IsError(status, ErrorKind::kCorruption)) << status;
  EXPECT_THAT(status.message(), HasSubstr(table.metadata_location));
}

}  // namespace
}  // namespace firn::iceberg
