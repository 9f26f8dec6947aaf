#include "firn/jobs/file_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "firn/jobs/test_pipeline.h"
#include "firn/sources/files/test_folder.h"

namespace firn::jobs {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

std::string Lines(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) text += fmt::format("{{\"id\":{}}}\n", i);
  return text;
}

class FileFollowerTest : public ::testing::Test {
 protected:
  FileFollowerTest() { test_.Start(); }

  void Follow() {
    follower_ = std::make_unique<FileFollower>(
        test_.pipeline(), FollowedFolder{.table = "db.t",
                                         .files = {.folder = std::string(folder_.path()),
                                                   .stable_for = Duration(0)},
                                         .format = format_,
                                         .evolves = evolves_,
                                         .poll_interval = milliseconds(5)});
  }

  /// Ends this process's part, and begins another's.
  void Restart() {
    follower_ = nullptr;
    test_.Start();
    Follow();
  }

  /// Whole at once, as if it was renamed.
  void Write(const std::string& name, const std::string& text) {
    folder_.Write("." + name, text);
    const std::string folder(folder_.path());
    std::filesystem::rename(folder + "/." + name, folder + "/" + name);
  }

  std::int64_t Taken() {
    return test_.metrics()
        .GetCounter({.name = "firn_files_taken_total",
                     .help = "Files of followed folders of which all records are "
                             "durable.",
                     .labels = {{"table", "db.t"}}})
        .value();
  }
  std::int64_t Failures() {
    return test_.metrics()
        .GetCounter({.name = "firn_files_failures_total",
                     .help = "Attempts to take a file of a followed folder that failed.",
                     .labels = {{"table", "db.t"}}})
        .value();
  }
  bool EventuallyTaken(std::int64_t files) {
    return test_.Eventually([&] { return Taken() >= files; });
  }

  sources::FileOptions format_;
  bool evolves_ = false;
  // Of the faults that threads meet until they end.
  std::atomic<int> calls_ = 0;
  sources::TestFolder folder_;
  TestPipeline test_;
  std::unique_ptr<FileFollower> follower_;
};

TEST_F(FileFollowerTest, EachFileLandsOnce) {
  Write("a.ndjson", Lines(0, 10));
  Follow();
  ASSERT_TRUE(EventuallyTaken(1));
  Write("b.ndjson", Lines(10, 5));
  ASSERT_TRUE(EventuallyTaken(2));
  EXPECT_TRUE(test_.EventuallyHasRows(15));
  Restart();
  Write("c.ndjson", Lines(20, 1));
  ASSERT_TRUE(EventuallyTaken(3));
  EXPECT_TRUE(test_.EventuallyHasRows(16));
  EXPECT_EQ(Taken(), 3);
}

TEST_F(FileFollowerTest, AnotherTimeOfChangeMakesNoOtherFile) {
  Write("a.ndjson", Lines(0, 10));
  Follow();
  ASSERT_TRUE(EventuallyTaken(1));
  Write("a.ndjson", Lines(0, 10));
  Restart();
  Write("b.ndjson", Lines(20, 1));
  ASSERT_TRUE(EventuallyTaken(2));
  EXPECT_TRUE(test_.EventuallyHasRows(11));
}

TEST_F(FileFollowerTest, OtherContentUnderOnePathIsAnotherFile) {
  Write("a.ndjson", Lines(0, 10));
  Follow();
  ASSERT_TRUE(EventuallyTaken(1));
  Write("a.ndjson", Lines(1, 10));
  ASSERT_TRUE(EventuallyTaken(2));
  EXPECT_TRUE(test_.EventuallyHasRows(20));
}

TEST_F(FileFollowerTest, RecordsThatDoNotFitAreDeadLetters) {
  Write("a.ndjson", Lines(0, 3) + "nonsense\n" + Lines(3, 3) + "{}\n");
  Follow();
  ASSERT_TRUE(EventuallyTaken(1));
  EXPECT_TRUE(test_.EventuallyHasRows(6));
  EXPECT_TRUE(test_.EventuallyHasRows(2, "db.t__dead_letters"));
  EXPECT_NE(test_.Request("GET", "/metrics")
                .find("firn_dead_letters_records_total{reason=\"malformed\",table=\"db."
                      "t\"} 1"),
            std::string::npos);
}

TEST_F(FileFollowerTest, AFileWithoutARecordThatFitsIsTakenToo) {
  Write("a.ndjson", "nonsense\n{}\n");
  Write("b.ndjson", Lines(0, 2));
  Follow();
  ASSERT_TRUE(EventuallyTaken(2));
  EXPECT_TRUE(test_.EventuallyHasRows(2));
  EXPECT_TRUE(test_.EventuallyHasRows(2, "db.t__dead_letters"));
}

TEST_F(FileFollowerTest, AFileThatCannotBeReadIsLeftOutUntilItChanges) {
  Write("bad.csv", "nothing_of_this_table\n1\n");
  Write("good.ndjson", Lines(0, 2));
  Follow();
  ASSERT_TRUE(EventuallyTaken(1));
  Write("bad.csv", "id\n7\n");
  ASSERT_TRUE(EventuallyTaken(2));
  EXPECT_TRUE(test_.EventuallyHasRows(3));
}

TEST_F(FileFollowerTest, AFileMayAddColumns) {
  evolves_ = true;
  Write("a.ndjson", "{\"id\":1,\"x\":1}\n");
  Follow();
  ASSERT_TRUE(EventuallyTaken(1));
  Write("b.csv", "id,y\n2,0.5\n");
  ASSERT_TRUE(EventuallyTaken(2));
  EXPECT_TRUE(test_.EventuallyHasRows(2));
  EXPECT_EQ(test_.Columns(), "id: long, name: string, x: long, y: double");
}

TEST_F(FileFollowerTest, UnknownFieldsGoToTheirColumn) {
  format_.unknown_fields_column = "rest";
  Write("a.ndjson", "{\"id\":1,\"x\":1}\n{\"id\":2,\"Name\":\"a\"}\n");
  Follow();
  ASSERT_TRUE(EventuallyTaken(1));
  Write("b.csv", "id,name\n2,a\n");
  ASSERT_TRUE(EventuallyTaken(2));
  EXPECT_TRUE(test_.EventuallyHasRows(2));
  EXPECT_TRUE(test_.EventuallyHasRows(1, "db.t__dead_letters"));
  EXPECT_EQ(test_.Columns(), "id: long, name: string, rest: map<string, string>");
}

TEST_F(FileFollowerTest, AColumnThatCannotKeepThemHoldsFilesUpAndLeavesNoneOut) {
  format_.unknown_fields_column = "name";
  Write("a.ndjson", "{\"id\":1,\"x\":1}\n");
  Follow();
  ASSERT_TRUE(test_.Eventually([&] { return Failures() >= 2; }));
  EXPECT_EQ(Taken(), 0);
  follower_ = nullptr;
  format_.unknown_fields_column = "rest";
  Follow();
  ASSERT_TRUE(EventuallyTaken(1));
  EXPECT_TRUE(test_.EventuallyHasRows(1));
}

TEST_F(FileFollowerTest, AFileThatTheTableCannotTakeIsLeftOut) {
  evolves_ = true;
  Write("a.csv", "id,Name\n1,a\n");
  Write("b.ndjson", Lines(0, 1));
  Follow();
  ASSERT_TRUE(EventuallyTaken(1));
  EXPECT_TRUE(test_.EventuallyHasRows(1));
  EXPECT_EQ(test_.Columns(), "id: long, name: string");
}

TEST_F(FileFollowerTest, AStoreThatFailsNowAndThenLosesNothingAndDoublesNothing) {
  test_.wal_faults() = [&](const storage::StoreCall& call) {
    const bool is_segment = call.operation == storage::StoreOperation::kPutWhole &&
                            call.key.ends_with(".parquet");
    if (!is_segment) return storage::kPass;
    const int number = ++calls_;
    if (number == 2) return storage::kFailBefore;
    return number == 5 ? storage::kApplyThenUnknown : storage::kPass;
  };
  test_.options().buffer.flush_bytes = 2000;
  test_.Start();
  for (int i = 0; i < 4; ++i) Write(fmt::format("{}.ndjson", i), Lines(i * 500, 500));
  Follow();
  ASSERT_TRUE(EventuallyTaken(4));
  EXPECT_TRUE(test_.EventuallyHasRows(2000));
}

TEST_F(FileFollowerTest, AFollowerThatIsStoppedGoesOnLater) {
  test_.options().buffer.flush_age = hours(1);
  test_.Start();
  Write("a.ndjson", Lines(0, 100));
  Follow();
  ASSERT_TRUE(test_.Eventually([&] { return test_.buffer_memory().used_bytes() > 0; }));
  test_.options().buffer.flush_age = milliseconds(5);
  Restart();
  ASSERT_TRUE(EventuallyTaken(1));
  EXPECT_TRUE(test_.EventuallyHasRows(100));
}

}  // namespace
}  // namespace firn::jobs
