#include "firn/storage/local_store.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/storage/local_file.h"
#include "firn/storage/location.h"
#include "firn/storage/temporary_directory.h"

namespace firn::storage {
namespace {

/// Everything that this thread has synced.
std::vector<std::string>& SyncedPaths() {
  thread_local std::vector<std::string> folders;
  return folders;
}

}  // namespace
}  // namespace firn::storage

/// In the place of the C library's: notes what is synced.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): theirs is __fd
extern "C" int fsync(int descriptor) {
  std::error_code ignored;
  firn::storage::SyncedPaths().push_back(
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor), ignored)
          .string());
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace firn::storage {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

unsigned ModeOf(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

/// Names of all files below `root`, temporary ones too, relative to it.
std::vector<std::string> FilesBelow(const std::string& root) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_directory()) names.push_back(fs::relative(entry.path(), root).string());
  }
  return names;
}

/// The superuser may write anywhere; while this lives, the process is nobody special.
class WithoutPrivileges {
 public:
  WithoutPrivileges() {
    if (is_superuser_) {
      EXPECT_EQ(::seteuid(kNobody), 0);
    }
  }
  ~WithoutPrivileges() {
    if (is_superuser_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }

 private:
  static constexpr uid_t kNobody = 65534;
  const bool is_superuser_ = ::geteuid() == 0;
};

/// While this lives, no file grows beyond `bytes`: a disk that is full.
class WithFileSizeLimit {
 public:
  explicit WithFileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~WithFileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*const handler_)(int);
};

class LocalStoreTest : public testing::Test {
 protected:
  std::unique_ptr<LocalStore> Open(const std::string& name) {
    return LocalStore::Make(runtime_, InDirectory(name)).ValueOrDie();
  }
  std::string InDirectory(const std::string& name) {
    return directory_.path() + "/" + name;
  }

  FakeRuntime runtime_;
  const TemporaryDirectory directory_ = TemporaryDirectory::Make().ValueOrDie();
};

TEST_F(LocalStoreTest, TheUmaskSaysForWhomThingsAre) {
  const mode_t before = ::umask(0027);
  ASSERT_TRUE(Open("x/root")->PutWhole("folder/sub/a", "text").ok());
  ::umask(before);
  for (const char* folder : {"x", "x/root", "x/root/folder", "x/root/folder/sub"}) {
    EXPECT_EQ(ModeOf(InDirectory(folder)), 0750u) << folder;
  }
  EXPECT_EQ(ModeOf(InDirectory("x/root/folder/sub/a")), 0640u);
}

TEST_F(LocalStoreTest, LeavesTheModeOfARootThatIsThere) {
  fs::create_directory(InDirectory("root"));
  fs::permissions(InDirectory("root"), fs::perms(0755));
  Open("root");
  EXPECT_EQ(ModeOf(InDirectory("root")), 0755u);
}

TEST_F(LocalStoreTest, PutLeavesNothingBesideTheObject) {
  const auto store = Open("root");
  ASSERT_TRUE(store->PutWhole("a", "1").ok());
  ASSERT_TRUE(store->PutWhole("a", "2").ok());
  ASSERT_TRUE(store->PutWhole("b", "1", PutMode::kIfAbsent).ok());
  ASSERT_FALSE(store->PutWhole("b", "2", PutMode::kIfAbsent).ok());
  EXPECT_THAT(FilesBelow(store->Path("")), testing::UnorderedElementsAre("a", "b"));
}

TEST_F(LocalStoreTest, AFailedPutLeavesNothing) {
  const auto store = Open("root");
  ASSERT_TRUE(store->PutWhole("a", "before").ok());
  Status status;
  {
    WithFileSizeLimit limit(1000);
    status = store->PutWhole("a", std::string(5000, 'x'));
  }
  EXPECT_TRUE(status.IsIOError());
  EXPECT_THAT(ErrorText(status), HasSubstr("File too large"));
  EXPECT_THAT(FilesBelow(store->Path("")), ElementsAre("a"));
  EXPECT_EQ(store->GetWhole("a").ValueOrDie(), "before");
}

TEST_F(LocalStoreTest, WhatIsUnfinishedHasNoName) {
  const auto store = Open("root");
  const auto writer = store->PutInPieces("a").ValueOrDie();
  ASSERT_TRUE(writer->Append("half").ok());
  EXPECT_THAT(FilesBelow(store->Path("")), IsEmpty()) << "a crash now would leave it";
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_THAT(FilesBelow(store->Path("")), ElementsAre("a"));
}

TEST_F(LocalStoreTest, WhereFilesMustHaveANameTheyArePublishedAlike) {
  const std::string target = InDirectory("a");
  const auto publish = [&](std::string_view bytes, PutMode mode) {
    auto file = TemporaryFile::MakeNamed(runtime_, directory_.path()).ValueOrDie();
    EXPECT_TRUE(file.Append(bytes).ok());
    return file.Publish(target, mode);
  };
  EXPECT_TRUE(publish("1", PutMode::kIfAbsent).ok());
  EXPECT_TRUE(IsError(publish("2", PutMode::kIfAbsent), ErrorKind::kAlreadyExists));
  EXPECT_TRUE(publish("3", PutMode::kOverwrite).ok());
  EXPECT_THAT(FilesBelow(directory_.path()), ElementsAre("a"));
  EXPECT_EQ(fs::file_size(target), 1u);
}

TEST_F(LocalStoreTest, LeftoversAreInvisible) {
  const auto store = Open("root");
  ASSERT_TRUE(store->PutWhole("folder/a", "1").ok());
  std::ofstream(store->Path("folder") + "/.firn-put-0123456789abcdef") << "half";
  EXPECT_EQ(store->List("").ValueOrDie().size(), 1u);
  EXPECT_THAT(store->List("folder/.").ValueOrDie(), IsEmpty());
}

TEST_F(LocalStoreTest, UnwritableDirectoryIsNamedWithAdvice) {
  const auto store = Open("root");
  fs::permissions(directory_.path(), fs::perms(0755));
  fs::permissions(store->Path(""), fs::perms(0555));
  WithoutPrivileges nobody;
  for (const char* key : {"a", "folder/a"}) {
    const Status status = store->PutWhole(key, "text");
    EXPECT_TRUE(status.IsIOError()) << key;
    EXPECT_THAT(ErrorText(status), HasSubstr(store->Path("")));
    EXPECT_THAT(ErrorText(status), HasSubstr("Permission denied; give this user access"));
  }
  EXPECT_THAT(FilesBelow(store->Path("")), IsEmpty());
}

TEST_F(LocalStoreTest, UnreadableObjectIsNotMissing) {
  const auto store = Open("root");
  ASSERT_TRUE(store->PutWhole("a", "text").ok());
  fs::permissions(directory_.path(), fs::perms(0755));
  fs::permissions(store->Path(""), fs::perms(0755));
  fs::permissions(store->Path("a"), fs::perms::none);
  WithoutPrivileges nobody;
  const Status status = store->GetWhole("a").status();
  EXPECT_FALSE(IsError(status, ErrorKind::kNotFound));
  EXPECT_THAT(ErrorText(status), HasSubstr("Permission denied"));
}

TEST_F(LocalStoreTest, FileInPlaceOfTheRootIsRefused) {
  std::ofstream(InDirectory("file")) << "text";
  for (const char* root : {"file", "file/root"}) {
    const Status status = LocalStore::Make(runtime_, InDirectory(root)).status();
    EXPECT_TRUE(status.IsIOError()) << root;
    EXPECT_THAT(ErrorText(status), HasSubstr("move one away"));
  }
  EXPECT_TRUE(LocalStore::Make(runtime_, "").status().IsInvalid());
}

TEST_F(LocalStoreTest, ObjectInPlaceOfAFolderIsRefused) {
  const auto store = Open("root");
  ASSERT_TRUE(store->PutWhole("a", "text").ok());
  EXPECT_TRUE(store->PutWhole("a/b", "text").IsIOError());
  ASSERT_TRUE(store->PutWhole("folder/b", "text").ok());
  EXPECT_FALSE(store->PutWhole("folder", "text").ok());
  EXPECT_THAT(FilesBelow(store->Path("")),
              testing::UnorderedElementsAre("a", "folder/b"));
}

TEST_F(LocalStoreTest, FoldersThatWereRemovedAreMadeAgain) {
  const auto store = Open("root");
  ASSERT_TRUE(store->PutWhole("x/y/a", "1").ok());
  fs::remove_all(store->Path("x"));
  EXPECT_TRUE(store->PutWhole("x/y/a", "2").ok());
  EXPECT_EQ(store->GetWhole("x/y/a").ValueOrDie(), "2");
}

TEST_F(LocalStoreTest, DeleteLeavesEmptyFolders) {
  const auto store = Open("root");
  ASSERT_TRUE(store->PutWhole("x/y/a", "1").ok());
  ASSERT_TRUE(store->Delete("x/y/a").ok());
  EXPECT_TRUE(fs::is_directory(store->Path("x/y")));
  EXPECT_THAT(store->List("").ValueOrDie(), IsEmpty());
}

TEST_F(LocalStoreTest, ObjectsCanBeReadInPlace) {
  const auto store = Open("ro ot%20#1");
  ASSERT_TRUE(store->PutWhole("x/a b", "text").ok());
  const std::string path = LocalPathOf(store->Location("x/a b")).ValueOrDie();
  EXPECT_EQ(path, store->Path("x/a b"));
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "text");
}

TEST_F(LocalStoreTest, TheRootOfTheFileSystemWillDo) {
  const auto store = LocalStore::Make(runtime_, "/").ValueOrDie();
  const std::string key = InDirectory("x/a").substr(1);
  ASSERT_TRUE(store->PutWhole(key, "text").ok());
  EXPECT_EQ(store->GetWhole(key).ValueOrDie(), "text");
  EXPECT_EQ(store->Location(key), "file:///" + key);
  const auto listed = store->List(key.substr(0, key.size() - 1)).ValueOrDie();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].key, key);
}

TEST_F(LocalStoreTest, RelativeRootsBecomeAbsolute) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_.path());
  const auto store = LocalStore::Make(runtime_, "./x/../root/").ValueOrDie();
  fs::current_path(before);
  EXPECT_EQ(store->Path("a"), InDirectory("root/a"));
}

TEST_F(LocalStoreTest, SymbolicLinksAreFollowed) {
  const auto store = Open("root");
  fs::create_directory(InDirectory("elsewhere"));
  fs::create_directory_symlink(InDirectory("elsewhere"), store->Path("link"));
  ASSERT_TRUE(store->PutWhole("link/a", "text").ok());
  EXPECT_TRUE(fs::exists(InDirectory("elsewhere/a")));
  EXPECT_EQ(store->List("link").ValueOrDie().size(), 1u);
}

/// Kills a copy of this process in the middle of a Put. The copy runs the test again from
/// its start, so the directory's name travels in the environment.
class LocalStoreDeathTest : public testing::Test {
 protected:
  LocalStoreDeathTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (const char* root = std::getenv(kRootVariable)) {
      root_ = root;
      return;
    }
    directory_.emplace(TemporaryDirectory::Make().ValueOrDie());
    root_ = directory_->path();
    ::setenv(kRootVariable, root_.c_str(), 1);
  }
  ~LocalStoreDeathTest() override { ::unsetenv(kRootVariable); }

  void PutAndDieAt(const char* crash_point) {
    ::setenv("FIRN_CRASH_POINT", crash_point, 1);
    LocalStore::Make(SystemRuntime(), root_).ValueOrDie()->PutWhole("a", "text").ok();
  }
  std::vector<ObjectInfo> Listed() {
    return LocalStore::Make(SystemRuntime(), root_).ValueOrDie()->List("").ValueOrDie();
  }

  static constexpr char kRootVariable[] = "FIRN_STORAGE_TEST_ROOT";
  std::optional<TemporaryDirectory> directory_;
  std::string root_;
};

TEST_F(LocalStoreDeathTest, KilledBeforeTheRenameLeavesNoObject) {
  EXPECT_EXIT(PutAndDieAt("storage.put.before_rename"), testing::KilledBySignal(SIGKILL),
              "");
  EXPECT_THAT(Listed(), IsEmpty());
  EXPECT_THAT(FilesBelow(root_), IsEmpty()) << "what has no name ends with the process";
}

TEST_F(LocalStoreDeathTest, KilledAfterTheRenameLeavesTheWholeObject) {
  EXPECT_EXIT(PutAndDieAt("storage.put.after_rename"), testing::KilledBySignal(SIGKILL),
              "");
  ASSERT_EQ(Listed().size(), 1u);
  EXPECT_EQ(Listed()[0].size_bytes, 4);
}

TEST_F(LocalStoreTest, ARootThatIsMissingIsEmptyAndStaysMissing) {
  const auto store = LocalStore::At(runtime_, InDirectory("none")).ValueOrDie();
  EXPECT_THAT(store->List("").ValueOrDie(), IsEmpty());
  EXPECT_TRUE(IsError(store->GetWhole("a").status(), ErrorKind::kNotFound));
  EXPECT_FALSE(store->PutWhole("a", "1").ok());
  EXPECT_FALSE(fs::exists(InDirectory("none")));
}

TEST_F(LocalStoreTest, WhatIsListedIsDurable) {
  const auto store = Open("root");
  ASSERT_TRUE(store->PutWhole("a/b/x", "1").ok());
  ASSERT_TRUE(store->PutWhole("a/c/y", "1").ok());
  fs::create_directory(store->Path("a/empty"));
  SyncedPaths().clear();
  ASSERT_TRUE(store->List("a/").ok());
  EXPECT_THAT(SyncedPaths(),
              testing::UnorderedElementsAre(store->Path("a"), store->Path("a/b"),
                                            store->Path("a/c")));
}

TEST_F(LocalStoreTest, FoldersAboveWhatIsListedAreDurable) {
  ASSERT_TRUE(Open("root")->PutWhole("a/b/c/x", "1").ok());
  const auto store = Open("root");
  SyncedPaths().clear();
  ASSERT_TRUE(store->List("a/b/c/").ok());
  EXPECT_THAT(SyncedPaths(),
              testing::UnorderedElementsAre(store->Path(""), store->Path("a"),
                                            store->Path("a/b"), store->Path("a/b/c")));
  SyncedPaths().clear();
  ASSERT_TRUE(store->List("a/b/c/").ok());
  EXPECT_THAT(SyncedPaths(), testing::ElementsAre(store->Path("a/b/c")));
}

TEST_F(LocalStoreTest, ARootThatIsThereIsDurable) {
  const auto store = Open("root");
  SyncedPaths().clear();
  Open("root");
  EXPECT_THAT(SyncedPaths(),
              testing::ElementsAre(fs::path(store->Path("")).parent_path()));
}

TEST_F(LocalStoreTest, WhatIsThereAlreadyIsDurable) {
  const auto store = Open("root");
  ASSERT_TRUE(store->PutWhole("a/x", "1", PutMode::kIfAbsent).ok());
  SyncedPaths().clear();
  EXPECT_TRUE(IsError(store->PutWhole("a/x", "2", PutMode::kIfAbsent),
                      ErrorKind::kAlreadyExists));
  EXPECT_THAT(SyncedPaths(), testing::Contains(store->Path("a")));
}

}  // namespace
}  // namespace firn::storage
