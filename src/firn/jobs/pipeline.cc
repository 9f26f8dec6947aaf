#include "firn/jobs/pipeline.h"

#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "firn/commit/evolve.h"
#include "firn/iceberg/update/schema_change.h"
#include "firn/shift/table_check.h"
#include "firn/shift/wal_layout.h"
#include "firn/sources/dead_letters.h"
#include "firn/types/schema_changes.h"
#include "firn/types/schema_union.h"
#include "firn/wal/wal_root.h"

namespace firn::jobs {
namespace {

/// Tables that wait to be opened for a request.
constexpr std::size_t kOpeningMax = 256;
/// While the catalog could not be listed yet.
constexpr Duration kFirstDiscoveryInterval = std::chrono::seconds(2);
/// Later: how often tables are looked for that others have made.
constexpr Duration kDiscoveryInterval = std::chrono::minutes(1);
/// Tables that are shifted at the same time.
constexpr int kShiftsAtOnce = 4;

/// A failure that is none of what was wanted: the same may be sent again.
Status OfCatalog(const Status& status) {
  if (!status.IsInvalid()) return status;
  return MakeError(ErrorKind::kUnavailable, ErrorText(status));
}

/// True if rows of `wanted` are rows of `schema`. What ids say does not count.
bool Takes(const types::Schema& schema, const types::Schema& wanted) {
  const auto united = types::UnionByName(
      schema, wanted, {.last_column_id = types::HighestFieldId(schema)});
  return united.ok() && *united == schema;
}

}  // namespace

Pipeline::Pipeline(Environment environment, PipelineOptions options)
    : environment_(std::move(environment)),
      options_(std::move(options)),
      dead_letters_(environment_.runtime, environment_.metrics, environment_.events,
                    options_.dead_letter_alarm),
      wal_reader_(environment_.runtime, environment_.wal_store),
      permits_(environment_.runtime, kShiftsAtOnce),
      open_mutex_(environment_.runtime),
      mutex_(environment_.runtime),
      closing_changed_(environment_.runtime),
      opener_(environment_.runtime, kOpeningMax),
      discoverer_(environment_.runtime, "discover", [this] { DiscoverUntilClosed(); }) {}

Pipeline::~Pipeline() { Close(); }

std::shared_ptr<Pipeline::Table> Pipeline::FindTable(const std::string& name) {
  MutexLock lock(mutex_);
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : found->second;
}

std::shared_ptr<TableIngest> Pipeline::Find(const std::string& name) {
  const std::shared_ptr<Table> table = FindTable(name);
  if (table == nullptr || table->is_gone) return nullptr;
  return {table, table->ingest.get()};
}

void Pipeline::Open(const std::string& name, Missing missing, const Opened& opened) {
  if (auto open = Find(name)) return opened(std::move(open));
  RunOpening(name, [this, name, missing] { return OpenNow(name, missing); }, opened);
}

void Pipeline::Evolve(const std::string& name, const types::Schema& wanted,
                      const Opened& opened) {
  RunOpening(name, [this, name, wanted] { return EvolveNow(name, wanted); }, opened);
}

void Pipeline::RunOpening(
    const std::string& name,
    const std::function<Result<std::shared_ptr<TableIngest>>()>& open,
    const Opened& opened) {
  if (opener_.TryRun([open, opened] { opened(open()); })) return;
  opened(Error(ErrorKind::kUnavailable, "{}: too many tables are being opened", name));
}

Result<std::shared_ptr<TableIngest>> Pipeline::EvolveNow(const std::string& name,
                                                         const types::Schema& wanted) {
  FIRN_ASSIGN_OR_RETURN(const auto identifier, iceberg::ParseTableIdentifier(name));
  FIRN_ASSIGN_OR_RETURN(auto ingest, OpenNow(name, Missing::kFail));
  const auto before = ingest->layout();
  // Another request may have wanted the same.
  if (Takes(before->schema, wanted)) return ingest;
  const auto now = environment_.catalog.LoadTable(identifier);
  FIRN_RETURN_NOT_OK(OfCatalog(now.status()));
  FIRN_RETURN_NOT_OK(PrepareSchemaChange(now->metadata, wanted).status());
  const auto evolved = commit::EvolveTable(
      environment_.catalog, environment_.runtime,
      {.identifier = identifier, .uuid = before->uuid, .stop = stop_.token()}, wanted);
  FIRN_RETURN_NOT_OK(OfCatalog(evolved.status()));
  const iceberg::LoadedTable& table = *evolved;
  ingest->ChangeLayout(shift::WalLayoutOf(table.metadata));
  const auto changes =
      types::SchemaChanges(before->schema, CurrentSchema(table.metadata));
  environment_.events(EventLevel::kInfo, fmt::format("{}: schema changed: {}", name,
                                                     fmt::join(changes, ", ")));
  return ingest;
}

Result<std::shared_ptr<TableIngest>> Pipeline::OpenNow(const std::string& name,
                                                       Missing missing) {
  FIRN_ASSIGN_OR_RETURN(const auto identifier, iceberg::ParseTableIdentifier(name));
  MutexLock open_lock(open_mutex_);
  if (auto open = Find(name)) return open;
  FIRN_ASSIGN_OR_RETURN(const iceberg::LoadedTable loaded, Load(identifier, missing));
  if (const std::shared_ptr<Table> table = FindTable(name)) {
    table->ingest->ChangeLayout(shift::WalLayoutOf(loaded.metadata));
    table->is_gone = false;
    return std::shared_ptr<TableIngest>(table, table->ingest.get());
  }
  FIRN_RETURN_NOT_OK(CheckHasOneName(identifier, loaded.metadata.table_uuid));
  FIRN_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table,
                        Make(identifier, loaded.metadata));
  MutexLock lock(mutex_);
  if (closing_) return MakeError(ErrorKind::kUnavailable, "firn is stopping");
  tables_[name] = table;
  return std::shared_ptr<TableIngest>(table, table->ingest.get());
}

std::optional<std::string> Pipeline::OtherNameOf(const std::string& name,
                                                 const TableUuid& uuid) {
  MutexLock lock(mutex_);
  for (const auto& [other, table] : tables_) {
    if (other != name && !table->is_gone && table->ingest->layout()->uuid == uuid) {
      return other;
    }
  }
  return std::nullopt;
}

Status Pipeline::CheckHasOneName(const iceberg::TableIdentifier& identifier,
                                 const TableUuid& uuid) {
  const auto other = OtherNameOf(ToString(identifier), uuid);
  if (!other) return Status::OK();
  // It may have been renamed since.
  FIRN_ASSIGN_OR_RETURN(const auto other_identifier,
                        iceberg::ParseTableIdentifier(*other));
  const auto loaded = environment_.catalog.LoadTable(other_identifier);
  if (!loaded.ok() || loaded->metadata.table_uuid != uuid) return Status::OK();
  return InvalidError(
      "{} is the table that is served as {} already, by another name in the catalog: "
      "both would share one log, and rows land under either; take one of the names out "
      "of the catalog, without the files (uuid {})",
      identifier, *other, uuid);
}

Result<iceberg::LoadedTable> Pipeline::Load(const iceberg::TableIdentifier& identifier,
                                            Missing missing) {
  auto loaded = environment_.catalog.LoadTable(identifier);
  const bool is_missing = IsError(loaded.status(), ErrorKind::kNotFound);
  if (!is_missing) return loaded;
  if (missing == Missing::kFail) {
    return Error(ErrorKind::kNotFound,
                 "there is no table {0}; 'firn table create {0}' makes it", identifier);
  }
  auto created = environment_.catalog.CreateTable(
      identifier, {.schema = sources::DeadLetterSchema()});
  // Another process may have made it meanwhile.
  if (!IsError(created.status(), ErrorKind::kAlreadyExists)) return created;
  return environment_.catalog.LoadTable(identifier);
}

Result<std::shared_ptr<Pipeline::Table>> Pipeline::Make(
    const iceberg::TableIdentifier& identifier, const iceberg::TableMetadata& metadata) {
  // What cannot be shifted must not be acknowledged.
  FIRN_RETURN_NOT_OK(shift::CheckShiftable(metadata));
  FIRN_RETURN_NOT_OK(
      wal::CheckOutsideTable(environment_.wal_store.Location(""), metadata.location));
  const std::string name = ToString(identifier);
  auto table = std::make_shared<Table>();
  table->loop =
      std::make_unique<ShiftLoop>(ShiftLoop::Environment{.runtime = environment_.runtime,
                                                         .permits = permits_,
                                                         .metrics = environment_.metrics,
                                                         .events = environment_.events},
                                  name, MakeShift(identifier), options_.trigger,
                                  [this, identifier] { return Refresh(identifier); });
  ShiftLoop& loop = *table->loop;
  FIRN_ASSIGN_OR_RETURN(
      table->ingest,
      TableIngest::Start(
          {.runtime = environment_.runtime,
           .memory = environment_.buffer_memory,
           .wal_store = environment_.wal_store,
           .metrics = environment_.metrics,
           .events = environment_.events},
          name, shift::WalLayoutOf(metadata), options_.buffer,
          {.segment_done = [&loop](std::int64_t bytes) { loop.OnSegment(bytes); },
           .uncommitted_bytes = [&loop] { return loop.uncommitted_bytes(); },
           .uncommitted_bytes_max = options_.uncommitted_bytes_max}));
  return table;
}

std::unique_ptr<shift::TableShift> Pipeline::MakeShift(
    const iceberg::TableIdentifier& identifier) {
  return std::make_unique<shift::TableShift>(
      shift::TableShift::Environment{.runtime = environment_.runtime,
                                     .memory = environment_.shift_memory,
                                     .metrics = environment_.metrics,
                                     .catalog = environment_.catalog,
                                     .io = environment_.io,
                                     .wal_store = environment_.wal_store,
                                     .wal_reader = wal_reader_},
      identifier, environment_.wal_id, options_.shift_options(ToString(identifier)));
}

Result<iceberg::TableMetadata> Pipeline::Refresh(
    const iceberg::TableIdentifier& identifier) {
  // Null while it is being opened.
  const std::shared_ptr<Table> table = FindTable(ToString(identifier));
  auto loaded = environment_.catalog.LoadTable(identifier);
  const bool is_gone = IsError(loaded.status(), ErrorKind::kNotFound);
  if (table != nullptr && is_gone) table->is_gone = true;
  FIRN_RETURN_NOT_OK(loaded.status());
  if (table != nullptr) {
    table->ingest->ChangeLayout(shift::WalLayoutOf(loaded->metadata));
    table->is_gone = false;
  }
  return std::move(loaded->metadata);
}

void Pipeline::DiscoverUntilClosed() {
  while (true) {
    const Status discovered = Discover();
    if (discovered.ok()) is_ready_ = true;
    if (!AwaitDiscovery()) return;
    if (discovered.ok()) continue;
    environment_.events(
        EventLevel::kWarning,
        fmt::format("the catalog's tables cannot be listed: {}", ErrorText(discovered)));
  }
}

bool Pipeline::AwaitDiscovery() {
  MutexLock lock(mutex_);
  Runtime& runtime = environment_.runtime;
  const Duration interval = is_ready_ ? kDiscoveryInterval : kFirstDiscoveryInterval;
  const BootTime next = runtime.SinceBoot() + interval;
  while (!closing_ && runtime.SinceBoot() < next) {
    closing_changed_.WaitFor(mutex_, next - runtime.SinceBoot());
  }
  return !closing_;
}

Status Pipeline::Discover() {
  FIRN_ASSIGN_OR_RETURN(const auto namespaces, environment_.catalog.ListNamespaces());
  for (const std::string& name : namespaces) {
    FIRN_ASSIGN_OR_RETURN(const auto tables, environment_.catalog.ListTables(name));
    for (const iceberg::TableIdentifier& identifier : tables) {
      const auto opened = OpenNow(ToString(identifier), Missing::kFail);
      // A table that cannot be used holds up no other; who writes to it is told why.
      if (IsError(opened.status(), ErrorKind::kUnavailable)) return opened.status();
    }
  }
  return Status::OK();
}

void Pipeline::Close() {
  std::map<std::string, std::shared_ptr<Table>> tables;
  {
    MutexLock lock(mutex_);
    closing_ = true;
    stop_.RequestStop();
    closing_changed_.NotifyAll();
    tables = tables_;
  }
  for (const auto& [name, table] : tables) {
    table->ingest->BeginClose();
    table->loop->BeginStop();
  }
  permits_.Close();
  opener_.Close();
  discoverer_.Join();
  for (const auto& [name, table] : tables) {
    table->ingest->Close();
    table->loop->Join();
  }
}

}  // namespace firn::jobs
