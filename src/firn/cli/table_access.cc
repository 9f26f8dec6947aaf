#include "firn/cli/table_access.h"

#include "firn/cli/commands.h"
#include "firn/cli/exit_code.h"
#include "firn/core/nearest.h"
#include "firn/core/ulid.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {

Result<std::unique_ptr<Workspace>> OpenWorkspace(const CommandContext& context,
                                                 WorkspaceMode mode) {
  return Workspace::Open(context.config, context.runtime, mode,
                         {.wrap_store = context.wrap_store, .stop = context.stop});
}

Result<std::unique_ptr<Stores>> OpenStores(const CommandContext& context) {
  return Stores::Open(context.config.catalog.properties, context.runtime,
                      {.wrap_store = context.wrap_store, .stop = context.stop});
}

namespace {

/// "did you mean web.requests? ", or nothing.
std::string CloseTable(iceberg::Catalog& catalog, const std::string& name) {
  std::vector<std::string> names;
  // Without a list there is no proposal, and what is said stays true.
  for (const auto& identifier : ListAllTables(catalog).ValueOr({})) {
    names.push_back(ToString(identifier));
  }
  const auto close = CloseName(names, name);
  return close ? fmt::format("did you mean {}? ", *close) : "";
}

}  // namespace

Result<std::optional<OpenTable>> FindTableIfThere(Workspace& workspace,
                                                  const std::string& name) {
  const auto identifier = iceberg::ParseTableIdentifier(name);
  if (!identifier.ok()) return AsUsageError(identifier.status());
  auto loaded = workspace.catalog().LoadTable(*identifier);
  if (IsError(loaded.status(), ErrorKind::kNotFound)) return std::nullopt;
  FIRN_RETURN_NOT_OK(loaded.status());
  return OpenTable{.identifier = *identifier, .loaded = *std::move(loaded)};
}

Result<OpenTable> FindTable(Workspace& workspace, const std::string& name) {
  FIRN_ASSIGN_OR_RETURN(auto table, FindTableIfThere(workspace, name));
  if (table) return *std::move(table);
  return Error(ErrorKind::kNotFound,
               "there is no table {} in warehouse {}; {}'firn load {} FILE --create' or "
               "'firn table create' makes it",
               name, workspace.config().catalog.warehouse(),
               CloseTable(workspace.catalog(), name), name);
}

Result<WalId> WalIdForReading(Workspace& workspace) {
  auto id = wal::ReadWalId(workspace.wal_store());
  if (IsError(id.status(), ErrorKind::kNotFound))
    return WalId(NewUlid(workspace.runtime()));
  return id;
}

Result<std::vector<iceberg::TableIdentifier>> ListAllTables(iceberg::Catalog& catalog) {
  FIRN_ASSIGN_OR_RETURN(const auto namespaces, catalog.ListNamespaces());
  std::vector<iceberg::TableIdentifier> all;
  for (const std::string& name : namespaces) {
    FIRN_ASSIGN_OR_RETURN(const auto tables, catalog.ListTables(name));
    all.insert(all.end(), tables.begin(), tables.end());
  }
  return all;
}

namespace {

planner::Limits PlannerLimits(const Config& config) {
  const ShiftConfig& shift = config.shift;
  return {
      .lower_bound_input_bytes_per_task = shift.lower_bound_input_bytes_per_task,
      .upper_bound_input_bytes_per_task = shift.upper_bound_input_bytes_per_task,
      .max_row_groups_per_task = shift.max_row_groups_per_task,
      .oversized_clusters = shift.oversized_clusters,
  };
}

/// Smaller row groups cost readers more than they save here.
constexpr std::int64_t kRowGroupBytesLeast = 4LL << 20;

}  // namespace

shift::TableShiftOptions ShiftOptions(const Config& config, const std::string& table) {
  const ShiftConfig& shift = config.shift;
  shift::TableShiftOptions options{
      .iteration = {.limits = PlannerLimits(config),
                    .iteration_bytes = shift.iteration_bytes,
                    .workers = static_cast<int>(shift.workers)},
      .commit_queue_size = static_cast<std::size_t>(config.commit_queue_size),
      .dead_after = config.wal.dead_after,
      .retention = config.wal.retention,
  };
  options.iteration.writer.writer_max_parquet_bytes = shift.file_bytes_max();
  options.iteration.writer.max_open_runs = config.merge_max_open_runs;
  // A worker's open row group is one of several things that its share must hold.
  options.iteration.writer.row_group_bytes_max =
      std::max(config.memory_limit / (8 * shift.workers), kRowGroupBytesLeast);
  options.spool_memory_bytes =
      std::min(options.spool_memory_bytes, config.memory_limit / 4);
  const auto of_table = config.tables.find(table);
  if (of_table != config.tables.end()) {
    options.iteration.limits.non_empty_partition_fields =
        of_table->second.non_empty_partition_fields;
  }
  return options;
}

shift::TableShift MakeTableShift(Workspace& workspace, wal::WalReader& reader,
                                 const OpenTable& table, const WalId& wal_id) {
  return shift::TableShift({.runtime = workspace.runtime(),
                            .memory = workspace.memory(),
                            .metrics = workspace.metrics(),
                            .catalog = workspace.catalog(),
                            .io = workspace.file_io(),
                            .wal_store = workspace.wal_store(),
                            .wal_reader = reader},
                           table.identifier, wal_id,
                           ShiftOptions(workspace.config(), ToString(table.identifier)));
}

}  // namespace firn::cli
