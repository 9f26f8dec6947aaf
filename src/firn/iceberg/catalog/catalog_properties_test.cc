#include "firn/iceberg/catalog/catalog_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::iceberg {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string ProblemOf(const CatalogProperties& properties) {
  const auto problem = FindPropertyProblem(properties);
  return problem ? problem->property + ": " + problem->text : "none";
}

TEST(CatalogPropertiesTest, TheTypeComesFromTheAddressIfItIsNotSaid) {
  EXPECT_EQ(CatalogTypeOf({{"uri", "sqlite:///a.db"}}), CatalogType::kSql);
  EXPECT_EQ(CatalogTypeOf({{"uri", "postgresql+psycopg2://h/d"}}), CatalogType::kSql);
  EXPECT_EQ(CatalogTypeOf({{"uri", "https://catalog"}}), CatalogType::kRest);
  EXPECT_EQ(CatalogTypeOf({{"uri", "x"}, {"type", "REST"}}), CatalogType::kRest);
  EXPECT_EQ(CatalogTypeOf({{"uri", "thrift://h"}}), std::nullopt);
  EXPECT_EQ(CatalogTypeOf({{"type", "hive"}, {"uri", "sqlite:///a"}}), std::nullopt);
}

TEST(CatalogPropertiesTest, WhatCannotBeOpenedIsNamed) {
  EXPECT_EQ(ProblemOf({{"uri", "sqlite:///a.db"}}), "none");
  EXPECT_EQ(ProblemOf({{"type", "rest"}, {"uri", "http://h/"}}), "none");
  EXPECT_EQ(ProblemOf({{"type", "hive"}}),
            "type: \"hive\" is not known; use sql or rest");
  EXPECT_THAT(ProblemOf({}), HasSubstr("uri: missing; write sqlite:///"));
  EXPECT_THAT(ProblemOf({{"type", "sql"}, {"uri", ""}}), HasSubstr("uri: missing"));
  EXPECT_THAT(ProblemOf({{"type", "rest"}}), HasSubstr("https://"));
  EXPECT_THAT(ProblemOf({{"type", "rest"}, {"uri", "sqlite:///a"}}),
              HasSubstr("uri: sqlite://... cannot be a REST catalog"));
  EXPECT_THAT(ProblemOf({{"type", "sql"}, {"uri", "http://h"}}),
              HasSubstr("uri: http://... cannot be a SQL catalog"));
  EXPECT_THAT(ProblemOf({{"uri", "sqlite:///:memory:"}}), HasSubstr("cannot be a SQL"));
}

TEST(CatalogPropertiesTest, NoProblemShowsWhatCouldBeASecret) {
  for (const char* uri : {"mysql://user:pw@h/d", "user:pw@h", "thrift://pw@h"}) {
    for (const char* type : {"", "sql", "rest"}) {
      EXPECT_THAT(ProblemOf({{"type", type}, {"uri", uri}}), Not(HasSubstr("pw")));
    }
  }
}

TEST(CatalogPropertiesTest, AnAddressIsShownWithoutItsLogin) {
  EXPECT_EQ(ShownUri("sqlite:////data/a.db"), "/data/a.db");
  EXPECT_EQ(ShownUri("postgresql+psycopg2://u:pw@h:1/d?sslmode=x&password=pw"),
            "postgresql://h:1/d");
  EXPECT_EQ(ShownUri("postgresql://u:a@b@h/d"), "postgresql://h/d");
  EXPECT_EQ(ShownUri("https://h/catalog?token=pw"), "https://h/catalog");
  for (const char* uri :
       {"postgresql://u:p/w@h/d", "postgresql://u:p?w@h/d", "postgresql://h?password=p@w",
        "postgresql://h/d?password=p@w", "https://h?t=pw"}) {
    EXPECT_THAT(ShownUri(uri), testing::EndsWith("://...")) << uri;
  }
}

TEST(CatalogPropertiesTest, AnAddressOfADatabaseIsSqlalchemys) {
  const auto sqlite = [](const char* path) {
    return SqlAddress{SqlDialect::kSqlite, path};
  };
  const auto postgres = [](const char* uri) {
    return SqlAddress{SqlDialect::kPostgres, uri};
  };
  EXPECT_EQ(ParseSqlUri("sqlite:////data/a.db"), sqlite("/data/a.db"));
  EXPECT_EQ(ParseSqlUri("sqlite:///a.db?timeout=5"), sqlite("a.db"));
  EXPECT_EQ(ParseSqlUri("sqlite+pysqlite:///a.db"), sqlite("a.db"));
  EXPECT_EQ(ParseSqlUri("postgresql+psycopg2://u:p@h:1/d?sslmode=require"),
            postgres("postgresql://u:p@h:1/d?sslmode=require"));
  EXPECT_EQ(ParseSqlUri("postgresql://u:p+q@h/d"), postgres("postgresql://u:p+q@h/d"));
  for (const char* uri : {"", "a.db", "sqlite://", "sqlite:///", "mysql://h/d"}) {
    EXPECT_EQ(ParseSqlUri(uri), std::nullopt) << uri;
  }
}

TEST(CatalogPropertiesTest, NamesAreKnownByThemselvesOrByTheirFamily) {
  for (const char* name : {"uri", "s3.endpoint", "s3.whatever.comes", "header.X-A"}) {
    EXPECT_TRUE(IsKnownProperty(name)) << name;
  }
  for (const char* name : {"ury", "s4.endpoint", "", "."}) {
    EXPECT_FALSE(IsKnownProperty(name)) << name;
  }
}

}  // namespace
}  // namespace firn::iceberg
