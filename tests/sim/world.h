#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "firn/commit/positions.h"
#include "firn/commit/test_table.h"
#include "firn/core/ids.h"
#include "firn/core/memory_budget.h"
#include "firn/core/sim_runtime.h"
#include "firn/iceberg/catalog/memory_catalog.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/metrics/metrics.h"
#include "firn/storage/memory_store.h"
#include "network.h"
#include "node_catalog.h"
#include "node_store.h"
#include "records.h"

namespace firn::sim {

/// What a run is like; drawn from its seed.
struct Plan {
  Duration latency_max = std::chrono::milliseconds(20);
  FaultRates faults;
  /// Installations that feed the table.
  std::size_t wal_roots = 1;
  std::size_t ingest_machines = 1;
  /// Each ingests and shifts.
  std::size_t serve_machines = 0;
  std::size_t shift_machines = 1;
  /// A process crashes within so many of its steps; 0 = never.
  std::int64_t steps_to_crash = 0;
  /// How many things befall the table or a machine, and the longest time between two.
  int troubles = 0;
  Duration trouble_interval = std::chrono::seconds(1);
  /// Of one machine that ingests.
  int deliveries = 10;
  /// Longest time between two deliveries.
  Duration thinking_time_max = std::chrono::milliseconds(300);
  std::int64_t flush_bytes = 400;
  /// Of segment files in one iteration, and input in one data file.
  std::int64_t iteration_bytes = 16 << 10;
  std::int64_t file_bytes = 1 << 10;
  /// Of segments that were taken.
  Duration retention = std::chrono::hours(1);
  /// Of data files. Segments are not compressed: only such row groups are copied as they
  /// are.
  const char* codec = "uncompressed";
  /// Of each budget of a process.
  std::int64_t memory_bytes = 64 << 20;

  static Plan Draw(Runtime& runtime);
};

/// One installation's log.
struct WalRoot {
  explicit WalRoot(Runtime& runtime);

  storage::MemoryStore store;
  WalId id;
};

/// What all nodes share, and what is known of it from outside. Only one thread runs at a
/// time, and none stops in the middle of a method here: nothing is locked.
class World {
 public:
  explicit World(std::uint64_t seed);

  const Plan& plan() const { return plan_; }
  SimRuntime& sim() { return sim_; }
  SimNode& NewNode(std::string name);
  /// Of all that ever were.
  const std::vector<SimNode*>& nodes() const { return nodes_; }
  /// Where the catalog and the stores run; never crashes.
  SimNode& node() { return node_; }
  Network& network() { return network_; }
  /// `i` counts round and round.
  WalRoot& root(std::size_t i) { return *roots_[i % roots_.size()]; }
  storage::MemoryStore& data() { return data_; }
  commit::ScriptedCatalog& catalog() { return catalog_; }
  Records& records() { return records_; }
  const iceberg::TableIdentifier& table() const;
  iceberg::TableMetadata Load();
  /// Past the network.
  const iceberg::FileIo& io() const { return io_; }
  std::vector<iceberg::DataFile> LiveFiles();
  std::vector<shift::TestRow> RowsOf(const iceberg::DataFile& file);

  /// Of a snapshot that these updates add; what a committer must never do that does not
  /// know whether they were applied.
  void DeleteAddedFiles(const std::vector<iceberg::TableUpdate>& updates);

  /// The table is rolled back from here on until it is reset; then its positions may go
  /// back.
  void SetRolledBack(bool is_rolled_back);
  /// Counts all changes of the above.
  int rollback_changes() const { return rollback_changes_; }
  bool is_rolled_back() const { return is_rolled_back_; }

  /// Commits that took several batches.
  std::size_t shared_commits() const { return shared_commits_; }

  /// Something that must never be.
  void Report(std::string problem) { problems_.push_back(std::move(problem)); }
  const std::vector<std::string>& problems() const { return problems_; }

  /// A file of an iteration in which a key alone had more bytes than a file.
  void MayOverlap(const iceberg::DataFile& file);

  /// Reports what is wrong with the table, once all that was acknowledged should be in
  /// it.
  void CheckTable();

  /// Reports files of batches that no snapshot names, once those that nobody will ever
  /// commit should be gone.
  void CheckNothingIsLeftOver();

 private:
  /// After each commit of anybody.
  void CheckPositions();
  /// What each new snapshot moved begins where those before it have ended.
  void CheckMoves(const iceberg::TableMetadata& metadata);
  void CheckMove(const iceberg::Snapshot& snapshot);
  /// The table is where it is, however it came there.
  void TakePositions();
  void CheckPositions(const WalId& wal, const wal::Positions& now);

  SimRuntime sim_;
  std::vector<SimNode*> nodes_;
  SimNode& node_;
  Plan plan_;
  Network network_;
  std::vector<std::unique_ptr<WalRoot>> roots_;
  storage::MemoryStore data_;
  iceberg::FileIo io_;
  iceberg::MemoryCatalog memory_catalog_;
  commit::ScriptedCatalog catalog_;
  Records records_;
  /// By root.
  std::map<WalId, wal::Positions> reached_;
  /// Whose moves were checked last.
  std::optional<SnapshotId> checked_;
  std::size_t shared_commits_ = 0;
  bool is_rolled_back_ = false;
  int rollback_changes_ = 0;
  std::set<std::string> iterations_that_may_overlap_;
  std::vector<std::string> problems_;
};

/// What a process on a node works with.
struct Process {
  Process(World& shared, SimNode& at, WalRoot& wal_root);

  World& world;
  SimNode& node;
  WalRoot& root;
  NodeStore wal;
  NodeStore data;
  NodeCatalog catalog;
  iceberg::FileIo io;
  MemoryBudget memory;
  metrics::Registry metrics;
};

}  // namespace firn::sim
