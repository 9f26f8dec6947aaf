#include "firn/cli/catalog_config.h"

#include <string_view>
#include <utility>

#include "firn/cli/stores.h"
#include "firn/storage/location.h"

namespace firn::cli {
namespace {

namespace catalog_property = iceberg::catalog_property;

constexpr const char* kDefaultWarehouse = "warehouse";
constexpr std::string_view kFileScheme = "file:";

/// A SQLite file in the warehouse, where nothing else is said.
void AddEmbeddedCatalog(CatalogConfig& catalog) {
  iceberg::CatalogProperties& properties = catalog.properties;
  const bool is_said =
      iceberg::FindProperty(properties, catalog_property::kUri).has_value();
  const auto type = iceberg::FindProperty(properties, catalog_property::kType);
  const bool is_sql =
      !type || iceberg::CatalogTypeOf(properties) == iceberg::CatalogType::kSql;
  const auto folder = catalog.warehouse_folder();
  if (is_said || !is_sql || !folder) return;
  properties[catalog_property::kUri] = fmt::format("sqlite:///{}/catalog.db", *folder);
  catalog.is_embedded = true;
}

/// Of one that others could not use, or, where nothing but a warehouse is said, nobody.
std::optional<iceberg::PropertyProblem> ProblemOfWarehouse(const CatalogConfig& catalog) {
  const bool is_all =
      !iceberg::FindProperty(catalog.properties, catalog_property::kUri) &&
      !iceberg::FindProperty(catalog.properties, catalog_property::kType);
  const std::string warehouse = catalog.warehouse();
  const bool is_cut =
      IsInS3(warehouse) && warehouse.find_first_of("?#") != std::string::npos;
  if (is_cut) {
    return iceberg::PropertyProblem{
        catalog_property::kWarehouse,
        "other programs cut a location in S3 off at '?' and '#'; name another folder"};
  }
  const std::size_t scheme_end = warehouse.find("://");
  if (!is_all || scheme_end == std::string::npos || IsInS3(warehouse) ||
      warehouse.starts_with(kFileScheme)) {
    return std::nullopt;
  }
  return iceberg::PropertyProblem{
      catalog_property::kWarehouse,
      fmt::format("there is no storage for {}://; name a folder, or s3://bucket/folder "
                  "and a catalog",
                  warehouse.substr(0, scheme_end))};
}

}  // namespace

void CatalogConfig::Set(const std::string& property, std::string value,
                        std::string place) {
  properties[property] = std::move(value);
  places[property] = std::move(place);
}

std::string CatalogConfig::warehouse() const {
  return iceberg::FindProperty(properties, catalog_property::kWarehouse)
      .value_or(kDefaultWarehouse);
}

std::optional<std::string> CatalogConfig::warehouse_folder() const {
  const std::string warehouse = this->warehouse();
  if (warehouse.starts_with(kFileScheme)) {
    const auto path = storage::LocalPathOf(warehouse);
    return path.ok() ? std::optional(*path) : std::nullopt;
  }
  const bool is_name = iceberg::CatalogTypeOf(properties) == iceberg::CatalogType::kRest;
  if (is_name || warehouse.find("://") != std::string::npos) return std::nullopt;
  return warehouse;
}

Status CompleteCatalog(CatalogConfig& catalog) {
  AddEmbeddedCatalog(catalog);
  auto problem = ProblemOfWarehouse(catalog);
  if (!problem && !catalog.is_embedded) {
    problem = iceberg::FindPropertyProblem(catalog.properties);
  }
  if (!problem) return Status::OK();
  const auto place = catalog.places.find(problem->property);
  return InvalidError("{}: {}",
                      place == catalog.places.end()
                          ? fmt::format("catalog {}: {}", catalog.name, problem->property)
                          : place->second,
                      problem->text);
}

}  // namespace firn::cli
