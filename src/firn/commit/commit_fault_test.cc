#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/reset.h"
#include "firn/commit/test_table.h"

/// Every fault at every step of a commit: docs/faults.md is the table.
namespace firn::commit {
namespace {

constexpr std::uint64_t kSegments = 4;

/// Of one attempt, in order.
enum class Step { kLoad, kManifest, kManifestList, kCatalog, kAnswer };

struct StepName {
  Step step;
  const char* name;
};
constexpr StepName kSteps[] = {{Step::kLoad, "at_load"},
                               {Step::kManifest, "at_manifest"},
                               {Step::kManifestList, "at_manifest_list"},
                               {Step::kCatalog, "before_catalog"},
                               {Step::kAnswer, "after_catalog"}};

enum class What {
  kFailBefore,
  kApplyThenFail,
  kLateRequest,
  kForeignCommit,
  kCompaction,
  kExpiry,
  kRollback,
  kDropAndCreate,
  kSecondPlanner,
};

struct WhatName {
  What what;
  const char* name;
};
constexpr WhatName kWhats[] = {
    {What::kFailBefore, "fail_before"},
    {What::kApplyThenFail, "apply_then_fail"},
    {What::kLateRequest, "late_request"},
    {What::kForeignCommit, "foreign_commit"},
    {What::kCompaction, "compaction"},
    {What::kExpiry, "expiry"},
    {What::kRollback, "rollback"},
    {What::kDropAndCreate, "drop_and_create"},
    {What::kSecondPlanner, "second_planner"},
};

struct FaultCase {
  WhatName what;
  StepName step;
};

/// A load has nothing to apply, and what fails after it was applied is no failure before.
bool IsPossible(What what, Step step) {
  if (what == What::kApplyThenFail) return step != Step::kLoad && step != Step::kCatalog;
  return what != What::kFailBefore || step != Step::kAnswer;
}

std::vector<FaultCase> AllFaults() {
  std::vector<FaultCase> faults;
  for (const WhatName& what : kWhats) {
    for (const StepName& step : kSteps) {
      if (IsPossible(what.what, step.step)) faults.push_back({what, step});
    }
  }
  return faults;
}

/// A table with a foreign file and segment 1; batches 2 and 3 are committed as one, and
/// something happens in that commit's first attempt.
class CommitFaultTest : public testing::TestWithParam<FaultCase> {
 protected:
  CommitFaultTest() {
    table_.AppendForeignFile("foreign");
    base_ = *table_.Load().current_snapshot_id;
    EXPECT_EQ(table_.Commit({TestBatch(1, 0, 1)}), "committed");
    if (GetParam().what.what == What::kLateRequest) HoldBackBatchTwo();
    table_.script().before_load = [this] { return Reach(Step::kLoad); };
    table_.script().before_commit = [this](const auto&) { return Reach(Step::kCatalog); };
    table_.script().after_commit = [this] { return Reach(Step::kAnswer); };
    table_.store_faults() = [this](const storage::StoreCall& call) {
      return ReachInStore(call);
    };
  }

  /// A committer tried batch 2 alone, and gave up; its first request is still under way.
  void HoldBackBatchTwo() {
    table_.script().before_commit = [this](const ScriptedCatalog::CommitCall& call) {
      if (!late_) late_ = call;
      return MakeError(ErrorKind::kOutcomeUnknown, "timed out");
    };
    EXPECT_THAT(table_.Commit({TestBatch(2, 1, 2)}), testing::HasSubstr("timed out"));
  }

  storage::Fault ReachInStore(const storage::StoreCall& call) {
    deletions_ += call.operation == storage::StoreOperation::kDelete ? 1 : 0;
    if (call.operation != storage::StoreOperation::kPutWhole) return storage::kPass;
    const bool is_list = call.key.find("snap-") != std::string_view::npos;
    const Status status = Reach(is_list ? Step::kManifestList : Step::kManifest);
    if (status.ok()) return storage::kPass;
    return IsError(status, ErrorKind::kOutcomeUnknown) ? storage::kApplyThenUnknown
                                                       : storage::kFailBefore;
  }

  Status Reach(Step step) {
    if (has_struck_ || step != GetParam().step.step) return Status::OK();
    has_struck_ = true;
    Strike();
    if (GetParam().what.what == What::kFailBefore) {
      return MakeError(ErrorKind::kUnavailable, "scripted");
    }
    const bool is_unanswered =
        GetParam().what.what == What::kApplyThenFail || step == Step::kAnswer;
    if (!is_unanswered) return Status::OK();
    return MakeError(ErrorKind::kOutcomeUnknown, "scripted");
  }

  void Strike() {
    switch (GetParam().what.what) {
      case What::kFailBefore:
      case What::kApplyThenFail:
        return;
      case What::kLateRequest:
        (void)table_.Apply(*late_);
        return;
      case What::kForeignCommit:
        return table_.AppendForeignFile("foreign2");
      case What::kCompaction:
        return table_.Compact();
      case What::kExpiry:
        return table_.ExpireAllButMain();
      case What::kRollback:
        return table_.MoveMainTo(base_);
      case What::kDropAndCreate:
        return table_.DropAndCreateAnew();
      case What::kSecondPlanner:
        EXPECT_EQ(table_.CommitAsRival({PlanOne(11)}), "committed");
        return;
    }
  }

  std::uint64_t Reached() {
    const wal::Positions reached = table_.Positions().reached;
    const auto shard = reached.shards.find(TestShard());
    return shard == reached.shards.end() ? 0 : shard->second.value();
  }

  /// The next segment, from the table's position.
  Batch PlanOne(int number) {
    const std::uint64_t after = Reached();
    Batch batch = TestBatch(number, after, after + 1);
    batch.parent = table_.Positions().last_batch;
    return batch;
  }

  /// What an operator and the next shift do.
  void Recover() {
    const auto reset = PlanReset(table_.Load(), TestWal(), ResetKind::kToTable);
    ASSERT_TRUE(reset.ok()) << reset.status();
    if (reset->has_value()) {
      const auto done = ResetPositions(table_.catalog(), table_.io(), table_.runtime(),
                                       {.table = table_.identifier(),
                                        .table_uuid = table_.Load().table_uuid,
                                        .wal = TestWal(),
                                        .kind = ResetKind::kToTable,
                                        .planned = **reset});
      ASSERT_TRUE(done.ok()) << done.status();
    }
    for (int number = 20; Reached() < kSegments; ++number) {
      ASSERT_EQ(table_.Commit({PlanOne(number)}), "committed");
    }
  }

  std::string ExpectedOutcome() const {
    switch (GetParam().what.what) {
      case What::kRollback:
        return "rolled back";
      case What::kDropAndCreate:
        return "made anew";
      case What::kSecondPlanner:
        return GetParam().step.step == Step::kAnswer ? "committed committed"
                                                     : "superseded superseded";
      default:
        return "committed committed";
    }
  }

  void ExpectEachSegmentOnce() {
    std::multiset<std::string> segments;
    for (const std::string& name : table_.LiveFiles()) {
      if (!name.starts_with("foreign")) segments.insert(name.substr(0, name.find('.')));
    }
    EXPECT_EQ(segments, (std::multiset<std::string>{"1", "2", "3", "4"}));
  }

  TestTable table_;
  SnapshotId base_;
  std::optional<ScriptedCatalog::CommitCall> late_;
  bool has_struck_ = false;
  int deletions_ = 0;
};

TEST_P(CommitFaultTest, NothingIsLostAndNothingTwice) {
  EXPECT_THAT(table_.Commit({TestBatch(2, 1, 2), TestBatch(3, 2, 3)}),
              testing::HasSubstr(ExpectedOutcome()));
  EXPECT_TRUE(has_struck_);
  Recover();
  ExpectEachSegmentOnce();
  if (late_) {
    EXPECT_FALSE(table_.Apply(*late_).ok()) << "it arrives once more";
    ExpectEachSegmentOnce();
  }
  EXPECT_EQ(deletions_, 0);
}

INSTANTIATE_TEST_SUITE_P(Faults, CommitFaultTest, testing::ValuesIn(AllFaults()),
                         [](const auto& info) {
                           return fmt::format("{}_{}", info.param.what.name,
                                              info.param.step.name);
                         });

}  // namespace
}  // namespace firn::commit
