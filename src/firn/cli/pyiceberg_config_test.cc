#include "firn/cli/pyiceberg_config.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/storage/temporary_directory.h"

namespace firn::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class PyIcebergConfigTest : public testing::Test {
 protected:
  /// Writes .pyiceberg.yaml into a folder of its own.
  std::string Folder(const std::string& name, const std::string& text) {
    const std::string folder = directory_.path() + "/" + name;
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/.pyiceberg.yaml") << text;
    return folder;
  }

  /// With a home directory that has no file, unless the test gives one.
  PyIcebergConfig Read(std::vector<std::string> environment) {
    environment.push_back("HOME=" + directory_.path());
    return PyIcebergConfig::Read(environment).ValueOrDie();
  }

  PyIcebergConfig ReadText(const std::string& text,
                           std::vector<std::string> environment = {}) {
    environment.push_back("PYICEBERG_HOME=" + Folder("home", text));
    return Read(environment);
  }

  const storage::TemporaryDirectory directory_ =
      storage::TemporaryDirectory::Make().ValueOrDie();
};

TEST_F(PyIcebergConfigTest, ReadsCatalogsWhateverTheCaseOfTheirNames) {
  const PyIcebergConfig config = ReadText(
      "default-catalog: Prod\n"
      "catalog:\n"
      "  Prod:\n"
      "    URI: sqlite:///${NOT_REPLACED}\n"
      "    ssl:\n"
      "      cabundle: a.pem\n"
      "    token:\n");
  EXPECT_EQ(config.default_catalog(), "Prod");
  const CatalogConfig* prod = config.Find("pROD");
  ASSERT_NE(prod, nullptr);
  EXPECT_THAT(prod->properties,
              ElementsAre(Pair("ssl.cabundle", "a.pem"), Pair("token", ""),
                          Pair("uri", "sqlite:///${NOT_REPLACED}")));
  EXPECT_EQ(prod->places.at("uri"),
            directory_.path() + "/home/.pyiceberg.yaml:4: prod.uri");
  EXPECT_EQ(config.Find("other"), nullptr);
}

TEST_F(PyIcebergConfigTest, VariablesComeOverTheFile) {
  const PyIcebergConfig config = ReadText(
      "catalog: {prod: {uri: file, token: file}}",
      {"PYICEBERG_CATALOG__PROD__URI=variable", "PYICEBERG_CATALOG__PROD__TOKEN=",
       "PYICEBERG_CATALOG__PROD__S3__ACCESS_KEY_ID=key",
       "PYICEBERG_CATALOG__NEW_ONE__TYPE=sql", "PYICEBERG_CATALOG__PROD=x",
       "PYICEBERG_DEFAULT_CATALOG=new-one", "OTHER=1", "no equals sign"});
  EXPECT_EQ(config.default_catalog(), "new-one");
  EXPECT_THAT(config.Find("prod")->properties,
              ElementsAre(Pair("s3.access-key-id", "key"), Pair("token", "file"),
                          Pair("uri", "variable")));
  EXPECT_EQ(config.Find("prod")->places.at("uri"), "PYICEBERG_CATALOG__PROD__URI");
  EXPECT_THAT(config.Find("new-one")->properties, ElementsAre(Pair("type", "sql")));
}

TEST_F(PyIcebergConfigTest, TheFirstFileIsTheOne) {
  const std::string first = Folder("first", "catalog: {a: {uri: first}}");
  const std::string second = Folder("second", "catalog: {a: {uri: second}}");
  const auto uri = [](const std::vector<std::string>& environment) {
    return PyIcebergConfig::Read(environment)
        .ValueOrDie()
        .Find("a")
        ->properties.at("uri");
  };
  EXPECT_EQ(uri({"HOME=" + second, "PYICEBERG_HOME=" + first}), "first");
  EXPECT_EQ(uri({"HOME=" + second, "PYICEBERG_HOME=" + directory_.path()}), "second");
  EXPECT_EQ(uri({"HOME=" + second, "PYICEBERG_HOME=" + Folder("empty", "# nothing\n")}),
            "second");
}

TEST_F(PyIcebergConfigTest, WithoutFileAndVariablesThereIsNoCatalog) {
  const PyIcebergConfig config = Read({});
  EXPECT_EQ(config.default_catalog(), "default");
  EXPECT_EQ(config.Find("default"), nullptr);
}

TEST_F(PyIcebergConfigTest, WhatIsSaidAlreadyStays) {
  const PyIcebergConfig config =
      ReadText("catalog: {prod: {uri: theirs, warehouse: theirs}, default: {uri: no}}");
  CatalogConfig catalog{.name = "PROD",
                        .properties = {{"uri", "ours"}, {"warehouse", ""}}};
  AddProperties(config, catalog);
  EXPECT_THAT(catalog.properties,
              ElementsAre(Pair("uri", "ours"), Pair("warehouse", "theirs")));
  EXPECT_THAT(catalog.places.at("warehouse"), HasSubstr(":1: prod.warehouse"));
}

TEST_F(PyIcebergConfigTest, TheDefaultCatalogIsTakenIfItIsThere) {
  const auto name = [&](const std::string& text) {
    CatalogConfig catalog;
    TakeDefaultCatalog(ReadText(text), catalog);
    return catalog.name;
  };
  EXPECT_EQ(name("catalog: {default: {uri: a}}"), "default");
  EXPECT_EQ(name("default-catalog: Prod\ncatalog: {prod: {uri: a}}"), "Prod");
  EXPECT_EQ(name("catalog: {other: {uri: a}}"), "firn");
  EXPECT_EQ(name("default-catalog: none\ncatalog: {default: {uri: a}}"), "none");
}

TEST_F(PyIcebergConfigTest, AMistypedNameIsRefused) {
  const PyIcebergConfig config =
      ReadText("default-catalog: prdo\ncatalog: {prod: {uri: a}, dev: {uri: b}}");
  CatalogConfig catalog;
  TakeDefaultCatalog(config, catalog);
  EXPECT_THAT(ErrorText(CheckDefined(config, catalog)),
              AllOf(HasSubstr(".pyiceberg.yaml:1: default-catalog: nothing says where "
                              "catalog \"prdo\" is"),
                    HasSubstr("(dev, prod)")));
  catalog.properties = {{"warehouse", "lake"}};
  EXPECT_TRUE(CheckDefined(config, catalog).ok());
  EXPECT_TRUE(
      CheckDefined(config, {.name = "firn", .places = {{"name", "firn.yaml:1"}}}).ok());
  EXPECT_FALSE(
      CheckDefined(Read({}), {.name = "a", .places = {{"name", "firn.yaml:1"}}}).ok());
}

TEST_F(PyIcebergConfigTest, ABrokenFileIsNamedWithItsLine) {
  const auto error = [&](const std::string& text) {
    return ErrorText(
        PyIcebergConfig::Read({"PYICEBERG_HOME=" + Folder("home", text)}).status());
  };
  EXPECT_THAT(error("catalog:\n  a: [\n"),
              HasSubstr(".pyiceberg.yaml:3: not valid YAML"));
  EXPECT_THAT(error("catalog:\n  a:\n    uri: [1]\n"),
              HasSubstr(".pyiceberg.yaml:3: uri: expected one value"));
  for (const char* text : {"catalog: 1", "catalog:\n  a: 1", "[]", "1",
                           "default-catalog: [1]", "catalog: [1]", "? [1]\n: 2"}) {
    EXPECT_THAT(error(text), HasSubstr(".pyiceberg.yaml:")) << text;
  }
}

}  // namespace
}  // namespace firn::cli
