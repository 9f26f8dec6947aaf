#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/shift/table_shift.h"
#include "firn/shift/test_warehouse.h"

namespace firn::shift {
namespace {

using testing::HasSubstr;

/// Three segments, an iteration each, and a catalog that is slow with the first commit.
class InFlightTest : public testing::Test {
 protected:
  InFlightTest() {
    warehouse_.options().iteration.iteration_bytes = 1;
    for (const char* row : {"a1", "b2", "c3"}) warehouse_.Write(row);
    warehouse_.observer().on_planned = [this](const auto&) { OnPlanned(); };
    warehouse_.catalog_script().before_load = [this] {
      // Of the plan that finds nothing more: the committer waits, and loads nothing.
      if (planned_ == 3) all_submitted_ = true;
      return Status::OK();
    };
  }

  /// The first commit takes until all three batches are in flight; then `meanwhile`
  /// happens, and its outcome is the catalog's answer.
  void HoldFirstCommit(const std::function<Status()>& meanwhile) {
    is_held_ = true;
    warehouse_.catalog_script().before_commit = [this, meanwhile](const auto&) {
      if (++commits_ > 1) return Status::OK();
      while (!all_submitted_) SystemRuntime().Sleep(Duration(100));
      return meanwhile();
    };
  }

  /// A commit that begins late would take the second batch, too.
  void OnPlanned() {
    if (++planned_ == 1) return;
    while (is_held_ && commits_ == 0) SystemRuntime().Sleep(Duration(100));
  }

  TestWarehouse warehouse_;
  bool is_held_ = false;
  std::atomic<int> planned_ = 0;
  std::atomic<int> commits_ = 0;
  std::atomic<bool> all_submitted_ = false;
};

TEST_F(InFlightTest, WhatIsPlannedWhileACommitIsSlowIsOneCommit) {
  HoldFirstCommit([] { return Status::OK(); });
  const ShiftReport report = warehouse_.Shift();
  EXPECT_EQ(report.figures.commits, 2);
  EXPECT_EQ(report.figures.rows, 3);
  EXPECT_EQ(warehouse_.Snapshots(), 2);
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2] [c3]");
  EXPECT_THAT(warehouse_.ShardPositions(), testing::ElementsAre(3U));
}

TEST_F(InFlightTest, WhatIsInFlightHoldsNoMemoryOfTheBudget) {
  HoldFirstCommit([] { return Status::OK(); });
  warehouse_.observer().on_planned = [this](const auto&) {
    OnPlanned();
    EXPECT_EQ(warehouse_.memory().used_bytes(), 0);
  };
  warehouse_.Shift();
  EXPECT_EQ(planned_, 3);
}

TEST_F(InFlightTest, WhatIsPlannedUponASupersededBatchIsPlannedAgain) {
  HoldFirstCommit([this] {
    warehouse_.options().iteration.iteration_bytes = 1LL << 30;
    TestObserver rival;
    EXPECT_TRUE(warehouse_.NewShift().Run({}, rival).ok());
    return Status::OK();
  });
  warehouse_.OpenShard();
  const ShiftReport report = warehouse_.Shift();
  EXPECT_EQ(report.superseded, 3);
  EXPECT_EQ(report.figures.commits, 0);
  EXPECT_EQ(warehouse_.Files(), "[a1 b2 c3]");
}

TEST_F(InFlightTest, ACommitThatFailsDropsWhatWasPlannedUponIt) {
  HoldFirstCommit([] { return InvalidError("no such right"); });
  EXPECT_THAT(ErrorText(warehouse_.TryShift().status()), HasSubstr("no such right"));
  EXPECT_EQ(warehouse_.Snapshots(), 0);
  EXPECT_EQ(warehouse_.Shift().figures.rows, 3);
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2] [c3]");
}

TEST_F(InFlightTest, ACommitOfUnknownOutcomeIsLookedForBeforeTheNext) {
  HoldFirstCommit([] { return Status::OK(); });
  warehouse_.catalog_script().after_commit = [&, answers = 0]() mutable {
    return ++answers == 1 ? Error(ErrorKind::kOutcomeUnknown, "no answer") : Status::OK();
  };
  EXPECT_EQ(warehouse_.Shift().figures.rows, 3);
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2] [c3]");
}

TEST_F(InFlightTest, AStopCommitsWhatIsInFlightAndPlansNothing) {
  StopSource stop;
  HoldFirstCommit([&] {
    stop.RequestStop();
    return Status::OK();
  });
  warehouse_.options().commit_queue_size = 3;
  warehouse_.Write("d4");
  warehouse_.observer().on_planned = [this](const auto&) {
    // The fourth would be planned once a place is free.
    if (++planned_ == 3) all_submitted_ = true;
  };
  const Status stopped = warehouse_.TryShift(stop.token()).status();
  EXPECT_TRUE(IsError(stopped, ErrorKind::kCancelled)) << stopped;
  EXPECT_THAT(stopped.message(), HasSubstr("rows were committed before"));
  EXPECT_LE(planned_, 3);
  const std::string files = warehouse_.Files();
  EXPECT_THAT(files, testing::AnyOf("[a1] [b2]", "[a1] [b2] [c3]"));
  warehouse_.Shift();
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2] [c3] [d4]");
}

TEST_F(InFlightTest, AnErrorOfALaterPlanLeavesWhatIsInFlightToItsCommit) {
  warehouse_.Forge(warehouse_.Write("d4"), [](wal::SegmentFooter& footer) {
    footer.row_groups[0][0].metrics.at(3).value_count = 9;
  });
  HoldFirstCommit([] { return Status::OK(); });
  EXPECT_TRUE(IsError(warehouse_.TryShift().status(), ErrorKind::kCorruption));
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2] [c3]");
}

TEST_F(InFlightTest, StepsDoNotWaitForCommitsUntilTooManyAreInFlight) {
  std::atomic<bool> may_commit = false;
  warehouse_.catalog_script().before_commit = [&](const auto&) {
    while (!may_commit) SystemRuntime().Sleep(Duration(100));
    return Status::OK();
  };
  TableShift shift = warehouse_.NewShift();
  ASSERT_TRUE(shift.Advance({}, warehouse_.observer()).ok());
  EXPECT_EQ(shift.Settle().ValueOrDie().next, ShiftNext::kAwaitCommits);
  EXPECT_EQ(planned_, 3);
  for (const char* row : {"d4", "e5"}) warehouse_.Write(row);
  ASSERT_TRUE(shift.Advance({}, warehouse_.observer()).ok());
  const ShiftProgress full = shift.Settle().ValueOrDie();
  EXPECT_FALSE(full.has_place);
  EXPECT_EQ(full.next, ShiftNext::kAwaitCommits);
  EXPECT_EQ(full.report.figures.rows, 0);
  EXPECT_EQ(planned_, 4);
  may_commit = true;
  EXPECT_EQ(shift.Finish().ValueOrDie().figures.rows, 4);
  EXPECT_EQ(shift.Settle().ValueOrDie().next, ShiftNext::kDone);
  EXPECT_EQ(warehouse_.Files(), "[a1] [b2] [c3] [d4]");
}

}  // namespace
}  // namespace firn::shift
