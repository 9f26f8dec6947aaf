#include "firn/cli/catalog_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/cli/config.h"

namespace firn::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Result<Config> Complete(const std::string& text) {
  FIRN_ASSIGN_OR_RETURN(Config config, ParseConfig(text, "firn.yaml"));
  FIRN_RETURN_NOT_OK(CompleteCatalog(config.catalog));
  return config;
}

CatalogConfig CatalogOf(const std::string& text) {
  return Complete(text).ValueOrDie().catalog;
}

std::string ErrorOf(const std::string& text) {
  const auto config = Complete(text);
  return config.ok() ? "no error" : ErrorText(config.status());
}

TEST(CatalogConfigTest, NothingSaidIsAFileInTheWarehouse) {
  EXPECT_THAT(CatalogOf("").properties,
              ElementsAre(Pair("uri", "sqlite:///warehouse/catalog.db")));
  EXPECT_EQ(CatalogOf("warehouse: /lake").properties.at("uri"),
            "sqlite:////lake/catalog.db");
  EXPECT_EQ(
      CatalogOf("catalog: {type: sql, warehouse: 'file:///lake'}").properties.at("uri"),
      "sqlite:////lake/catalog.db");
}

TEST(CatalogConfigTest, KeepsPropertiesInPyIcebergsNames) {
  const CatalogConfig catalog = CatalogOf(R"(
catalog:
  name: prod
  type: sql
  uri: postgresql+psycopg2://firn@db/lake
  warehouse: s3://lake/tables
  s3.endpoint: http://s3
  s3: {region: eu, path: {deep: 1}}
  header.X-Team: us
)");
  EXPECT_EQ(catalog.name, "prod");
  EXPECT_THAT(
      catalog.properties,
      ElementsAre(Pair("header.X-Team", "us"), Pair("s3.endpoint", "http://s3"),
                  Pair("s3.path.deep", "1"), Pair("s3.region", "eu"), Pair("type", "sql"),
                  Pair("uri", "postgresql+psycopg2://firn@db/lake"),
                  Pair("warehouse", "s3://lake/tables")));
  EXPECT_EQ(catalog.warehouse_folder(), std::nullopt);
}

TEST(CatalogConfigTest, TheWarehouseOfARestCatalogIsANameThere) {
  const CatalogConfig catalog = CatalogOf("catalog: {uri: 'https://c', warehouse: w}");
  EXPECT_EQ(catalog.warehouse(), "w");
  EXPECT_EQ(catalog.warehouse_folder(), std::nullopt);
}

TEST(CatalogConfigTest, WhatIsWrongNamesItsPlace) {
  EXPECT_EQ(ErrorOf("\ncatalog:\n  type: hive\n"),
            "firn.yaml:3: catalog.type: \"hive\" is not known; use sql or rest");
  EXPECT_EQ(ErrorOf("catalog:\n  ury: x\n"),
            "firn.yaml:2: catalog.ury: unknown key; the nearest known one is \"uri\"");
  EXPECT_THAT(ErrorOf("catalog: {uri: a.db}"),
              HasSubstr("firn.yaml:1: catalog.uri: no address with a scheme"));
  EXPECT_THAT(ErrorOf("catalog: {type: rest}"), HasSubstr("catalog firn: uri: missing"));
  EXPECT_THAT(ErrorOf("warehouse: s3://lake"), HasSubstr("catalog firn: uri: missing"));
  EXPECT_THAT(ErrorOf("catalog: {uri: 'sqlite:////c.db', warehouse: 's3://lake/a#1'}"),
              HasSubstr("catalog.warehouse: other programs cut a location in S3 off"));
  EXPECT_THAT(ErrorOf("warehouse: ftp://lake/a"),
              HasSubstr("firn.yaml:1: warehouse: there is no storage for ftp://"));
  EXPECT_THAT(ErrorOf("warehouse: a\ncatalog: {warehouse: b}"),
              HasSubstr("firn.yaml:2: catalog.warehouse: given twice"));
  EXPECT_THAT(ErrorOf("catalog: [1]"), HasSubstr("expected keys and values"));
  EXPECT_THAT(ErrorOf("catalog: {uri: [1]}"), HasSubstr("expected one value"));
}

}  // namespace
}  // namespace firn::cli
