#include "firn/shift/test_warehouse.h"

#include <algorithm>
#include <cctype>

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>
#include <parquet/metadata.h>

#include "firn/iceberg/io/manifest_io.h"
#include "firn/parquet_io/row_group_source.h"
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

types::Schema TableSchema(const TestLayout& layout) {
  if (!layout.columns.empty()) return {.fields = layout.columns};
  using types::Type;
  using types::TypeKind;
  return {.fields = {
              {.id = 1, .name = "tenant", .type = Type(TypeKind::kString)},
              {.id = 2, .name = "key", .type = Type(TypeKind::kString), .required = true},
              {.id = 3, .name = "number", .type = Type(layout.number)}}};
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

std::shared_ptr<arrow::Array> Column(const types::Field& field,
                                     const std::vector<TestRow>& rows) {
  arrow::StringBuilder text;
  arrow::Int64Builder longs;
  arrow::Int32Builder ints;
  const bool is_long = field.type.kind() == types::TypeKind::kLong;
  for (const TestRow& row : rows) {
    if (field.name == "key") {
      FIRN_CHECK(text.Append(row.key).ok());
    } else if (field.name == "number") {
      FIRN_CHECK(longs.Append(row.number).ok());
      FIRN_CHECK(ints.Append(static_cast<std::int32_t>(row.number)).ok());
    } else {
      const auto& value = field.name == "tenant" ? row.tenant : row.extra;
      FIRN_CHECK((value ? text.Append(*value) : text.AppendNull()).ok());
    }
  }
  if (field.name != "number") return text.Finish().ValueOrDie();
  return is_long ? longs.Finish().ValueOrDie() : ints.Finish().ValueOrDie();
}

std::shared_ptr<arrow::RecordBatch> BatchOf(const types::Schema& schema,
                                            const std::string& json) {
  const auto type = arrow::struct_(types::ToArrowSchema(schema)->fields());
  const auto rows = arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
  return arrow::RecordBatch::FromStructArray(rows).ValueOrDie();
}

void ReadColumn(const types::Field& field, const arrow::Array& column,
                std::vector<TestRow>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const types::Value value = ValueAt(column, field.type, static_cast<std::int64_t>(i));
    if (IsNull(value)) continue;
    if (field.name == "key") {
      rows[i].key = std::get<std::string>(value);
    } else if (field.name == "number") {
      const auto* narrow = std::get_if<std::int32_t>(&value);
      rows[i].number = narrow ? *narrow : std::get<std::int64_t>(value);
    } else {
      (field.name == "tenant" ? rows[i].tenant : rows[i].extra) =
          std::get<std::string>(value);
    }
  }
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
  const types::Schema schema = TableSchema(layout);
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
    Append(
        {.rows = part.rows.empty() ? nullptr : ToBatch(part.rows), .range = part.range});
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

std::shared_ptr<arrow::RecordBatch> TestWarehouse::ToBatch(
    const std::vector<TestRow>& rows) {
  arrow::ArrayVector columns;
  for (const types::Field& field : buffer_schema_.fields) {
    columns.push_back(Column(field, rows));
  }
  return arrow::RecordBatch::Make(types::ToArrowSchema(buffer_schema_),
                                  static_cast<std::int64_t>(rows.size()),
                                  std::move(columns));
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
  const iceberg::TableMetadata metadata = Load();
  const iceberg::Snapshot* main = CurrentSnapshot(metadata);
  std::vector<iceberg::DataFile> files;
  if (main == nullptr) return files;
  const iceberg::FileIo io = MountedAtRoot(data_memory_);
  for (const auto& manifest :
       iceberg::ReadManifestList(io, main->manifest_list).ValueOrDie()) {
    for (auto& entry : iceberg::ReadManifest(io, metadata, manifest).ValueOrDie()) {
      files.push_back(std::move(entry.data_file));
    }
  }
  return files;
}

arrow::RecordBatchVector TestWarehouse::ReadBatches(const iceberg::DataFile& file) {
  const types::Schema schema = CurrentSchema(Load());
  const std::string key = file.file_path.substr(std::string("memory:///").size());
  const parquet_io::RowGroupSource source = {
      .file = parquet_io::OpenObject(data_memory_, key, file.file_size_in_bytes),
      .footer =
          parquet_io::ReadFooter(data_memory_, key, file.file_size_in_bytes).ValueOrDie(),
      .name = key};
  arrow::RecordBatchVector batches;
  for (int i = 0; i < source.footer->num_row_groups(); ++i) {
    parquet_io::RowGroupSource row_group = source;
    row_group.row_group = i;
    const std::int64_t count = source.footer->RowGroup(row_group.row_group)->num_rows();
    const auto reader =
        parquet_io::ReadRowGroup(row_group, schema, 0, count, count).ValueOrDie();
    std::ranges::move(reader->ToRecordBatches().ValueOrDie(),
                      std::back_inserter(batches));
  }
  return batches;
}

std::vector<TestRow> TestWarehouse::ReadRows(const iceberg::DataFile& file) {
  const types::Schema schema = CurrentSchema(Load());
  std::vector<TestRow> rows;
  for (const auto& batch : ReadBatches(file)) {
    std::vector<TestRow> read(static_cast<std::size_t>(batch->num_rows()));
    for (int column = 0; column < batch->num_columns(); ++column) {
      ReadColumn(schema.fields[static_cast<std::size_t>(column)], *batch->column(column),
                 read);
    }
    std::ranges::move(read, std::back_inserter(rows));
  }
  return rows;
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
