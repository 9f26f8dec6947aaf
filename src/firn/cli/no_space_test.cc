#include <algorithm>
#include <filesystem>
#include <fstream>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/cli/commands.h"
#include "firn/cli/letter_files.h"
#include "firn/cli/table_access.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/temporary_directory.h"
#include "firn/wal/batch_note.h"

namespace firn::cli {
namespace {

constexpr const char* kTable = "db.people";
constexpr const char* kLetters = "db.people__dead_letters";
constexpr std::int64_t kRecords = 3000;
/// So that a loop that never ends is a failure.
constexpr std::int64_t kWritesMax = 200;
/// No write has this number.
constexpr std::int64_t kNever = 0;

/// The command whose writes fail.
enum class Step { kLoad, kLoadIntoWal, kShift };

/// A warehouse on a disk that is full at the n-th write of one command.
class NoSpaceTest : public testing::TestWithParam<Step> {
 protected:
  NoSpaceTest() {
    const std::string configuration = folder_.path() + "/firn.yaml";
    std::ofstream(configuration) << "warehouse: " << folder_.path()
                                 << "/warehouse\n"
                                    "wal: {flush_bytes: 16KiB, retention: 0s}\n";
    config_ = LoadConfig({.file = configuration, .warehouse = std::nullopt}).ValueOrDie();
    std::ofstream file(folder_.path() + "/people.csv");
    file << "id,name\n";
    // Every tenth does not fit.
    for (std::int64_t i = 0; i < kRecords; ++i) {
      file << (i % 10 == 9 ? fmt::format("x{},bad\n", i) : fmt::format("{},good\n", i));
    }
  }

  CommandContext Context(std::int64_t failing_write) {
    return {.config = config_,
            .runtime = SystemRuntime(),
            .stop = {},
            .wrap_store = [this, failing_write](storage::ObjectStore& store) {
              return std::make_unique<storage::FaultyStore>(
                  SystemRuntime(), store, [=, this](const storage::StoreCall& call) {
                    return FaultOf(call, failing_write);
                  });
            }};
  }

  storage::Fault FaultOf(const storage::StoreCall& call, std::int64_t failing_write) {
    // A shift makes room; it goes on without the note of a batch.
    const bool must_fail = call.operation == storage::StoreOperation::kPutWhole &&
                           call.key.find(wal::kBatchesPrefix) == std::string::npos;
    if (!must_fail) return storage::kPass;
    MutexLock lock(mutex_);
    return ++writes_ == failing_write ? storage::kNoSpaceLeft : storage::kPass;
  }

  /// A table, and for a shift what is to be shifted.
  void SetUpWarehouse() {
    std::filesystem::remove_all(folder_.path() + "/warehouse");
    const Status created = RunTableCreate(
        Context(kNever), {.table = kTable, .columns = "id long, name string"});
    ASSERT_TRUE(created.ok()) << created;
    if (GetParam() == Step::kShift) {
      ASSERT_TRUE(RunLoad(Context(kNever), Load(/*wal_only=*/true)).ok());
    }
  }

  Status RunStep(std::int64_t failing_write) {
    writes_ = 0;
    const CommandContext context = Context(failing_write);
    if (GetParam() == Step::kShift) return RunShift(context, {.table = "", .all = true});
    return RunLoad(context, Load(GetParam() == Step::kLoadIntoWal));
  }

  void ExpectEachRecordOnce() {
    std::vector<std::int64_t> good, bad;
    for (std::int64_t i = 0; i < kRecords; ++i) (i % 10 == 9 ? bad : good).push_back(i);
    EXPECT_EQ(Numbers(kTable, 0), good);
    EXPECT_EQ(Numbers(kLetters, 2), bad);
  }

  /// A column of longs of a table, sorted; nothing of a table that is not there.
  std::vector<std::int64_t> Numbers(const std::string& table, int column) {
    const auto workspace =
        Workspace::Open(config_, SystemRuntime(), WorkspaceMode::kExisting).ValueOrDie();
    const auto found = FindTable(*workspace, table);
    std::vector<std::int64_t> numbers;
    if (!found.ok()) return numbers;
    for (const auto& file : ListLetterFiles(*workspace, *found).ValueOrDie()) {
      const auto rows = OpenLetterFile(*workspace, *found, file).ValueOrDie();
      while (const auto batch = rows->Next().ValueOrDie()) {
        const auto& longs = static_cast<const arrow::Int64Array&>(*batch->column(column));
        for (std::int64_t i = 0; i < longs.length(); ++i)
          numbers.push_back(longs.Value(i));
      }
    }
    std::ranges::sort(numbers);
    return numbers;
  }

  LoadArguments Load(bool wal_only) const {
    LoadArguments load = {.table = kTable, .files = {folder_.path() + "/people.csv"}};
    load.id = "once";
    load.wal_only = wal_only;
    return load;
  }

  storage::TemporaryDirectory folder_ = storage::TemporaryDirectory::Make().ValueOrDie();
  Config config_;
  Mutex mutex_{SystemRuntime()};
  /// Of the command that runs; guarded by mutex_.
  std::int64_t writes_ = 0;
};

TEST_P(NoSpaceTest, WhicheverWriteFailsTheNextRunGoesOn) {
  std::int64_t failures = 0;
  for (std::int64_t write = 1;; ++write) {
    SCOPED_TRACE(fmt::format("write {}", write));
    ASSERT_LE(write, kWritesMax);
    SetUpWarehouse();
    const Status failed = RunStep(write);
    if (writes_ < write) break;
    ++failures;
    EXPECT_THAT(ErrorText(failed), testing::HasSubstr("No space left on device"));
    const std::size_t rows = Numbers(kTable, 0).size();
    EXPECT_TRUE(rows == 0 || rows == kRecords - kRecords / 10) << rows;

    const Status gone_on = RunStep(kNever);
    EXPECT_TRUE(gone_on.ok()) << gone_on;
    if (GetParam() == Step::kLoadIntoWal) {
      EXPECT_TRUE(RunShift(Context(kNever), {.table = "", .all = true}).ok());
    }
    ExpectEachRecordOnce();
  }
  EXPECT_GT(failures, 5);
}

INSTANTIATE_TEST_SUITE_P(Steps, NoSpaceTest,
                         testing::Values(Step::kLoad, Step::kLoadIntoWal, Step::kShift));

}  // namespace
}  // namespace firn::cli
