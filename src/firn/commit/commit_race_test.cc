#include <algorithm>
#include <atomic>
#include <deque>
#include <set>

#include <gtest/gtest.h>

#include "firn/commit/commit_queue.h"
#include "firn/commit/test_table.h"
#include "firn/core/test_seed.h"

namespace firn::commit {
namespace {

constexpr std::uint64_t kSegments = 40;
constexpr ErrorKind kRefusals[] = {ErrorKind::kConflict, ErrorKind::kUnavailable,
                                   ErrorKind::kOutcomeUnknown};

std::uint64_t Reached(const wal::Positions& positions) {
  const auto shard = positions.shards.find(TestShard());
  return shard == positions.shards.end() ? 0 : shard->second.value();
}

/// One WAL of kSegments segments, its table, and everything that can happen to a commit:
/// each call may fail before or after it is applied, requests arrive late, others append,
/// snapshots expire. All by the seed. Thread-safe.
class Race {
 public:
  explicit Race(std::uint64_t seed) : table_(seed), mutex_(table_.runtime()) {
    table_.script().before_load = [this] { return MaybeFail(); };
    table_.script().before_commit = [this](const ScriptedCatalog::CommitCall& call) {
      return BeforeCommit(call);
    };
    table_.script().after_commit = [this] { return AfterCommit(); };
    table_.script().shown = [this](iceberg::TableMetadata& shown) { Expire(shown); };
    table_.store_faults() = [this](const storage::StoreCall&) { return StoreFault(); };
  }

  TestTable& table() { return table_; }
  void CalmDown() { is_calm_ = true; }
  /// May run in the middle of somebody's commit.
  void SetIntruder(std::function<void()> intruder) { intruder_ = std::move(intruder); }

  bool Chance(std::uint64_t percent) {
    return table_.runtime().Random64() % 100 < percent;
  }

  /// The next batch from a position on: one to three segments, files of its own.
  Batch Plan(const std::optional<BatchId>& parent, std::uint64_t after) {
    const int number = ++batches_;
    const std::uint64_t count = 1 + table_.runtime().Random64() % 3;
    Batch batch = TestBatch(number, after, std::min(after + count, kSegments));
    batch.parent = parent;
    for (auto& file : batch.files) file.file_path += fmt::format(".{}", number);
    return batch;
  }

  /// Each segment has come into the table with exactly one file.
  void ExpectEachSegmentOnce() {
    std::multiset<std::uint64_t> segments;
    for (const std::string& name : table_.LiveFiles()) {
      if (!name.starts_with("foreign")) segments.insert(std::stoull(name));
    }
    EXPECT_EQ(segments.size(), kSegments);
    for (std::uint64_t segment = 1; segment <= kSegments; ++segment) {
      EXPECT_EQ(segments.count(segment), 1) << "segment " << segment;
    }
  }

 private:
  Status MaybeFail() {
    if (is_calm_ || !Chance(8)) return Status::OK();
    return MakeError(ErrorKind::kUnavailable, "scripted");
  }

  storage::Fault StoreFault() {
    if (is_calm_ || !Chance(4)) return storage::kPass;
    return Chance(50) ? storage::kFailBefore : storage::kApplyThenUnknown;
  }

  Status BeforeCommit(const ScriptedCatalog::CommitCall& call) {
    if (is_calm_) return Status::OK();
    if (Chance(10)) table_.AppendForeignFile(fmt::format("foreign{}", ++foreign_));
    if (Chance(20)) DeliverLateRequests();
    if (Chance(10) && intruder_) intruder_();
    if (Chance(10)) {
      MutexLock lock(mutex_);
      late_.push_back(call);
      return MakeError(ErrorKind::kOutcomeUnknown, "delayed");
    }
    if (Chance(15)) {
      const auto which = table_.runtime().Random64() % std::size(kRefusals);
      return MakeError(kRefusals[which], "scripted");
    }
    return Status::OK();
  }

  void DeliverLateRequests() {
    std::vector<ScriptedCatalog::CommitCall> late;
    {
      MutexLock lock(mutex_);
      late.swap(late_);
    }
    for (const auto& call : late) (void)table_.Apply(call);
  }

  Status AfterCommit() {
    {
      MutexLock lock(mutex_);
      const std::uint64_t reached = Reached(table_.Positions().reached);
      EXPECT_GE(reached, reached_) << "positions went back";
      reached_ = reached;
    }
    if (is_calm_ || !Chance(20)) return Status::OK();
    // A proxy that repeats a request makes a conflict of a success.
    return MakeError(Chance(50) ? ErrorKind::kOutcomeUnknown : ErrorKind::kConflict,
                     "answer lost");
  }

  void Expire(iceberg::TableMetadata& shown) {
    MutexLock lock(mutex_);
    for (const iceberg::Snapshot& snapshot : shown.snapshots) {
      const bool is_main = snapshot.snapshot_id == shown.current_snapshot_id;
      if (!is_main && !is_calm_ && Chance(3)) {
        expired_below_ = std::max(expired_below_, snapshot.sequence_number);
      }
    }
    shown.snapshots.EraseIf([&](const iceberg::Snapshot& snapshot) {
      return snapshot.snapshot_id != shown.current_snapshot_id &&
             snapshot.sequence_number <= expired_below_;
    });
  }

  TestTable table_;
  std::atomic<bool> is_calm_ = false;
  std::atomic<int> batches_ = 0;
  std::atomic<int> foreign_ = 0;
  std::function<void()> intruder_;

  Mutex mutex_;
  // All guarded by mutex_.
  std::vector<ScriptedCatalog::CommitCall> late_;
  SnapshotSequence expired_below_;
  std::uint64_t reached_ = 0;
};

/// Planners that know nothing of each other, plan too early, commit too late and twice.
/// One thread, so that a seed always gives the same run.
class Planners {
 public:
  explicit Planners(Race& race) : race_(race) {
    race_.SetIntruder([this] {
      if (depth_ < 2) Step();
    });
  }

  void Step() {
    ++depth_;
    if (pending_.empty() || race_.Chance(40)) {
      Plan();
    } else {
      CommitOne();
    }
    --depth_;
  }

  /// Plans and commits until the table has all, then repeats all commits ever made.
  void Finish() {
    while (Reached(race_.table().Positions().reached) < kSegments) {
      Plan();
      Commit(pending_.back());
    }
    for (const std::vector<Batch>& batches : everything_) Commit(batches);
  }

 private:
  void Plan() {
    const TablePositions from = race_.table().Positions();
    std::optional<BatchId> parent = from.last_batch;
    std::uint64_t after = Reached(from.reached);
    std::vector<Batch> batches;
    while (after < kSegments && (batches.empty() || race_.Chance(50))) {
      batches.push_back(race_.Plan(parent, after));
      parent = batches.back().id;
      after = batches.back().shards.at(TestShard()).through.value();
    }
    if (batches.empty()) return;
    pending_.push_back(batches);
    everything_.push_back(batches);
  }

  void CommitOne() {
    const std::size_t which = race_.table().runtime().Random64() % pending_.size();
    const std::vector<Batch> batches = pending_[which];
    if (race_.Chance(70)) {
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(which));
    }
    Commit(batches);
  }

  void Commit(const std::vector<Batch>& batches) {
    const auto outcomes = race_.table().NewCommitter().Commit(batches);
    if (outcomes.ok()) return;
    const bool is_expected = std::ranges::any_of(
        kRefusals, [&](ErrorKind kind) { return IsError(outcomes.status(), kind); });
    EXPECT_TRUE(is_expected) << outcomes.status().ToString();
  }

  Race& race_;
  int depth_ = 0;
  std::vector<std::vector<Batch>> pending_;
  std::vector<std::vector<Batch>> everything_;
};

TEST(CommitRaceTest, EachSegmentLandsOnceWhateverFails) {
  for (std::uint64_t seed = TestSeed(); seed < TestSeed() + 60; ++seed) {
    SCOPED_TRACE(fmt::format("FIRN_TEST_SEED={}", seed));
    Race race(seed);
    Planners planners(race);
    for (int step = 0; step < 60; ++step) planners.Step();
    race.CalmDown();
    planners.Finish();
    race.ExpectEachSegmentOnce();
  }
}

/// One process: plans from its queue's head, or the table's position, until the table has
/// all; several batches in flight.
void ShiftThroughQueue(Race& race) {
  constexpr std::size_t kInFlight = 4;
  Committer committer = race.table().NewCommitter();
  CommitQueue queue(race.table().runtime(), committer, 2);
  std::deque<std::shared_ptr<CommitTicket>> tickets;
  for (;;) {
    const TablePositions at = race.table().Positions();
    const auto head = queue.planned_head();
    const std::uint64_t after = Reached(head ? head->positions : at.reached);
    if (after < kSegments) {
      Batch batch = race.Plan(head ? head->id : at.last_batch, after);
      const wal::Positions next =
          PositionsAfter(head ? head->positions : at.reached, batch);
      tickets.push_back(queue.Submit(std::move(batch), next));
    } else if (tickets.empty()) {
      return;
    }
    if (after < kSegments && tickets.size() < kInFlight) continue;
    const auto outcome = tickets.front()->Wait();
    ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
    tickets.pop_front();
  }
}

TEST(CommitRaceTest, TwoQueuesLandEachSegmentOnce) {
  for (std::uint64_t seed = TestSeed(); seed < TestSeed() + 20; ++seed) {
    SCOPED_TRACE(fmt::format("FIRN_TEST_SEED={} (threads: no two runs are alike)", seed));
    Race race(seed);
    {
      Thread first(race.table().runtime(), "first", [&] { ShiftThroughQueue(race); });
      Thread second(race.table().runtime(), "second", [&] { ShiftThroughQueue(race); });
    }
    race.ExpectEachSegmentOnce();
  }
}

}  // namespace
}  // namespace firn::commit
