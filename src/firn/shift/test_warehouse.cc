#include "firn/shift/test_warehouse.h"

#include <algorithm>
#include <cctype>

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

#include "firn/parquet_io/footer_seal.h"
#include "firn/types/arrow_types.h"
#include "firn/wal/segment_format.h"
#include "firn/wal/wal_root.h"

namespace firn::shift {
namespace {

const iceberg::TableIdentifier kTable = {.namespace_name = "demo", .name = "events"};
constexpr std::string_view kDataPath = "/data/";

iceberg::FileIo MountedAtRoot(storage::ObjectStore& store) {
  return iceberg::FileIo::Make({{.prefix = "memory:///", .store = &store}}).ValueOrDie();
}

std::string ToText(const TestRow& row) {
  return fmt::format("{}{}{}{}", row.tenant ? *row.tenant + "/" : "", row.key, row.number,
                     row.extra ? ":" + *row.extra : "");
}

std::string ToText(const std::vector<TestRow>& rows) {
  std::vector<std::string> texts;
  for (const TestRow& row : rows) texts.push_back(ToText(row));
  return fmt::format("[{}]", fmt::join(texts, " "));
}

/// "tenant=P" of ".../data/tenant=P/01...parquet".
std::string PartitionOf(const iceberg::DataFile& file) {
  const std::size_t begin = file.file_path.find(kDataPath) + kDataPath.size();
  const std::size_t end = file.file_path.rfind('/');
  return end < begin ? "" : file.file_path.substr(begin, end - begin);
}

std::shared_ptr<arrow::RecordBatch> BatchOf(const types::Schema& schema,
                                            const std::string& json) {
  const auto type = arrow::struct_(types::ToArrowSchema(schema)->fields());
  const auto rows = arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
  return arrow::RecordBatch::FromStructArray(rows).ValueOrDie();
}

}  // namespace

TestRows::TestRows(const char* rows) {
  std::string_view text = rows;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    TestRow row;
    if (const std::size_t slash = word.find('/'); slash != std::string_view::npos) {
      row.tenant = std::string(word.substr(0, slash));
      word.remove_prefix(slash + 1);
    }
    const std::size_t digits = word.find_first_of("0123456789");
    row.key = std::string(word.substr(0, digits));
    row.number = std::stoll(std::string(word.substr(digits)));
    push_back(std::move(row));
  }
}

std::vector<TestRow> NumberedRows(std::int64_t first, std::int64_t count) {
  std::vector<TestRow> rows;
  for (std::int64_t i = first; i < first + count; ++i) {
    rows.push_back({.key = fmt::format("{:09}", i), .number = i});
  }
  return rows;
}

void TestObserver::OnPlanned(const PlannedIteration& iteration) {
  if (on_planned) on_planned(iteration);
}

void TestObserver::OnChunk(const planner::Chunk&, const ChunkFiles&) {
  if (on_chunk) on_chunk();
}

TestWarehouse::TestWarehouse(const TestLayout& layout)
    : memory_(runtime_, layout.memory_limit),
      wal_faulty_(runtime_, wal_memory_,
                  [this](const storage::StoreCall& call) {
                    return wal_faults_ ? wal_faults_(call) : storage::kPass;
                  }),
      data_faulty_(runtime_, data_memory_,
                   [this](const storage::StoreCall& call) {
                     return data_faults_ ? data_faults_(call) : storage::kPass;
                   }),
      io_(MountedAtRoot(data_faulty_)) {
  const types::Schema schema = layout.columns.empty()
                                   ? TestSchema(layout.number)
                                   : types::Schema{.fields = layout.columns};
  FIRN_CHECK(catalog_.CreateNamespace("demo").ok());
  FIRN_CHECK(
      catalog_
          .CreateTable(
              kTable,
              {.schema = schema,
               .partition_spec =
                   types::ParsePartitionSpec(layout.partition_by, schema).ValueOrDie(),
               .sort_order = order::ParseSortOrder(layout.sort_by, schema).ValueOrDie(),
               .properties = layout.properties})
          .ok());
  FIRN_CHECK(wal::OpenWalRoot(runtime_, wal_memory_).ok());
  buffer_options_.shard.node = "n";
  // Deliveries are not cut: one is one segment.
  buffer_options_.flush_bytes = 1LL << 30;
}

WalId TestWarehouse::wal_id() const {
  return wal::ReadWalId(const_cast<storage::MemoryStore&>(wal_memory_)).ValueOrDie();
}

iceberg::TableMetadata TestWarehouse::Load() {
  return memory_catalog_.LoadTable(kTable).ValueOrDie().metadata;
}

void TestWarehouse::OpenShard() {
  const iceberg::TableMetadata metadata = Load();
  buffer_schema_ = CurrentSchema(metadata);
  const wal::TableLayout layout = {.uuid = metadata.table_uuid,
                                   .schema = buffer_schema_,
                                   .spec = DefaultSpec(metadata),
                                   .order = DefaultSortOrder(metadata)};
  buffer_ = wal::TableBuffer::Make(runtime_, buffer_memory_, wal_memory_, layout,
                                   buffer_options_)
                .ValueOrDie();
}

void TestWarehouse::CloseShard() {
  const Status closed = buffer_->Close();
  ASSERT_TRUE(closed.ok()) << closed;
  buffer_ = nullptr;
}

wal::SegmentName TestWarehouse::Write(const TestRows& rows) {
  return WriteParts({{.rows = rows}});
}

wal::SegmentName TestWarehouse::WriteParts(const std::vector<Part>& parts) {
  if (buffer_ == nullptr) OpenShard();
  for (const Part& part : parts) {
    for (const TestRow& row : part.rows) {
      const bool is_again = part.range && !written_of_sources_.insert(row).second;
      if (!is_again) written_.push_back(row);
    }
    Append({.rows = part.rows.empty() ? nullptr : ToBatch(buffer_schema_, part.rows),
            .range = part.range});
  }
  return Flush();
}

wal::SegmentName TestWarehouse::WriteJson(const std::string& rows) {
  if (buffer_ == nullptr) OpenShard();
  Append({.rows = BatchOf(buffer_schema_, rows)});
  return Flush();
}

void TestWarehouse::Append(wal::Delivery delivery) {
  delivery.acknowledge = [this](const Result<wal::SegmentName>& segment) {
    acknowledged_ = segment.ValueOrDie();
  };
  FIRN_CHECK(buffer_->Append(std::move(delivery), StopToken()).ok());
}

wal::SegmentName TestWarehouse::Flush() {
  acknowledged_.reset();
  runtime_.Advance(std::chrono::milliseconds(1));
  FIRN_CHECK(buffer_->Flush().ok());
  if (!acknowledged_) {  // ranges without rows
    runtime_.Advance(buffer_options_.idle_interval);
    FIRN_CHECK(buffer_->FlushIfDue().ok());
  }
  return *acknowledged_;
}

void TestWarehouse::DeleteSegment(const wal::SegmentName& name) {
  ASSERT_TRUE(wal_memory_.Delete(SegmentKey(name)).ok());
}

void TestWarehouse::Forge(const wal::SegmentName& name,
                          const std::function<void(wal::SegmentFooter&)>& change) {
  const std::string key = SegmentKey(name);
  std::string bytes = wal_memory_.GetWhole(key).ValueOrDie();
  wal::WalReader reader(runtime_, wal_memory_);
  wal::SegmentFooter footer =
      *reader.ReadSegmentFooter(key, static_cast<std::int64_t>(bytes.size()))
           .ValueOrDie()
           .footer;
  const wal::KeyValues before = EncodeSegmentFooter(footer);
  change(footer);
  const wal::KeyValues after = EncodeSegmentFooter(footer);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(before[i].second.size(), after[i].second.size()) << before[i].first;
    if (before[i].second == after[i].second) continue;
    bytes.replace(bytes.find(before[i].second), before[i].second.size(), after[i].second);
  }
  parquet_io::SealFooter(bytes);
  ASSERT_TRUE(wal_memory_.PutWhole(key, bytes).ok());
}

std::vector<std::string> TestWarehouse::Segments() {
  std::vector<std::string> keys;
  for (const auto& shard : wal::ListShards(wal_memory_, Load().table_uuid).ValueOrDie()) {
    for (const wal::SegmentObject& segment : shard.segments) keys.push_back(segment.key);
  }
  return keys;
}

void TestWarehouse::Change(const std::vector<iceberg::TableUpdate>& updates) {
  const auto changed = memory_catalog_.CommitTable(kTable, {}, updates);
  ASSERT_TRUE(changed.ok()) << changed.status();
}

types::Schema TestWarehouse::SchemaWith(
    const std::function<void(types::Schema&)>& change) {
  types::Schema schema = CurrentSchema(Load());
  change(schema);
  return schema;
}

TableShift TestWarehouse::NewShift() {
  readers_.push_back(std::make_unique<wal::WalReader>(runtime_, wal_counting_));
  return NewShiftOver(wal_counting_, *readers_.back());
}

TableShift TestWarehouse::NewShiftOver(storage::ObjectStore& wal_store,
                                       wal::WalReader& reader) {
  return TableShift({.runtime = runtime_,
                     .memory = memory_,
                     .metrics = metrics_,
                     .catalog = catalog_,
                     .io = io_,
                     .wal_store = wal_store,
                     .wal_reader = reader},
                    kTable, wal_id(), options_);
}

Result<ShiftReport> TestWarehouse::TryShift(const StopToken& stop) {
  return NewShift().Run(stop, observer_);
}

ShiftReport TestWarehouse::Shift() {
  Result<ShiftReport> report = TryShift();
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : ShiftReport();
}

const PlannedIteration& TestWarehouse::Plan() {
  planned_.reset();
  planner_.emplace(NewShift());
  planned_.emplace(planner_->Plan(StopToken()).ValueOrDie());
  return *planned_;
}

std::vector<iceberg::DataFile> TestWarehouse::DataFiles() {
  return LiveFiles(MountedAtRoot(data_memory_), Load());
}

arrow::RecordBatchVector TestWarehouse::ReadBatches(const iceberg::DataFile& file) {
  return shift::ReadBatches(MountedAtRoot(data_memory_), Load(), file);
}

std::vector<TestRow> TestWarehouse::ReadRows(const iceberg::DataFile& file) {
  return shift::ReadRows(MountedAtRoot(data_memory_), Load(), file);
}

void TestWarehouse::ExpectJson(const std::string& rows) {
  arrow::RecordBatchVector batches;
  std::vector<iceberg::DataFile> files = DataFiles();
  std::ranges::sort(files, {}, &iceberg::DataFile::file_path);
  for (const iceberg::DataFile& file : files) {
    std::ranges::move(ReadBatches(file), std::back_inserter(batches));
  }
  const auto expected = BatchOf(CurrentSchema(Load()), rows);
  const auto found = arrow::Table::FromRecordBatches(expected->schema(), batches)
                         .ValueOrDie()
                         ->CombineChunksToBatch()
                         .ValueOrDie();
  EXPECT_TRUE(found->Equals(*expected)) << found->ToString() << "instead of\n"
                                        << expected->ToString();
}

std::vector<std::vector<TestRow>> TestWarehouse::FileRows() {
  std::vector<std::vector<TestRow>> files;
  for (const iceberg::DataFile& file : DataFiles()) files.push_back(ReadRows(file));
  return files;
}

std::string TestWarehouse::Files() {
  std::vector<std::string> texts;
  for (const iceberg::DataFile& file : DataFiles()) {
    const std::string partition = PartitionOf(file);
    texts.push_back(partition + (partition.empty() ? "" : " ") + ToText(ReadRows(file)));
  }
  std::ranges::sort(texts);
  return fmt::format("{}", fmt::join(texts, " "));
}

void TestWarehouse::ExpectWellShaped() {
  std::vector<TestRow> found;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> ranges;
  for (const iceberg::DataFile& file : DataFiles()) {
    std::vector<TestRow> rows = ReadRows(file);
    ASSERT_EQ(static_cast<std::int64_t>(rows.size()), file.record_count);
    EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &TestRow::key)) << file.file_path;
    ranges[PartitionOf(file)].emplace_back(rows.front().key, rows.back().key);
    std::ranges::move(rows, std::back_inserter(found));
  }
  for (auto& [partition, files] : ranges) {
    std::ranges::sort(files);
    for (std::size_t i = 1; i < files.size(); ++i) {
      EXPECT_LT(files[i - 1].second, files[i].first) << partition;
    }
  }
  std::vector<TestRow> written = written_;
  std::ranges::sort(written);
  std::ranges::sort(found);
  EXPECT_EQ(found.size(), written.size());
  EXPECT_TRUE(found == written);
}

std::vector<std::uint64_t> TestWarehouse::ShardPositions() {
  const auto positions = commit::ReadPositions(Load(), wal_id()).ValueOrDie();
  std::vector<std::uint64_t> sequences;
  for (const auto& [shard, sequence] : positions.reached.shards) {
    sequences.push_back(sequence.value());
  }
  return sequences;
}

}  // namespace firn::shift
