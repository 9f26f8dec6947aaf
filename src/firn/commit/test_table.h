#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "firn/commit/batch.h"
#include "firn/commit/committer.h"
#include "firn/commit/positions.h"
#include "firn/core/fake_runtime.h"
#include "firn/iceberg/catalog/memory_catalog.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/memory_store.h"

namespace firn::commit {

/// Ids that tests tell apart by a number.
BatchId TestBatchId(int number);
WalId TestWal(int number = 1);
ShardId TestShard(int number = 1);

/// A batch of the test shard's segments in (after, through], one data file for each. Its
/// parent is the batch numbered one less, or nothing for number 1.
Batch TestBatch(int number, std::uint64_t after, std::uint64_t through);

/// A catalog that does what a test says around an inner one's calls.
class ScriptedCatalog : public iceberg::Catalog {
 public:
  struct CommitCall {
    std::vector<iceberg::TableRequirement> requirements;
    std::vector<iceberg::TableUpdate> updates;
  };
  /// Empty functions do nothing; an error is what the caller gets. A function may put
  /// another one in its place.
  struct Script {
    std::function<Status()> before_load;
    std::function<Status(const CommitCall&)> before_commit;
    std::function<Status()> after_commit;
    /// Changes what load and commit show.
    std::function<void(iceberg::TableMetadata&)> shown;
  };

  explicit ScriptedCatalog(iceberg::Catalog& inner) : inner_(inner) {}

  Script script;
  /// Snapshots that load and commit do not show any more.
  std::set<SnapshotId> expired;

  Result<iceberg::LoadedTable> LoadTable(
      const iceberg::TableIdentifier& identifier) override;
  Result<iceberg::LoadedTable> CreateTable(const iceberg::TableIdentifier& identifier,
                                           iceberg::TableCreation creation) override;
  Result<iceberg::LoadedTable> CommitTable(
      const iceberg::TableIdentifier& identifier,
      const std::vector<iceberg::TableRequirement>& requirements,
      const std::vector<iceberg::TableUpdate>& updates) override;
  Status DropTable(const iceberg::TableIdentifier& identifier) override;
  Result<std::vector<iceberg::TableIdentifier>> ListTables(
      std::string_view namespace_name) override;
  Result<std::vector<std::string>> ListNamespaces() override;
  Status CreateNamespace(std::string_view namespace_name) override;

 private:
  void Show(iceberg::TableMetadata& metadata) const;

  iceberg::Catalog& inner_;
};

/// One table, in memory, with a script for what goes wrong.
class TestTable {
 public:
  explicit TestTable(std::uint64_t seed = 1);

  FakeRuntime& runtime() { return runtime_; }
  ScriptedCatalog& catalog() { return catalog_; }
  const iceberg::FileIo& io() const { return io_; }
  const iceberg::TableIdentifier& identifier() const;
  ScriptedCatalog::Script& script() { return catalog_.script; }
  /// What becomes of calls to the store.
  storage::FaultHook& store_faults() { return store_faults_; }

  Committer NewCommitter(const WalId& wal = TestWal());
  /// A committer's work, in one word for each batch: "committed superseded"; else the
  /// error.
  std::string Commit(const std::vector<Batch>& batches, const WalId& wal = TestWal());
  /// The same past the script and the faults.
  std::string CommitAsRival(const std::vector<Batch>& batches);

  /// As it is, whatever the script shows.
  iceberg::TableMetadata Load();
  TablePositions Positions(const WalId& wal = TestWal());
  /// Names of the data files that readers of main see, in order; twice if listed twice.
  std::vector<std::string> LiveFiles();
  std::vector<std::string> StoredFiles(std::string_view name_part);

  /// RemoveFiles for files by their names, as LiveFiles gives them.
  Status Remove(const std::vector<std::string>& names);

  /// What others do to the table.
  void AppendForeignFile(const std::string& name);
  /// Every live file "x" is rewritten as "x.c".
  void Compact();
  /// With their manifest lists; Load still shows them.
  void ExpireAllButMain();
  void MoveMainTo(SnapshotId snapshot);
  void SetProperties(std::map<std::string, std::string> properties);
  void DropAndCreateAnew();
  /// Carries out a call past the script.
  Status Apply(const ScriptedCatalog::CommitCall& call);

 private:
  void Create();

  FakeRuntime runtime_;
  storage::MemoryStore memory_;
  storage::FaultHook store_faults_;
  storage::FaultyStore store_;
  iceberg::FileIo io_;
  iceberg::FileIo reliable_io_;
  iceberg::MemoryCatalog memory_catalog_;
  ScriptedCatalog catalog_;
  TableUuid uuid_;
};

}  // namespace firn::commit
