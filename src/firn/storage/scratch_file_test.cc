#include "firn/storage/scratch_file.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/storage/temporary_directory.h"

namespace firn::storage {
namespace {

using testing::HasSubstr;

/// TMPDIR for the length of a test.
class ScratchFileTest : public testing::Test {
 protected:
  ScratchFileTest() {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    UseDirectory(directory_.path());
  }
  ~ScratchFileTest() override {
    before_ ? UseDirectory(*before_) : static_cast<void>(::unsetenv("TMPDIR"));
  }

  static void UseDirectory(const std::string& path) {
    ::setenv("TMPDIR", path.c_str(), /*overwrite=*/1);
  }

  static std::string Read(const ScratchFile& file, std::int64_t position,
                          std::size_t nbytes) {
    std::string bytes(nbytes, '\0');
    const auto count =
        file.ReadAt(position, static_cast<std::int64_t>(nbytes), bytes.data());
    if (!count.ok()) return count.status().ToString();
    bytes.resize(static_cast<std::size_t>(*count));
    return bytes;
  }

  const TemporaryDirectory directory_ = TemporaryDirectory::Make().ValueOrDie();
  std::optional<std::string> before_;
};

TEST_F(ScratchFileTest, GivesBackWhatWasAppended) {
  const auto file = ScratchFile::Make().ValueOrDie();
  ASSERT_TRUE(file->Append("0123").ok());
  ASSERT_TRUE(file->Append("456789").ok());
  EXPECT_EQ(file->size_bytes(), 10);
  EXPECT_EQ(Read(*file, 2, 5), "23456");
  EXPECT_EQ(Read(*file, 8, 5), "89");
  EXPECT_EQ(Read(*file, 20, 5), "");
}

TEST_F(ScratchFileTest, LeavesNothingBehindHoweverTheProcessEnds) {
  const auto file = ScratchFile::Make().ValueOrDie();
  ASSERT_TRUE(file->Append("bytes").ok());
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(ScratchFileTest, ADirectoryThatIsNotThereIsNamed) {
  UseDirectory(directory_.path() + "/missing");
  const Status status = ScratchFile::Make().status();
  EXPECT_TRUE(status.IsIOError());
  EXPECT_THAT(ErrorText(status), HasSubstr(directory_.path() + "/missing: No such file"));
  EXPECT_THAT(ErrorText(status), HasSubstr("set TMPDIR to a directory with more room"));
}

}  // namespace
}  // namespace firn::storage
