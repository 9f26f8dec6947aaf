#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "firn/commit/test_table.h"
#include "firn/core/fake_runtime.h"
#include "firn/core/memory_budget.h"
#include "firn/iceberg/catalog/memory_catalog.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/shift/table_shift.h"
#include "firn/shift/test_rows.h"
#include "firn/storage/counting_store.h"
#include "firn/storage/faulty_store.h"
#include "firn/storage/memory_store.h"
#include "firn/wal/table_buffer.h"
#include "firn/wal/wal_reader.h"

namespace firn::shift {

/// Rows, or text: "b2 P/a1" are keys and numbers, the second row of tenant P.
struct TestRows : std::vector<TestRow> {
  TestRows() = default;
  // NOLINTBEGIN(google-explicit-constructor): a test says rows in either way
  TestRows(const char* rows);
  TestRows(std::vector<TestRow> rows) : std::vector<TestRow>(std::move(rows)) {}
  // NOLINTEND(google-explicit-constructor)
};

/// Rows of numbers [first, first + count), which are their keys too.
std::vector<TestRow> NumberedRows(std::int64_t first, std::int64_t count);

/// What is told of a shift, for tests that look at it or come in between.
class TestObserver : public ShiftObserver {
 public:
  void OnPlanned(const PlannedIteration& iteration) override;
  void OnChunk(const planner::Chunk& chunk, const ChunkFiles& files) override;

  std::function<void(const PlannedIteration&)> on_planned;
  std::function<void()> on_chunk;
};

struct TestLayout {
  std::string partition_by = {};
  std::string sort_by = "key";
  std::map<std::string, std::string> properties = {};
  /// Type of the column `number`.
  types::TypeKind number = types::TypeKind::kLong;
  /// Other columns than those of TestRow, for rows as JSON.
  std::vector<types::Field> columns = {};
  /// Of the shift.
  std::int64_t memory_limit = 1LL << 30;
};

/// One table and a WAL, in memory. Setting it up and writing segments never fails.
class TestWarehouse {
 public:
  explicit TestWarehouse(const TestLayout& layout = {});

  FakeRuntime& runtime() { return runtime_; }
  MemoryBudget& memory() { return memory_; }
  metrics::Registry& metrics() { return metrics_; }
  commit::ScriptedCatalog::Script& catalog_script() { return catalog_.script; }
  /// The WAL without the store that counts and fails.
  storage::MemoryStore& wal() { return wal_memory_; }
  storage::RequestCounts wal_requests() const { return wal_counting_.counts(); }
  storage::FaultHook& wal_faults() { return wal_faults_; }
  storage::FaultHook& data_faults() { return data_faults_; }
  TestObserver& observer() { return observer_; }
  TableShiftOptions& options() { return options_; }
  /// Runs of few rows get more key samples.
  void UseSmallRowGroups() { buffer_options_.segment.row_group_bytes = 16 << 10; }
  const iceberg::FileIo& io() const { return io_; }
  WalId wal_id() const;
  iceberg::TableMetadata Load();

  /// Writes one segment into the open shard.
  wal::SegmentName Write(const TestRows& rows);
  /// A JSON array of objects that name all columns, nested ones in the schema's order;
  /// maps are arrays of pairs.
  wal::SegmentName WriteJson(const std::string& rows);
  /// Rows of a source have the offsets from `range.first` on; rows that were written
  /// before count once.
  struct Part {
    std::optional<wal::SourceRange> range = std::nullopt;
    TestRows rows = {};
  };
  wal::SegmentName WriteParts(const std::vector<Part>& parts);
  /// The next segment goes into another shard; the layout is the table's of then.
  void OpenShard();
  /// Leaves the marker.
  void CloseShard();
  void DeleteSegment(const wal::SegmentName& name);
  /// Changes what a segment's footer says, to something of the same length.
  void Forge(const wal::SegmentName& name,
             const std::function<void(wal::SegmentFooter&)>& change);
  std::vector<std::string> Segments();

  void Change(const std::vector<iceberg::TableUpdate>& updates);
  /// What schema changes are made of.
  types::Schema SchemaWith(const std::function<void(types::Schema&)>& change);

  TableShift NewShift();
  /// Past the store that counts and fails.
  TableShift NewShiftOver(storage::ObjectStore& wal_store, wal::WalReader& reader);
  Result<ShiftReport> TryShift(const StopToken& stop = {});
  /// Expects that it succeeds.
  ShiftReport Shift();
  const PlannedIteration& Plan();

  /// Every live data file, "tenant=P [a1 b2]", in order of partition path and rows.
  std::string Files();
  /// Rows of each live data file, as they stand in it.
  std::vector<std::vector<TestRow>> FileRows();
  std::vector<iceberg::DataFile> DataFiles();
  /// Objects below the table's location, also those that nothing names.
  std::size_t DataObjects() { return data_memory_.List("").ValueOrDie().size(); }
  std::vector<TestRow> ReadRows(const iceberg::DataFile& file);
  /// Expects these rows, as WriteJson takes them, in order of partition path and place.
  void ExpectJson(const std::string& rows);
  /// Expects exactly the rows written so far, each once, each file in key order, and no
  /// two files of one partition over one key.
  void ExpectWellShaped();
  std::int64_t Snapshots() { return static_cast<std::int64_t>(Load().snapshots.size()); }
  /// The table's position in each shard, by the shards' names.
  std::vector<std::uint64_t> ShardPositions();

 private:
  void Append(wal::Delivery delivery);
  wal::SegmentName Flush();
  arrow::RecordBatchVector ReadBatches(const iceberg::DataFile& file);

  FakeRuntime runtime_;
  MemoryBudget buffer_memory_{runtime_, 1LL << 30};
  MemoryBudget memory_;
  metrics::Registry metrics_{runtime_};
  storage::MemoryStore wal_memory_{runtime_};
  storage::FaultHook wal_faults_;
  storage::FaultyStore wal_faulty_;
  storage::CountingStore wal_counting_{wal_faulty_};
  storage::MemoryStore data_memory_{runtime_};
  storage::FaultHook data_faults_;
  storage::FaultyStore data_faulty_;
  iceberg::FileIo io_;
  iceberg::MemoryCatalog memory_catalog_{runtime_, "memory:///warehouse"};
  commit::ScriptedCatalog catalog_{memory_catalog_};
  wal::TableBufferOptions buffer_options_;
  TableShiftOptions options_;
  TestObserver observer_;
  std::vector<std::unique_ptr<wal::WalReader>> readers_;
  std::optional<TableShift> planner_;
  std::optional<PlannedIteration> planned_;
  std::unique_ptr<wal::TableBuffer> buffer_;
  types::Schema buffer_schema_;
  std::vector<TestRow> written_;
  std::set<TestRow> written_of_sources_;
  /// Of the segment that was acknowledged last.
  std::optional<wal::SegmentName> acknowledged_;
};

}  // namespace firn::shift
