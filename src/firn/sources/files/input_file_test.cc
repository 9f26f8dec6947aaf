#include "firn/sources/files/input_file.h"

#include <filesystem>
#include <fstream>

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/sources/files/file_patterns.h"
#include "firn/sources/files/test_compression.h"
#include "firn/sources/files/test_folder.h"

namespace firn::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class InputFileTest : public testing::Test {
 protected:
  Result<std::string> ReadAll(const std::string& path) {
    FIRN_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
    std::string text;
    while (true) {
      const std::size_t size = text.size();
      FIRN_RETURN_NOT_OK(file.Read(1000, text));
      if (text.size() == size) return text;
    }
  }

  std::string Failure(const std::string& path) {
    return ErrorText(ReadAll(path).status());
  }

  TestFolder folder_;
};

TEST_F(InputFileTest, ReadsPlainAndCompressedFiles) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("line {}\n", i);
  EXPECT_EQ(ReadAll(folder_.Write("a.csv", text)).ValueOrDie(), text);
  EXPECT_EQ(ReadAll(folder_.Write("a.csv.gz", Gzip(text))).ValueOrDie(), text);
  EXPECT_EQ(ReadAll(folder_.Write("b", Gzip("x") + Gzip(text))).ValueOrDie(), "x" + text);
  const std::string zstd = Compressed(arrow::Compression::ZSTD, text);
  EXPECT_EQ(ReadAll(folder_.Write("a.zst", zstd)).ValueOrDie(), text);
  EXPECT_EQ(ReadAll(folder_.Write("c", zstd + zstd)).ValueOrDie(), text + text);
  EXPECT_EQ(ReadAll(folder_.Write("empty.gz", "")).ValueOrDie(), "");
}

TEST_F(InputFileTest, DamageIsAnErrorThatNamesTheFile) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += fmt::format("line {}\n", i * i);
  const std::string whole = Gzip(text);
  EXPECT_THAT(Failure(folder_.Write("cut.gz", whole.substr(0, whole.size() / 2))),
              AllOf(HasSubstr("cut.gz: the compressed file is damaged or cut off")));
  EXPECT_THAT(Failure(folder_.Write("tail.gz", whole.substr(0, whole.size() - 3))),
              HasSubstr("damaged or cut off"));
  std::string damaged = whole;
  for (std::size_t i = 5000; i < 5100; ++i) damaged[i] ^= '\x55';
  EXPECT_THAT(Failure(folder_.Write("bad.gz", damaged)), HasSubstr("bad.gz: the compre"));
  EXPECT_THAT(Failure(folder_.Write("plain.gz", "a,b\n")),
              HasSubstr("plain.gz: is no gzip file"));
  EXPECT_THAT(Failure(folder_.Write("plain.zst", "a,b\n")),
              HasSubstr("plain.zst: is no zstd file"));
}

TEST_F(InputFileTest, WhatCannotBeOpenedIsNamed) {
  EXPECT_THAT(Failure("/no/such.csv"), HasSubstr("/no/such.csv: no such file"));
  EXPECT_TRUE(IsError(ReadAll("/no/such.csv").status(), ErrorKind::kNotFound));
  EXPECT_THAT(Failure(folder_.path()), HasSubstr(folder_.path() + ": is a directory"));
}

TEST_F(InputFileTest, ProgressCountsBytesOfTheFile) {
  const std::string bytes = Gzip(std::string(1 << 20, 'x'));
  auto file = InputFile::Open(folder_.Write("a.gz", bytes)).ValueOrDie();
  EXPECT_EQ(file.progress().bytes_read, 0);
  EXPECT_EQ(file.progress().bytes_total, std::ssize(bytes));
  std::string text;
  ASSERT_TRUE(file.Read(1 << 20, text).ok());
  EXPECT_EQ(file.Peek(1).ValueOrDie(), "");
  EXPECT_EQ(file.progress().bytes_read, std::ssize(bytes));
}

TEST_F(InputFileTest, PeekTakesNothing) {
  auto file = InputFile::Open(folder_.Write("a.gz", Gzip("abc"))).ValueOrDie();
  EXPECT_EQ(file.Peek(2).ValueOrDie(), "ab");
  EXPECT_EQ(file.Peek(4).ValueOrDie(), "abc");
  std::string text;
  ASSERT_TRUE(file.Read(10, text).ok());
  EXPECT_EQ(text, "abc");
}

class ExpandFilesTest : public testing::Test {
 protected:
  Result<std::vector<std::string>> Expand(const std::vector<std::string>& patterns) {
    std::vector<std::string> paths;
    for (const std::string& pattern : patterns) paths.push_back(In(pattern));
    return ExpandFiles(paths);
  }
  std::string In(const std::string& name) const { return folder_.path() + "/" + name; }

  TestFolder folder_;
};

TEST_F(ExpandFilesTest, PatternsAreExpandedInOrder) {
  folder_.Write("b.csv", "");
  folder_.Write("a.csv", "");
  folder_.Write("c.json", "");
  EXPECT_THAT(Expand({"c.json", "*.csv"}).ValueOrDie(),
              ElementsAre(In("c.json"), In("a.csv"), In("b.csv")));
  EXPECT_THAT(ExpandFiles({"-"}).ValueOrDie(), ElementsAre("-"));
}

TEST_F(ExpandFilesTest, FileNamedLikeAPatternIsTheFile) {
  folder_.Write("[a].csv", "");
  folder_.Write("a.csv", "");
  EXPECT_THAT(Expand({"[a].csv"}).ValueOrDie(), ElementsAre(In("[a].csv")));
}

TEST_F(ExpandFilesTest, ErrorsNameThePattern) {
  folder_.Write("a.csv", "");
  EXPECT_THAT(ErrorText(Expand({"*.json"}).status()),
              HasSubstr("/*.json: no file matches"));
  EXPECT_TRUE(IsError(Expand({"*.json"}).status(), ErrorKind::kNotFound));
  EXPECT_THAT(ErrorText(Expand({"b.csv"}).status()), HasSubstr("/b.csv: no such file"));
  EXPECT_THAT(ErrorText(Expand({"a.csv", "*.csv"}).status()),
              HasSubstr("/a.csv: is named twice"));
  std::filesystem::create_symlink("a.csv", In("link.csv"));
  std::filesystem::create_hard_link(In("a.csv"), In("other.csv"));
  for (const char* link : {"link.csv", "other.csv", "./a.csv"}) {
    EXPECT_THAT(ErrorText(Expand({"a.csv", link}).status()),
                HasSubstr(fmt::format("/{}: is the same file as {}", link, In("a.csv"))));
  }
  EXPECT_THAT(ErrorText(ExpandFiles({"-", "-"}).status()),
              HasSubstr("-: is named twice"));
  std::filesystem::create_directory(In("folder"));
  EXPECT_THAT(ErrorText(Expand({"folder"}).status()),
              HasSubstr("/folder: is a directory"));
  EXPECT_THAT(ErrorText(Expand({"f*"}).status()), HasSubstr("is a directory"));
}

}  // namespace
}  // namespace firn::sources
