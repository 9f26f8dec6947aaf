#include "firn/iceberg/catalog/rest/storage_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::iceberg::rest {
namespace {

using testing::ElementsAre;
using testing::Pair;

const TableAnswer kAnswer = {
    .table = {},
    .config = {{"s3.endpoint", "table"}, {"s3.access-key-id", "table"}},
    .credentials = {{"s3://lake", {{"s3.access-key-id", "lake"}}},
                    {"s3://lake/db/t",
                     {{"s3.access-key-id", "t"},
                      {"s3.session-token-expires-at-ms", "1700000000000"}}},
                    {"s3://other/db/t", {{"s3.access-key-id", "other"}}}}};

std::string KeyFor(std::string_view location) {
  return AccessTo(location, kAnswer, {}).properties.at("s3.access-key-id");
}

TEST(StorageAccessTest, TheLongestPrefixIsTaken) {
  EXPECT_EQ(KeyFor("s3://lake/db/t/data/1.parquet"), "t");
  EXPECT_EQ(KeyFor("s3://lake/db/u"), "lake");
  EXPECT_EQ(KeyFor("s3://elsewhere"), "table");
}

TEST(StorageAccessTest, WhatIsVendedIsAboveTheCatalogs) {
  EXPECT_THAT(
      AccessTo("s3://lake", kAnswer, {{"s3.endpoint", "mine"}, {"s3.region", "mine"}})
          .properties,
      ElementsAre(Pair("s3.access-key-id", "lake"), Pair("s3.endpoint", "table"),
                  Pair("s3.region", "mine")));
  EXPECT_EQ(AccessTo("s3://lake", {}, {{"a", "b"}}), (StorageAccess{{{"a", "b"}}, {}}));
}

TEST(StorageAccessTest, TheEndIsThatOfTheCredentialTaken) {
  EXPECT_EQ(AccessTo("s3://lake/db/t", kAnswer, {}).expiry,
            WallTime(std::chrono::seconds(1'700'000'000)));
  EXPECT_EQ(AccessTo("s3://lake", kAnswer, {}).expiry, std::nullopt);
  for (const char* text : {"", "soon", "-1", "99999999999999999"}) {
    const TableAnswer odd = {.table = {},
                             .config = {{"s3.session-token-expires-at-ms", text}},
                             .credentials = {}};
    EXPECT_EQ(AccessTo("s3://lake", odd, {}).expiry, std::nullopt) << text;
  }
}

}  // namespace
}  // namespace firn::iceberg::rest
