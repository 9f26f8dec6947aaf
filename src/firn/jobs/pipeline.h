#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "firn/core/ids.h"
#include "firn/core/memory_budget.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/jobs/dead_letter_counts.h"
#include "firn/jobs/events.h"
#include "firn/jobs/shift_loop.h"
#include "firn/jobs/table_ingest.h"
#include "firn/jobs/task_queue.h"
#include "firn/metrics/metrics.h"
#include "firn/storage/object_store.h"
#include "firn/wal/wal_reader.h"

// What `firn serve` runs, without the sources that feed it.
//   pipeline        the tables of a process, and how they are opened and evolved
//   table_ingest    one table's buffer, and the thread that flushes it into the WAL
//   shift_loop      one table's shifts, whenever the WAL holds enough
//   http_endpoints  what HTTP requests ask of a pipeline; upload: one that has records
//   file_follower   a folder whose files are taken; file_delivery: one of them

namespace firn::jobs {

struct PipelineOptions {
  wal::TableBufferOptions buffer;
  ShiftTrigger trigger;
  /// Of one table: beyond it nothing is taken.
  std::int64_t uncommitted_bytes_max = 64LL << 30;
  DeadLetterAlarm dead_letter_alarm = {};
  std::function<shift::TableShiftOptions(const std::string& table)> shift_options;
};

/// The tables of one process: each takes rows, makes them durable in the WAL, and is
/// shifted. A table that fails holds up no other. Thread-safe.
class Pipeline {
 public:
  /// All must outlive the pipeline. Buffers and shifts have a budget each, so that
  /// neither waits for memory that the other holds.
  struct Environment {
    Runtime& runtime;
    MemoryBudget& buffer_memory;
    MemoryBudget& shift_memory;
    metrics::Registry& metrics;
    iceberg::Catalog& catalog;
    const iceberg::FileIo& io;
    storage::ObjectStore& wal_store;
    WalId wal_id;
    EventSink events;
  };

  /// Opens all tables of the catalog, in the background: what an earlier process left in
  /// the WAL is shifted without a request for it.
  Pipeline(Environment environment, PipelineOptions options);
  ~Pipeline();

  enum class Missing { kFail, kMakeDeadLetterTable };
  using Opened = std::function<void(Result<std::shared_ptr<TableIngest>>)>;

  /// Tells `opened` of a table: at once if it is open, else from another thread, once it
  /// is. Does not wait: Unavailable is told at once if too many are being opened. Else
  /// NotFound if there is no such table,
  /// Invalid if the name is none or a shift could not write the table, and the catalog's
  /// errors.
  void Open(const std::string& name, Missing missing, const Opened& opened);

  /// As Open, once the table takes rows of `wanted` (commit::EvolveTable); Invalid, too,
  /// if it cannot come to that.
  void Evolve(const std::string& name, const types::Schema& wanted, const Opened& opened);

  const Environment& environment() const { return environment_; }
  MemoryBudget& buffer_memory() const { return environment_.buffer_memory; }
  DeadLetterCounts& dead_letters() { return dead_letters_; }

  /// All tables of the catalog were opened once.
  bool is_ready() const { return is_ready_; }

  /// Flushes what waits, begins no shift, finishes commits that have begun. Nothing is
  /// taken afterwards. For one thread.
  void Close();

 private:
  struct Table {
    /// Outlives the ingest, which tells it of segments.
    std::unique_ptr<ShiftLoop> loop;
    std::unique_ptr<TableIngest> ingest;
    /// Dropped from the catalog; it may be made again.
    std::atomic<bool> is_gone = false;
  };

  /// The table, if it is open. Does not wait.
  std::shared_ptr<TableIngest> Find(const std::string& name);
  Result<std::shared_ptr<TableIngest>> OpenNow(const std::string& name, Missing missing);
  Result<std::shared_ptr<TableIngest>> EvolveNow(const std::string& name,
                                                 const types::Schema& wanted);
  /// Runs, with what `opened` is told, on the thread that opens tables.
  void RunOpening(const std::string& name,
                  const std::function<Result<std::shared_ptr<TableIngest>>()>& open,
                  const Opened& opened);
  /// Invalid if the table is open by another name that the catalog still has.
  Status CheckHasOneName(const iceberg::TableIdentifier& identifier,
                         const TableUuid& uuid);
  std::optional<std::string> OtherNameOf(const std::string& name, const TableUuid& uuid);
  Result<iceberg::LoadedTable> Load(const iceberg::TableIdentifier& identifier,
                                    Missing missing);
  Result<std::shared_ptr<Table>> Make(const iceberg::TableIdentifier& identifier,
                                      const iceberg::TableMetadata& metadata);
  std::unique_ptr<shift::TableShift> MakeShift(
      const iceberg::TableIdentifier& identifier);
  /// Takes notice of what others did to the table.
  Result<iceberg::TableMetadata> Refresh(const iceberg::TableIdentifier& identifier);
  std::shared_ptr<Table> FindTable(const std::string& name);
  void DiscoverUntilClosed();
  /// False once the pipeline is closed.
  bool AwaitDiscovery();
  Status Discover();

  const Environment environment_;
  const PipelineOptions options_;
  DeadLetterCounts dead_letters_;
  wal::WalReader wal_reader_;
  ShiftPermits permits_;
  std::atomic<bool> is_ready_ = false;

  /// Held while a table is opened, so that none is opened twice. Taken before mutex_.
  Mutex open_mutex_;
  Mutex mutex_;
  CondVar closing_changed_;
  std::map<std::string, std::shared_ptr<Table>> tables_;  // guarded by mutex_
  bool closing_ = false;                                  // guarded by mutex_

  /// Ends what the opener tries.
  StopSource stop_;
  TaskQueue opener_;
  Thread discoverer_;
};

}  // namespace firn::jobs
