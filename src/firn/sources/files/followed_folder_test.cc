#include "firn/sources/files/followed_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "firn/sources/files/test_folder.h"

namespace firn::sources {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FollowedFolderTest : public ::testing::Test {
 protected:
  /// Changed `age` before now.
  void Write(const std::string& name, seconds age = seconds(60)) {
    const std::string path = folder_.Write(name, "x");
    std::filesystem::last_write_time(path,
                                     std::filesystem::file_time_type::clock::now() - age);
  }

  std::vector<std::string> Names(const std::string& pattern = "*") {
    std::vector<std::string> names;
    const auto files = ListWholeFiles({.folder = std::string(folder_.path()),
                                       .pattern = pattern,
                                       .stable_for = seconds(10)},
                                      SystemRuntime().Now());
    for (const FolderFile& file : files.ValueOrDie()) {
      names.push_back(std::filesystem::path(file.path).filename().string());
    }
    return names;
  }

  TestFolder folder_;
};

TEST_F(FollowedFolderTest, TheOldestIsFirst) {
  Write("b", seconds(70));
  Write("a", seconds(60));
  Write("c", seconds(80));
  EXPECT_THAT(Names(), ElementsAre("c", "b", "a"));
}

TEST_F(FollowedFolderTest, WhatIsBeingWrittenIsLeft) {
  Write("fresh", seconds(1));
  for (const char* name : {".hidden", "_temporary", "a.tmp", "a.part", "a.partial"}) {
    Write(name);
  }
  std::filesystem::create_directory(std::string(folder_.path()) + "/below");
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(FollowedFolderTest, APatternChooses) {
  Write("a.csv");
  Write("a.csv.gz");
  EXPECT_THAT(Names("*.csv"), ElementsAre("a.csv"));
  EXPECT_THAT(Names("*.csv*"), ElementsAre("a.csv", "a.csv.gz"));
}

TEST_F(FollowedFolderTest, AFolderThatIsMissingIsNamed) {
  const auto files = ListWholeFiles({.folder = "/nowhere/at/all"}, WallTime{});
  EXPECT_EQ(ErrorText(files.status()), "/nowhere/at/all: No such file or directory");
}

}  // namespace
}  // namespace firn::sources
