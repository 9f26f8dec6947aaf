#include "firn/iceberg/catalog/rest/rest_routes.h"

#include <gtest/gtest.h>

namespace firn::iceberg::rest {
namespace {

TEST(RestRoutesTest, Paths) {
  const Routes routes({.prefix = "/ws/1/"});
  const TableIdentifier table{"a.b", "t"};
  EXPECT_EQ(Routes::Config("").target, "/v1/config");
  EXPECT_EQ(Routes::Config("s3://lake/a b").target,
            "/v1/config?warehouse=s3%3A%2F%2Flake%2Fa%20b");
  EXPECT_EQ(routes.Namespaces().target, "/v1/ws/1/namespaces");
  EXPECT_EQ(routes.Namespaces("", "").target, "/v1/ws/1/namespaces");
  EXPECT_EQ(routes.Namespaces("a.b", "p&2").target,
            "/v1/ws/1/namespaces?parent=a%1Fb&pageToken=p%262");
  EXPECT_EQ(routes.Namespace("a.b").target, "/v1/ws/1/namespaces/a%1Fb");
  EXPECT_EQ(routes.Tables("a", "").target, "/v1/ws/1/namespaces/a/tables");
  EXPECT_EQ(routes.Tables("a", "2").target, "/v1/ws/1/namespaces/a/tables?pageToken=2");
  EXPECT_EQ(routes.Table(table).target, "/v1/ws/1/namespaces/a%1Fb/tables/t");
  EXPECT_EQ(routes.DropTable(table).target,
            "/v1/ws/1/namespaces/a%1Fb/tables/t?purgeRequested=false");
  EXPECT_EQ(routes.Credentials(table).target,
            "/v1/ws/1/namespaces/a%1Fb/tables/t/credentials");
}

TEST(RestRoutesTest, WithoutPrefixAndWithAnotherSeparator) {
  EXPECT_EQ(Routes(Routes::Options{}).Table({"a", "t"}).target,
            "/v1/namespaces/a/tables/t");
  EXPECT_EQ(Routes({.namespace_separator = "%2E"}).Namespace("a.b").target,
            "/v1/namespaces/a%2Eb");
}

TEST(RestRoutesTest, NamesAreEscaped) {
  EXPECT_EQ(Routes(Routes::Options{}).Table({"a c", "t/?#"}).target,
            "/v1/namespaces/a%20c/tables/t%2F%3F%23");
}

TEST(RestRoutesTest, MessagesShowNoQuery) {
  EXPECT_EQ(Routes::Config("secret").path(), "/v1/config");
}

}  // namespace
}  // namespace firn::iceberg::rest
