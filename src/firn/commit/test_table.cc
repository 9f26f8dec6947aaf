#include "firn/commit/test_table.h"

#include <set>

#include "firn/commit/file_removal.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "firn/core/ulid.h"
#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/update/append.h"

namespace firn::commit {
namespace {

const iceberg::TableIdentifier kTable = {.namespace_name = "demo", .name = "events"};
constexpr std::string_view kDataFolder = "memory:///warehouse/demo/events/data/";

iceberg::DataFile TestFile(const std::string& name) {
  iceberg::DataFile file;
  file.file_path = fmt::format("{}{}", kDataFolder, name);
  file.record_count = 1;
  file.file_size_in_bytes = 100;
  return file;
}

iceberg::FileIo MountedAtRoot(storage::ObjectStore& store) {
  return iceberg::FileIo::Make({{.prefix = "memory:///", .store = &store}}).ValueOrDie();
}

iceberg::TableCreation OneColumn() {
  types::Field field;
  field.id = 1;
  field.name = "id";
  field.type = types::Type(types::TypeKind::kLong);
  iceberg::TableCreation creation;
  creation.schema.fields = {field};
  return creation;
}

std::string InWords(const Result<std::vector<BatchOutcome>>& outcomes) {
  if (!outcomes.ok()) return ErrorText(outcomes.status());
  std::vector<std::string> words;
  for (const BatchOutcome& outcome : *outcomes) {
    words.push_back(outcome.state == BatchState::kCommitted ? "committed" : "superseded");
  }
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

BatchId TestBatchId(int number) {
  return BatchId(fmt::format("01JC000000000000000000{:04}", number));
}

WalId TestWal(int number) {
  return WalId(fmt::format("01JA000000000000000000{:04}", number));
}

ShardId TestShard(int number) {
  return ShardId(fmt::format("node{}-01JB0000000000000000000000", number));
}

Batch TestBatch(int number, std::uint64_t after, std::uint64_t through) {
  Batch batch;
  batch.id = TestBatchId(number);
  if (number > 1) batch.parent = TestBatchId(number - 1);
  for (std::uint64_t sequence = after + 1; sequence <= through; ++sequence) {
    batch.files.push_back(TestFile(fmt::format("{}", sequence)));
  }
  batch.shards[TestShard()] = {.after = SegmentSequence(after),
                               .through = SegmentSequence(through)};
  return batch;
}

Result<iceberg::LoadedTable> ScriptedCatalog::LoadTable(
    const iceberg::TableIdentifier& identifier) {
  if (const auto run = script.before_load; run) FIRN_RETURN_NOT_OK(run());
  FIRN_ASSIGN_OR_RETURN(iceberg::LoadedTable table, inner_.LoadTable(identifier));
  Show(table.metadata);
  return table;
}

Result<iceberg::LoadedTable> ScriptedCatalog::CreateTable(
    const iceberg::TableIdentifier& identifier, iceberg::TableCreation creation) {
  return inner_.CreateTable(identifier, std::move(creation));
}

Result<iceberg::LoadedTable> ScriptedCatalog::CommitTable(
    const iceberg::TableIdentifier& identifier,
    const std::vector<iceberg::TableRequirement>& requirements,
    const std::vector<iceberg::TableUpdate>& updates) {
  if (const auto run = script.before_commit; run) {
    FIRN_RETURN_NOT_OK(run({requirements, updates}));
  }
  FIRN_ASSIGN_OR_RETURN(iceberg::LoadedTable table,
                        inner_.CommitTable(identifier, requirements, updates));
  if (const auto run = script.after_commit; run) FIRN_RETURN_NOT_OK(run());
  Show(table.metadata);
  return table;
}

void ScriptedCatalog::Show(iceberg::TableMetadata& metadata) const {
  metadata.snapshots.EraseIf([this](const iceberg::Snapshot& snapshot) {
    return expired.contains(snapshot.snapshot_id);
  });
  if (const auto run = script.shown; run) run(metadata);
}

Status ScriptedCatalog::DropTable(const iceberg::TableIdentifier& identifier) {
  return inner_.DropTable(identifier);
}

Result<std::vector<iceberg::TableIdentifier>> ScriptedCatalog::ListTables(
    std::string_view namespace_name) {
  return inner_.ListTables(namespace_name);
}

Result<std::vector<std::string>> ScriptedCatalog::ListNamespaces() {
  return inner_.ListNamespaces();
}

Status ScriptedCatalog::CreateNamespace(std::string_view namespace_name) {
  return inner_.CreateNamespace(namespace_name);
}

TestTable::TestTable(std::uint64_t seed)
    : runtime_(seed),
      memory_(runtime_),
      store_(runtime_, memory_,
             [this](const storage::StoreCall& call) {
               return store_faults_ ? store_faults_(call) : storage::kPass;
             }),
      io_(MountedAtRoot(store_)),
      reliable_io_(MountedAtRoot(memory_)),
      memory_catalog_(runtime_, "memory:///warehouse"),
      catalog_(memory_catalog_) {
  EXPECT_TRUE(memory_catalog_.CreateNamespace("demo").ok());
  Create();
}

const iceberg::TableIdentifier& TestTable::identifier() const { return kTable; }

void TestTable::Create() {
  uuid_ =
      memory_catalog_.CreateTable(kTable, OneColumn()).ValueOrDie().metadata.table_uuid;
}

Committer TestTable::NewCommitter(const WalId& wal) {
  return Committer(catalog_, io_, runtime_,
                   {.table = kTable, .table_uuid = uuid_, .wal = wal});
}

std::string TestTable::Commit(const std::vector<Batch>& batches, const WalId& wal) {
  return InWords(NewCommitter(wal).Commit(batches));
}

std::string TestTable::CommitAsRival(const std::vector<Batch>& batches) {
  return InWords(Committer(memory_catalog_, reliable_io_, runtime_,
                           {.table = kTable, .table_uuid = uuid_, .wal = TestWal()})
                     .Commit(batches));
}

iceberg::TableMetadata TestTable::Load() {
  return memory_catalog_.LoadTable(kTable).ValueOrDie().metadata;
}

TablePositions TestTable::Positions(const WalId& wal) {
  return ReadPositions(Load(), wal).ValueOrDie();
}

std::vector<std::string> TestTable::LiveFiles() {
  const iceberg::TableMetadata metadata = Load();
  const iceberg::Snapshot* main = iceberg::CurrentSnapshot(metadata);
  std::vector<std::string> names;
  if (main == nullptr) return names;
  const auto manifests =
      iceberg::ReadManifestList(reliable_io_, main->manifest_list).ValueOrDie();
  for (const iceberg::ManifestFile& manifest : manifests) {
    const auto entries =
        iceberg::ReadManifest(reliable_io_, metadata, manifest).ValueOrDie();
    for (const iceberg::ManifestEntry& entry : entries) {
      if (entry.status == iceberg::EntryStatus::kDeleted) continue;
      names.push_back(entry.data_file.file_path.substr(kDataFolder.size()));
    }
  }
  std::ranges::sort(names);
  return names;
}

Status TestTable::Remove(const std::vector<std::string>& names) {
  std::set<std::string> paths;
  for (const std::string& name : names) paths.insert(std::string(kDataFolder) + name);
  return RemoveFiles(catalog_, io_, runtime_,
                     {.table = kTable, .table_uuid = uuid_, .paths = std::move(paths)});
}

std::vector<std::string> TestTable::StoredFiles(std::string_view name_part) {
  std::vector<std::string> keys;
  for (const storage::ObjectInfo& object : memory_.List("").ValueOrDie()) {
    if (object.key.find(name_part) != std::string::npos) keys.push_back(object.key);
  }
  return keys;
}

void TestTable::AppendForeignFile(const std::string& name) {
  Status status;
  do {
    const iceberg::TableMetadata metadata = Load();
    const auto manifests =
        iceberg::WriteManifests(reliable_io_, metadata, {TestFile(name)},
                                iceberg::NewSnapshotId(metadata, runtime_),
                                NewUuid(runtime_))
            .ValueOrDie();
    const auto append =
        iceberg::PrepareAppend(reliable_io_, metadata, manifests, {}, runtime_.Now())
            .ValueOrDie();
    status = Apply({.requirements = append.requirements, .updates = append.updates});
  } while (IsError(status, ErrorKind::kConflict));
  ASSERT_TRUE(status.ok()) << status.ToString();
}

void TestTable::Compact() {
  const iceberg::TableMetadata metadata = Load();
  std::vector<iceberg::DataFile> files;
  for (const std::string& name : LiveFiles()) files.push_back(TestFile(name + ".c"));
  const auto written = iceberg::WriteManifests(reliable_io_, metadata, files,
                                               iceberg::NewSnapshotId(metadata, runtime_),
                                               NewUuid(runtime_))
                           .ValueOrDie();
  iceberg::Snapshot snapshot{
      .snapshot_id = written.snapshot_id,
      .parent_snapshot_id = metadata.current_snapshot_id,
      .sequence_number = SnapshotSequence(metadata.last_sequence_number.value() + 1),
      .timestamp_ms = metadata.last_updated_ms,
      .manifest_list = fmt::format(
          "memory:///warehouse/demo/events/metadata/snap-{}.avro", written.snapshot_id),
      .summary = {{"operation", "replace"}}};
  ASSERT_TRUE(
      iceberg::WriteManifestList(reliable_io_,
                                 {.location = snapshot.manifest_list,
                                  .snapshot_id = snapshot.snapshot_id,
                                  .parent_snapshot_id = snapshot.parent_snapshot_id,
                                  .sequence_number = snapshot.sequence_number},
                                 written.manifests)
          .ok());
  ASSERT_TRUE(
      Apply({.requirements = {}, .updates = {iceberg::AddSnapshot{snapshot}}}).ok());
  MoveMainTo(snapshot.snapshot_id);
}

void TestTable::ExpireAllButMain() {
  const iceberg::TableMetadata metadata = Load();
  for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
    if (snapshot.snapshot_id == metadata.current_snapshot_id) continue;
    catalog_.expired.insert(snapshot.snapshot_id);
    const std::string root = "memory:///";
    ASSERT_TRUE(memory_.Delete(snapshot.manifest_list.substr(root.size())).ok());
  }
}

void TestTable::MoveMainTo(SnapshotId snapshot) {
  iceberg::SnapshotRef ref;
  ref.snapshot_id = snapshot;
  const iceberg::SetSnapshotRef update = {.ref_name = "main", .ref = ref};
  ASSERT_TRUE(Apply({.requirements = {}, .updates = {update}}).ok());
}

void TestTable::SetProperties(std::map<std::string, std::string> properties) {
  const iceberg::SetProperties update = {.updates = std::move(properties)};
  ASSERT_TRUE(Apply({.requirements = {}, .updates = {update}}).ok());
}

void TestTable::DropAndCreateAnew() {
  ASSERT_TRUE(memory_catalog_.DropTable(kTable).ok());
  Create();
}

Status TestTable::Apply(const ScriptedCatalog::CommitCall& call) {
  return memory_catalog_.CommitTable(kTable, call.requirements, call.updates).status();
}

}  // namespace firn::commit
