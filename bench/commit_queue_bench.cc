// The commit queue on a catalog that takes 200 ms for a commit: 64 synthetic batches from
// eight threads, which take their id and parent in turn.
//
//   cmake --preset release -DFIRN_BENCH=ON
//   cmake --build --preset release -t commit_queue_bench
//   build/release/bench/commit_queue_bench
//
// "taken": of the batches that waited when a commit ended (also of those that waited for
// a place in the queue), the share that the next one took, over all commits but the
// first. "one by one" commits each batch by itself.

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "firn/commit/commit_queue.h"
#include "firn/commit/test_table.h"

namespace firn::commit {
namespace {

constexpr int kBatches = 64;
constexpr int kThreads = 8;
constexpr int kOneByOne = 16;
constexpr Duration kCatalogTime = std::chrono::milliseconds(200);

struct Figures {
  int batches = 0;
  int commits = 0;
  double taken_share = 0;
  double seconds = 0;
};

/// Batch n covers segment n.
Batch Nth(int n) {
  const auto segment = static_cast<std::uint64_t>(n);
  return TestBatch(n, segment - 1, segment);
}

wal::Positions After(int n) { return PositionsAfter({}, Nth(n)); }

/// Batches that a commit holds, as its snapshot's summary lists them.
int BatchesOf(const ScriptedCatalog::CommitCall& call) {
  for (const iceberg::TableUpdate& update : call.updates) {
    const auto* added = std::get_if<iceberg::AddSnapshot>(&update);
    if (added == nullptr) continue;
    const std::string& ids =
        added->snapshot.summary.at(fmt::format("firn.commit.{}", TestWal()));
    return 1 + static_cast<int>(std::ranges::count(ids, ','));
  }
  return 0;
}

/// One table; counts what its commits take.
class Run {
 public:
  Run() {
    table_.script().before_commit = [this](const ScriptedCatalog::CommitCall& call) {
      const int taken = BatchesOf(call);
      waited_ += waiting_;
      // What arrived since is no part of the share.
      taken_of_waiting_ += std::min(taken, waiting_);
      taken_ += taken;
      ++commits_;
      SystemRuntime().Sleep(kCatalogTime);
      return Status::OK();
    };
    table_.script().after_commit = [this] {
      waiting_ = submitted_ - taken_;
      return Status::OK();
    };
  }

  Figures ThroughQueue(std::size_t queue_size) {
    Committer committer = table_.NewCommitter();
    CommitQueue queue(SystemRuntime(), committer, queue_size);
    const BootTime begin = SystemRuntime().SinceBoot();
    Mutex turn(SystemRuntime());
    std::vector<std::shared_ptr<CommitTicket>> tickets;  // guarded by turn
    {
      std::vector<Thread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back(SystemRuntime(), "submitter", [&] {
          while (true) {
            MutexLock lock(turn);
            const int n = static_cast<int>(tickets.size()) + 1;
            if (n > kBatches) return;
            ++submitted_;
            tickets.push_back(queue.Submit(Nth(n), After(n)));
          }
        });
      }
    }
    for (const auto& ticket : tickets) MustCommit(ticket->Wait());
    return FiguresSince(begin, kBatches);
  }

  Figures OneByOne() {
    Committer committer = table_.NewCommitter();
    const BootTime begin = SystemRuntime().SinceBoot();
    submitted_ = kOneByOne;
    for (int n = 1; n <= kOneByOne; ++n) {
      MustCommit(committer.Commit({Nth(n)}).ValueOrDie().front());
    }
    return FiguresSince(begin, kOneByOne);
  }

 private:
  static void MustCommit(const Result<BatchOutcome>& outcome) {
    FIRN_CHECK(outcome.ok() && outcome->state == BatchState::kCommitted);
  }

  Figures FiguresSince(BootTime begin, int batches) const {
    const Duration time = SystemRuntime().SinceBoot() - begin;
    return {.batches = batches,
            .commits = commits_,
            .taken_share =
                waited_ == 0 ? 1.0 : static_cast<double>(taken_of_waiting_) / waited_,
            .seconds = static_cast<double>(time.count()) / 1e6};
  }

  TestTable table_;
  std::atomic<int> submitted_ = 0;
  // Of the thread that commits.
  int taken_ = 0;
  int waiting_ = 0;
  int waited_ = 0;
  int taken_of_waiting_ = 0;
  int commits_ = 0;
};

void Print(const std::string& name, const Figures& figures, const Figures& one_by_one) {
  const auto rate = [](const Figures& f) { return f.batches / f.seconds; };
  fmt::print("{:<22} {:>7} {:>7} {:>7.2f} {:>8.2f} {:>10.1f} {:>7.1f}x\n", name,
             figures.batches, figures.commits, figures.taken_share, figures.seconds,
             rate(figures), rate(figures) / rate(one_by_one));
}

void Main() {
  fmt::print("{:<22} {:>7} {:>7} {:>7} {:>8} {:>10} {:>8}\n", "", "batches", "commits",
             "taken", "seconds", "batches/s", "ratio");
  const Figures one_by_one = Run().OneByOne();
  Print("one by one", one_by_one, one_by_one);
  for (const std::size_t size : {4, 16, 64}) {
    Print(fmt::format("queue of {}", size), Run().ThroughQueue(size), one_by_one);
  }
}

}  // namespace
}  // namespace firn::commit

int main() { firn::commit::Main(); }
