#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/iceberg/catalog/memory_catalog.h"
#include "firn/iceberg/catalog/open_catalog.h"
#include "firn/iceberg/catalog/rest/rest_catalog.h"
#include "firn/iceberg/testing/postgres_schema.h"
#include "firn/iceberg/testing/rest_test_server.h"
#include "firn/storage/memory_store.h"
#include "firn/storage/temporary_directory.h"

namespace firn::iceberg {

inline constexpr const char* kTestWarehouse = "memory:///warehouse";

/// For tests: an empty catalog, and what it stands on. Files are in memory.
class CatalogUnderTest {
 public:
  /// Tables lie in "<warehouse>/<namespace>/<table>".
  explicit CatalogUnderTest(std::string warehouse = kTestWarehouse)
      : warehouse_(std::move(warehouse)),
        io_(FileIo::Make({{.prefix = "memory:///", .store = &store_},
                          {.prefix = warehouse_, .store = &store_}})
                .ValueOrDie()) {}
  virtual ~CatalogUnderTest() = default;

  virtual Catalog& catalog() = 0;
  const std::string& warehouse() const { return warehouse_; }
  const FileIo& io() const { return io_; }

 private:
  const std::string warehouse_;
  storage::MemoryStore store_{SystemRuntime()};
  const FileIo io_;
};

class MemoryUnderTest : public CatalogUnderTest {
 public:
  static std::unique_ptr<CatalogUnderTest> Make() {
    return std::make_unique<MemoryUnderTest>();
  }
  Catalog& catalog() override { return catalog_; }

 private:
  MemoryCatalog catalog_{SystemRuntime(), kTestWarehouse};
};

class SqlUnderTest : public CatalogUnderTest {
 public:
  static std::unique_ptr<CatalogUnderTest> MakeSqlite() {
    auto directory = std::make_unique<storage::TemporaryDirectory>(
        storage::TemporaryDirectory::Make().ValueOrDie());
    const std::string uri = "sqlite:///" + directory->path() + "/catalog.db";
    return std::unique_ptr<CatalogUnderTest>(
        new SqlUnderTest(std::move(directory), nullptr, uri));
  }

  /// Nothing without a server.
  static std::unique_ptr<CatalogUnderTest> MakePostgres() {
    auto schema = PostgresSchema::Make();
    if (schema == nullptr) return nullptr;
    const std::string uri = schema->Uri();
    return std::unique_ptr<CatalogUnderTest>(
        new SqlUnderTest(nullptr, std::move(schema), uri));
  }

  Catalog& catalog() override { return *catalog_; }

 private:
  SqlUnderTest(std::unique_ptr<storage::TemporaryDirectory> directory,
               std::unique_ptr<PostgresSchema> schema, const std::string& uri)
      : directory_(std::move(directory)),
        schema_(std::move(schema)),
        catalog_(
            OpenCatalog({.properties = {{"uri", uri}, {"warehouse", kTestWarehouse}}},
                        io(), SystemRuntime())
                .ValueOrDie()) {}

  const std::unique_ptr<storage::TemporaryDirectory> directory_;
  const std::unique_ptr<PostgresSchema> schema_;
  const std::unique_ptr<Catalog> catalog_;
};

inline std::unique_ptr<RestCatalog> OpenRest(const std::string& uri) {
  return RestCatalog::Open({{"uri", uri}},
                           http::MakeHttpClient(SystemRuntime(), {}).ValueOrDie(),
                           SystemRuntime())
      .ValueOrDie();
}

/// RestCatalog with a server in this process.
class RestUnderTest : public CatalogUnderTest {
 public:
  static std::unique_ptr<CatalogUnderTest> Make() {
    return std::make_unique<RestUnderTest>();
  }
  Catalog& catalog() override { return *catalog_; }

 private:
  MemoryCatalog backend_{SystemRuntime(), kTestWarehouse};
  RestTestServer server_{backend_, {.prefix = "ws", .page_size = 1}};
  const std::unique_ptr<RestCatalog> catalog_ = OpenRest(server_.uri());
};

/// RestCatalog with a server that runs already. Everything in it is dropped: the suites
/// want an empty catalog. tests/interop starts Iceberg's own server for this.
class RestServerUnderTest : public CatalogUnderTest {
 public:
  /// Nothing where the environment names no server.
  static std::unique_ptr<CatalogUnderTest> Make() {
    const char* uri = std::getenv("FIRN_TEST_REST_URI");
    const char* warehouse = std::getenv("FIRN_TEST_REST_WAREHOUSE");
    if (uri == nullptr || warehouse == nullptr) return nullptr;
    return std::unique_ptr<CatalogUnderTest>(new RestServerUnderTest(uri, warehouse));
  }
  Catalog& catalog() override { return *catalog_; }

 private:
  RestServerUnderTest(std::string uri, std::string warehouse)
      : CatalogUnderTest(std::move(warehouse)),
        uri_(std::move(uri)),
        catalog_(OpenRest(uri_)) {
    std::vector<std::string> names = catalog_->ListNamespaces().ValueOrDie();
    std::ranges::reverse(names);  // children first
    for (const std::string& name : names) DropNamespace(name);
  }

  void DropNamespace(const std::string& name) {
    const auto tables = catalog_->ListTables(name);
    // Some servers have a namespace only as long as there is another one in it.
    if (IsError(tables.status(), ErrorKind::kNotFound)) return;
    for (const TableIdentifier& table : tables.ValueOrDie()) {
      FIRN_CHECK(catalog_->DropTable(table).ok());
    }
    http::MakeHttpClient(SystemRuntime(), {})
        .ValueOrDie()
        ->Send(
            {.method = "DELETE", .url = uri_ + rest::Routes({}).Namespace(name).target})
        .ValueOrDie();
  }

  const std::string uri_;
  const std::unique_ptr<RestCatalog> catalog_;
};

/// A kind of catalog that all suites try.
struct CatalogKind {
  const char* name;
  /// Gives nothing where there is no server.
  std::unique_ptr<CatalogUnderTest> (*make)();
  /// What a test says that is skipped then.
  const char* skipped = "";
};

inline std::vector<CatalogKind> CatalogKinds() {
  return {{"Memory", MemoryUnderTest::Make},
          {"Sqlite", SqlUnderTest::MakeSqlite},
          {"Postgres", SqlUnderTest::MakePostgres, kNoPostgres},
          {"Rest", RestUnderTest::Make},
          {"RestServer", RestServerUnderTest::Make,
           "FIRN_TEST_REST_URI and FIRN_TEST_REST_WAREHOUSE name no server"}};
}

}  // namespace firn::iceberg
