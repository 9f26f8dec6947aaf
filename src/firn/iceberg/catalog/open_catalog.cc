#include "firn/iceberg/catalog/open_catalog.h"

#include <utility>

#include "firn/http/stoppable_client.h"
#include "firn/iceberg/catalog/postgres_database.h"
#include "firn/iceberg/catalog/rest/rest_catalog.h"
#include "firn/iceberg/catalog/sql_catalog.h"
#include "firn/iceberg/catalog/sqlite_database.h"

namespace firn::iceberg {
namespace {

SqlAddress AddressOf(const CatalogSettings& settings) {
  if (!settings.sqlite_file.empty()) {
    return {.dialect = SqlDialect::kSqlite, .target = settings.sqlite_file};
  }
  return *ParseSqlUri(*FindProperty(settings.properties, catalog_property::kUri));
}

Result<std::unique_ptr<SqlDatabase>> OpenDatabase(const CatalogSettings& settings,
                                                  Runtime& runtime) {
  const SqlAddress address = AddressOf(settings);
  switch (address.dialect) {
    case SqlDialect::kSqlite:
      return SqliteDatabase::Open(address.target, settings.wait_ms, settings.mode,
                                  runtime);
    case SqlDialect::kPostgres: {
      FIRN_ASSIGN_OR_RETURN(
          PostgresAddress postgres,
          ParsePostgresUri(address.target, std::chrono::milliseconds(settings.wait_ms)));
      return PostgresDatabase::Open(std::move(postgres), runtime);
    }
  }
  return InvalidError("no such database");
}

Result<std::unique_ptr<Catalog>> OpenSqlCatalog(const CatalogSettings& settings,
                                                const FileIo& io, Runtime& runtime) {
  const auto warehouse = FindProperty(settings.properties, catalog_property::kWarehouse);
  FIRN_ASSIGN_OR_RETURN(auto database, OpenDatabase(settings, runtime));
  return SqlCatalog::Open(std::move(database),
                          {.mode = settings.mode,
                           .catalog_name = settings.name,
                           .warehouse = warehouse.value_or("")},
                          io, runtime);
}

Result<std::unique_ptr<Catalog>> OpenRestCatalog(const CatalogSettings& settings,
                                                 Runtime& runtime) {
  FIRN_ASSIGN_OR_RETURN(const auto options, rest::HttpOptionsOf(settings.properties));
  FIRN_ASSIGN_OR_RETURN(auto client, http::MakeStoppableHttpClient(
                                         runtime, options, {.token = settings.stop}));
  return RestCatalog::Open(settings.properties, std::move(client), runtime,
                           settings.stop);
}

}  // namespace

Result<std::unique_ptr<Catalog>> OpenCatalog(const CatalogSettings& settings,
                                             const FileIo& io, Runtime& runtime) {
  if (!settings.sqlite_file.empty()) return OpenSqlCatalog(settings, io, runtime);
  if (const auto problem = FindPropertyProblem(settings.properties)) {
    return InvalidError("catalog {}: {}: {}", settings.name, problem->property,
                        problem->text);
  }
  switch (*CatalogTypeOf(settings.properties)) {
    case CatalogType::kSql:
      return OpenSqlCatalog(settings, io, runtime);
    case CatalogType::kRest:
      return OpenRestCatalog(settings, runtime);
  }
  return InvalidError("catalog {}: its type is not known", settings.name);
}

}  // namespace firn::iceberg
