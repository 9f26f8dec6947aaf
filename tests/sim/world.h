#pragma once

#include <set>
#include <string>
#include <vector>

#include "firn/commit/positions.h"
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
  std::uint64_t switch_percent = 25;
  Duration latency_max = std::chrono::milliseconds(20);
  /// Of one ingest node.
  int deliveries = 10;
  std::int64_t flush_bytes = 400;
  /// Of segment files in one iteration, and input in one data file.
  std::int64_t iteration_bytes = 16 << 10;
  std::int64_t file_bytes = 1 << 10;

  static Plan Draw(Runtime& runtime);
};

/// What all nodes share, and what is known of it from outside. Only one thread runs at a
/// time, and none stops in the middle of a method here: nothing is locked.
class World {
 public:
  explicit World(std::uint64_t seed);

  const Plan& plan() const { return plan_; }
  SimRuntime& sim() { return sim_; }
  /// Where the catalog and the stores run; never crashes.
  SimNode& node() { return node_; }
  Network& network() { return network_; }
  storage::MemoryStore& wal() { return wal_; }
  storage::MemoryStore& data() { return data_; }
  iceberg::Catalog& catalog() { return catalog_; }
  Records& records() { return records_; }
  const iceberg::TableIdentifier& table() const;
  const WalId& wal_id() const { return wal_id_; }
  iceberg::TableMetadata Load();

  /// Something that must never be.
  void Report(std::string problem) { problems_.push_back(std::move(problem)); }
  const std::vector<std::string>& problems() const { return problems_; }

  /// A file of an iteration in which a key alone had more bytes than a file.
  void MayOverlap(const iceberg::DataFile& file);

  /// Reports what is wrong with the table, once all that was acknowledged should be in
  /// it.
  void CheckTable();

 private:
  /// After each commit of anybody.
  void CheckPositions();

  SimRuntime sim_;
  SimNode& node_;
  Plan plan_;
  Network network_;
  storage::MemoryStore wal_;
  storage::MemoryStore data_;
  iceberg::MemoryCatalog catalog_;
  Records records_;
  WalId wal_id_;
  wal::Positions reached_;
  std::set<std::string> iterations_that_may_overlap_;
  std::vector<std::string> problems_;
};

/// What a process on a node works with.
struct Process {
  Process(World& shared, SimNode& at);

  World& world;
  SimNode& node;
  NodeStore wal;
  NodeStore data;
  NodeCatalog catalog;
  iceberg::FileIo io;
  MemoryBudget memory;
  metrics::Registry metrics;
};

}  // namespace firn::sim
