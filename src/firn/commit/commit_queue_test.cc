#include "firn/commit/commit_queue.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

wal::Positions After(std::uint64_t through) {
  wal::Positions positions;
  positions.shards[TestShard()] = SegmentSequence(through);
  return positions;
}

/// Batch n covers segment n.
Batch Nth(int n) {
  const auto segment = static_cast<std::uint64_t>(n);
  return TestBatch(n, segment - 1, segment);
}

std::string Word(CommitTicket& ticket) {
  const auto outcome = ticket.Wait();
  if (!outcome.ok()) return ErrorText(outcome.status());
  return outcome->state == BatchState::kCommitted ? "committed" : "superseded";
}

/// Holds who passes until it is opened.
class Gate {
 public:
  explicit Gate(Runtime& runtime) : mutex_(runtime), opened_(runtime) {}

  void Open() {
    MutexLock lock(mutex_);
    is_open_ = true;
    opened_.NotifyAll();
  }
  void Pass() {
    MutexLock lock(mutex_);
    while (!is_open_) opened_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar opened_;
  bool is_open_ = false;  // guarded by mutex_
};

class CommitQueueTest : public testing::Test {
 protected:
  /// Keeps the catalog from answering the first commit until the gate is opened;
  /// `entered` is opened when it arrives.
  void HoldFirstCommit() {
    table_.script().before_commit = [this](const auto&) {
      if (++commits_ > 1) return Status::OK();
      entered_.Open();
      gate_.Pass();
      return Status::OK();
    };
  }

  std::shared_ptr<CommitTicket> Submit(int n) {
    return queue_.Submit(Nth(n), After(static_cast<std::uint64_t>(n)));
  }

  /// One submitter, as fast as the queue takes them.
  void ExpectTenBatchesInFourCommitsAtMost() {
    std::vector<std::shared_ptr<CommitTicket>> tickets;
    for (int n = 1; n <= 10; ++n) tickets.push_back(Submit(n));
    for (const auto& ticket : tickets) EXPECT_EQ(Word(*ticket), "committed");

    EXPECT_LE(commits_, 4);
    EXPECT_EQ(table_.Load().snapshots.size(), commits_);
    EXPECT_THAT(table_.LiveFiles(),
                ElementsAre("1", "10", "2", "3", "4", "5", "6", "7", "8", "9"));
    EXPECT_EQ(table_.Positions().last_batch, TestBatchId(10));
    EXPECT_EQ(table_.Positions().reached, After(10));
  }

  /// Returns once a submitter has arrived with batch n, waiting for a place or not.
  void AwaitArrivalOf(int n) {
    while (true) {
      const auto head = queue_.planned_head();
      if (head.has_value() && head->id >= TestBatchId(n)) return;
      table_.runtime().Sleep(Duration(1));
    }
  }

  TestTable table_;
  std::atomic<int> commits_ = 0;
  Gate gate_{table_.runtime()};
  Gate entered_{table_.runtime()};
  Committer committer_ = table_.NewCommitter();
  CommitQueue queue_{table_.runtime(), committer_, 5};
};

TEST_F(CommitQueueTest, ABatchIsCommittedWhileItsSubmitterWaits) {
  EXPECT_EQ(Word(*Submit(1)), "committed");
  EXPECT_EQ(Word(*Submit(2)), "committed");
  EXPECT_THAT(table_.LiveFiles(), ElementsAre("1", "2"));
  EXPECT_EQ(queue_.planned_head(), std::nullopt);
}

TEST_F(CommitQueueTest, TenRapidBatchesOnASlowCatalogTakeAtMostFourCommits) {
  table_.script().before_commit = [this](const auto&) {
    // The first commit takes one batch or more; while it lasts five can wait, and the
    // submitter stands there with a seventh. No later commit leaves a submitter waiting.
    AwaitArrivalOf(++commits_ == 1 ? 7 : 10);
    return Status::OK();
  };
  ExpectTenBatchesInFourCommitsAtMost();
}

TEST_F(CommitQueueTest, TenRapidBatchesTakeAtMostFourCommitsOfASecond) {
  // The one test that really waits: an arrival, not a latch, decides what a commit takes.
  table_.script().before_commit = [this](const auto&) {
    ++commits_;
    SystemRuntime().Sleep(std::chrono::seconds(1));
    return Status::OK();
  };
  ExpectTenBatchesInFourCommitsAtMost();
}

TEST_F(CommitQueueTest, PlannedHeadIsTheLastSubmitted) {
  HoldFirstCommit();
  EXPECT_EQ(queue_.planned_head(), std::nullopt);
  const auto first = Submit(1), second = Submit(2);
  EXPECT_EQ(queue_.planned_head(),
            (PlannedHead{.id = TestBatchId(2), .positions = After(2)}));
  gate_.Open();
  EXPECT_EQ(Word(*first) + " " + Word(*second), "committed committed");
  EXPECT_EQ(queue_.planned_head(), std::nullopt);
}

TEST_F(CommitQueueTest, AnotherParentOrStartIsSupersededAtOnce) {
  HoldFirstCommit();
  const auto first = Submit(1);
  EXPECT_EQ(Word(*Submit(3)), "superseded");
  EXPECT_EQ(Word(*queue_.Submit(TestBatch(2, 2, 3), After(3))), "superseded");
  const auto second = Submit(2);
  gate_.Open();
  EXPECT_EQ(Word(*first) + " " + Word(*second), "committed committed");
}

TEST_F(CommitQueueTest, ASupersededBatchTakesItsFollowersAlong) {
  Batch rival = TestBatch(11, 0, 1);
  rival.parent.reset();
  HoldFirstCommit();
  const auto first = Submit(1);
  entered_.Pass();
  const auto second = Submit(2), third = Submit(3);
  EXPECT_EQ(table_.Commit({rival}), "committed");
  gate_.Open();
  EXPECT_EQ(Word(*first), "superseded");
  EXPECT_EQ(Word(*second), "superseded");
  EXPECT_EQ(Word(*third), "superseded");
  EXPECT_EQ(queue_.planned_head(), std::nullopt);

  Batch next = TestBatch(4, 1, 2);
  EXPECT_EQ(Word(*queue_.Submit(next, After(2))), "superseded") << "of a dropped parent";
  next.id = TestBatchId(12);
  next.parent = TestBatchId(11);
  EXPECT_EQ(Word(*queue_.Submit(next, After(2))), "committed");
}

TEST_F(CommitQueueTest, ASubmitterThatWaitsForAPlaceIsSupersededToo) {
  Batch rival = TestBatch(11, 0, 1);
  rival.parent.reset();
  HoldFirstCommit();
  const auto first = Submit(1);
  entered_.Pass();
  for (int n = 2; n <= 6; ++n) Submit(n);
  std::shared_ptr<CommitTicket> last;
  Thread submitter(table_.runtime(), "submitter", [&] { last = Submit(7); });
  AwaitArrivalOf(7);
  EXPECT_EQ(table_.Commit({rival}), "committed");
  gate_.Open();
  submitter.Join();
  EXPECT_EQ(Word(*last), "superseded");
  EXPECT_EQ(queue_.planned_head(), std::nullopt);
}

TEST_F(CommitQueueTest, AnErrorStopsTheQueueAndReachesEveryTicket) {
  table_.script().before_commit = [this](const auto&) {
    entered_.Open();
    gate_.Pass();
    return InvalidError("no such right");
  };
  const auto first = Submit(1);
  entered_.Pass();
  const auto second = Submit(2);
  gate_.Open();
  EXPECT_THAT(Word(*first), HasSubstr("no such right"));
  EXPECT_THAT(Word(*second), HasSubstr("no such right"));
  EXPECT_THAT(Word(*Submit(3)), HasSubstr("no such right"));
  EXPECT_THAT(ErrorText(queue_.Close()), HasSubstr("no such right"));
}

TEST_F(CommitQueueTest, CloseCommitsWhatWaits) {
  HoldFirstCommit();
  const auto first = Submit(1);
  entered_.Pass();
  const auto second = Submit(2);
  gate_.Open();
  EXPECT_TRUE(queue_.Close().ok());
  EXPECT_EQ(Word(*first) + " " + Word(*second), "committed committed");
  EXPECT_TRUE(IsError(Submit(3)->Wait().status(), ErrorKind::kCancelled));
  EXPECT_TRUE(queue_.Close().ok());
}

TEST_F(CommitQueueTest, CloseTurnsAwayWhoWaitsForAPlace) {
  HoldFirstCommit();
  std::vector<std::shared_ptr<CommitTicket>> tickets = {Submit(1)};
  entered_.Pass();
  for (int n = 2; n <= 6; ++n) tickets.push_back(Submit(n));
  std::shared_ptr<CommitTicket> last;
  Thread submitter(table_.runtime(), "submitter", [&] { last = Submit(7); });
  AwaitArrivalOf(7);
  Thread closer(table_.runtime(), "closer", [&] { EXPECT_TRUE(queue_.Close().ok()); });
  submitter.Join();
  EXPECT_TRUE(IsError(last->Wait().status(), ErrorKind::kCancelled));
  gate_.Open();
  for (const auto& ticket : tickets) EXPECT_EQ(Word(*ticket), "committed");
}

TEST_F(CommitQueueTest, AMalformedBatchStopsNothing) {
  Batch batch = Nth(1);
  batch.id = BatchId("x");
  EXPECT_THAT(Word(*queue_.Submit(batch, After(1))), HasSubstr("no ULID"));
  EXPECT_EQ(Word(*Submit(1)), "committed");
}

TEST_F(CommitQueueTest, ATicketOutlivesItsQueue) {
  std::shared_ptr<CommitTicket> ticket;
  {
    Committer committer = table_.NewCommitter();
    CommitQueue queue(table_.runtime(), committer, 1);
    ticket = queue.Submit(Nth(1), After(1));
  }
  EXPECT_EQ(Word(*ticket), "committed");
}

}  // namespace
}  // namespace firn::commit
