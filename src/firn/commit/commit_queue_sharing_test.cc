#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/commit_queue.h"
#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

constexpr int kThreads = 8;
constexpr int kBatches = 64;

/// Batch n covers segment n.
Batch Nth(int n) {
  const auto segment = static_cast<std::uint64_t>(n);
  return TestBatch(n, segment - 1, segment);
}

/// The first commit lasts until batch 9 has arrived behind it.
void HoldFirstCommit(TestTable& table, CommitQueue& queue) {
  table.script().before_commit = [&table, &queue](const auto&) {
    while (queue.planned_head()->id < TestBatchId(9)) table.runtime().Sleep(Duration(1));
    return Status::OK();
  };
}

TEST(CommitQueueSharingTest, ThreadsOfAProcessShareTheQueueAndItsCommits) {
  TestTable table;
  Committer committer = table.NewCommitter();
  CommitQueue queue(table.runtime(), committer, 8);
  HoldFirstCommit(table, queue);
  Mutex turn(table.runtime());
  std::vector<std::shared_ptr<CommitTicket>> tickets;  // guarded by turn
  {
    std::vector<Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back(table.runtime(), "submitter", [&] {
        for (int k = 0; k < kBatches / kThreads; ++k) {
          MutexLock lock(turn);
          const int n = static_cast<int>(tickets.size()) + 1;
          tickets.push_back(queue.Submit(Nth(n), PositionsAfter({}, Nth(n))));
        }
      });
    }
  }
  for (const auto& ticket : tickets) {
    EXPECT_EQ(ticket->Wait().ValueOrDie().state, BatchState::kCommitted);
  }
  // Batches 1 to 8 take two commits at most.
  EXPECT_LE(table.Load().snapshots.size(), kBatches - 6U);
  std::vector<std::string> files;
  for (int n = 1; n <= kBatches; ++n) files.push_back(fmt::format("{}", n));
  EXPECT_THAT(table.LiveFiles(), testing::UnorderedElementsAreArray(files));
}

}  // namespace
}  // namespace firn::commit
