#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "firn/cli/commands.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table_access.h"
#include "firn/cli/terminal.h"
#include "firn/cli/units.h"
#include "firn/cli/workspace.h"
#include "firn/commit/positions.h"
#include "firn/commit/rollback.h"
#include "firn/core/nearest.h"
#include "firn/core/ulid.h"
#include "firn/shift/table_check.h"
#include "firn/wal/wal_reader.h"
#include "firn/wal/wal_root.h"

namespace firn::cli {
namespace {

namespace fs = std::filesystem;

/// What was looked at, and what was found.
struct Finding {
  std::string subject;
  bool fine = true;
  std::string text;
};

Finding Fine(std::string subject, std::string text) {
  return {.subject = std::move(subject), .fine = true, .text = std::move(text)};
}

Finding Wrong(std::string subject, std::string text) {
  return {.subject = std::move(subject), .fine = false, .text = std::move(text)};
}

/// The folder itself, or the nearest above it that is there.
fs::path NearestExisting(fs::path path) {
  std::error_code error;
  while (!fs::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  return path;
}

/// A folder that Firn writes in: there or to be made, writable, with so many bytes free.
Finding CheckFolder(const std::string& subject, const std::string& path,
                    std::int64_t bytes_needed) {
  const fs::path existing = NearestExisting(path);
  std::error_code error;
  if (!fs::is_directory(existing, error)) {
    return Wrong(subject, fmt::format("{}: {} is not a folder; name another one", path,
                                      existing.string()));
  }
  if (access(existing.c_str(), R_OK | W_OK | X_OK) != 0) {
    return Wrong(subject,
                 fmt::format("{}: {}: {}; let this user read and write there, or "
                             "name another folder",
                             path, existing.string(), std::strerror(errno)));
  }
  struct statvfs disk{};
  if (statvfs(existing.c_str(), &disk) != 0) {
    return Wrong(subject, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  const auto free =
      static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
  if (free < bytes_needed) {
    return Wrong(subject,
                 fmt::format("{}: only {} are free, and one file may need {}; make "
                             "room, or name a folder on another disk",
                             path, FormatBytes(free), FormatBytes(bytes_needed)));
  }
  const bool is_there = fs::exists(path, error);
  return Fine(subject, fmt::format("{}: {}{} free", path,
                                   is_there ? "" : "not there yet, will be made; ",
                                   FormatBytes(free)));
}

std::optional<std::int64_t> CgroupMemory() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::int64_t bytes = 0;
  return file >> bytes ? std::optional(bytes) : std::nullopt;
}

Finding CheckMemory(std::int64_t limit) {
  std::int64_t machine = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
  if (const auto cgroup = CgroupMemory()) machine = std::min(machine, *cgroup);
  const std::string text =
      fmt::format("memory_limit {} of {}", FormatBytes(limit), FormatBytes(machine));
  if (limit <= machine) return Fine("memory", text);
  return Wrong("memory", text + " that this process may have; set memory_limit lower");
}

/// The WAL's id if it has one; NotFound before its first use.
using MaybeWalId = Result<WalId>;

Finding CheckWal(Workspace& workspace, const std::string& path,
                 const std::vector<OpenTable>& tables) {
  const MaybeWalId id = wal::ReadWalId(workspace.wal_store());
  if (IsError(id.status(), ErrorKind::kNotFound)) {
    return Fine("WAL", path + ": not used yet");
  }
  if (!id.ok()) return Wrong("WAL", ErrorText(id.status()));
  std::int64_t segments = 0;
  std::int64_t bytes = 0;
  for (const OpenTable& table : tables) {
    const auto shards =
        wal::ListShards(workspace.wal_store(), table.metadata().table_uuid);
    if (!shards.ok()) return Wrong("WAL", ErrorText(shards.status()));
    for (const wal::ShardListing& shard : *shards) {
      for (const wal::SegmentObject& segment : shard.segments) {
        ++segments;
        bytes += segment.size_bytes;
      }
    }
  }
  return Fine("WAL", fmt::format("{}: id {}; {}, {}", path, *id,
                                 FormatCounted(segments, "segment"), FormatBytes(bytes)));
}

Status CheckPositions(Workspace& workspace, const OpenTable& table) {
  const MaybeWalId id = wal::ReadWalId(workspace.wal_store());
  // What is wrong with the WAL itself has a line of its own.
  if (!id.ok()) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const commit::TablePositions positions,
                        commit::ReadPositions(table.metadata(), *id));
  FIRN_RETURN_NOT_OK(
      CheckNotRolledBack(table.metadata(), positions, ToString(table.identifier)));
  // A shift would stop at one that is damaged.
  wal::WalReader reader(workspace.runtime(), workspace.wal_store());
  const Status read =
      reader.ListSegments(table.metadata().table_uuid, positions.reached).status();
  // A shift that runs meanwhile may have deleted one.
  return IsError(read, ErrorKind::kNotFound) ? Status::OK() : read;
}

Status CheckPartitionFields(const Config& config, const OpenTable& table) {
  const auto found = config.tables.find(ToString(table.identifier));
  if (found == config.tables.end()) return Status::OK();
  for (const std::string& name : found->second.non_empty_partition_fields) {
    const auto& fields = DefaultSpec(table.metadata()).fields;
    if (std::ranges::find(fields, name, &types::PartitionField::name) != fields.end()) {
      continue;
    }
    return InvalidError(
        "non_empty_partition_fields of the configuration names {}, which is no partition "
        "field of the table",
        name);
  }
  return Status::OK();
}

Status CheckTable(Workspace& workspace, const OpenTable& table) {
  FIRN_RETURN_NOT_OK(shift::CheckShiftable(table.metadata()));
  FIRN_RETURN_NOT_OK(wal::CheckOutsideTable(workspace.wal_store().Location(""),
                                            table.metadata().location));
  FIRN_RETURN_NOT_OK(CheckPartitionFields(workspace.config(), table));
  return CheckPositions(workspace, table);
}

/// Tables that the configuration speaks of and the catalog does not have.
void CheckConfiguredTables(const Config& config,
                           const std::vector<iceberg::TableIdentifier>& identifiers,
                           std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const auto& identifier : identifiers) names.push_back(ToString(identifier));
  for (const auto& [name, table] : config.tables) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const std::string nearest =
        names.empty() ? "" : fmt::format("; the nearest is {}", NearestName(names, name));
    findings.push_back(
        Wrong("table " + name,
              "the configuration names it, and the catalog has no such table" + nearest));
  }
}

Status CheckSource(const FolderConfig& source,
                   const std::vector<iceberg::TableIdentifier>& identifiers) {
  FIRN_ASSIGN_OR_RETURN(const auto table, iceberg::ParseTableIdentifier(source.table));
  if (std::ranges::find(identifiers, table) == identifiers.end()) {
    return InvalidError("its table {0} is not there; 'firn table create {0}' makes it",
                        source.table);
  }
  FIRN_ASSIGN_OR_RETURN(const std::string path, AbsolutePath(source.path));
  std::error_code error;
  if (!fs::is_directory(path, error)) return InvalidError("{} is not a folder", path);
  if (access(path.c_str(), R_OK | X_OK) == 0) return Status::OK();
  return InvalidError("{}: {}", path, std::strerror(errno));
}

/// Folders that `serve` is to follow.
void CheckSources(const Config& config,
                  const std::vector<iceberg::TableIdentifier>& identifiers,
                  std::vector<Finding>& findings) {
  for (const FolderConfig& source : config.source_files) {
    const std::string subject = "files " + source.path;
    const Status status = CheckSource(source, identifiers);
    findings.push_back(
        status.ok()
            ? Fine(subject, fmt::format("{} go into {}", source.pattern, source.table))
            : Wrong(subject, ErrorText(status)));
  }
}

std::string CatalogAddress(const Config& config) {
  const auto settings = SettingsOf(config);
  if (!settings.ok()) return "";
  return iceberg::ShownUri(
      iceberg::FindProperty(settings->properties, iceberg::catalog_property::kUri)
          .value_or(""));
}

/// OK if this role may change something: drops a table that is not there.
Status TryToChange(Workspace& workspace) {
  const Status dropped = workspace.catalog().DropTable(
      {.namespace_name = "firn_check", .name = NewUlid(workspace.runtime())});
  return IsError(dropped, ErrorKind::kNotFound) ? Status::OK() : dropped;
}

/// " (firn.yaml:2: catalog.uri)": where the first of these settings that is written
/// anywhere is; empty if none is.
std::string Origin(const CatalogConfig& catalog,
                   std::initializer_list<const char*> settings) {
  for (const char* setting : settings) {
    const auto place = catalog.places.find(setting);
    if (place != catalog.places.end()) return fmt::format(" ({})", place->second);
  }
  return "";
}

/// Its name, `figures`, and where it is, with the places of the settings that say so.
std::string CatalogText(const Config& config, const std::string& figures) {
  const CatalogConfig& catalog = config.catalog;
  return fmt::format("{}{}{}, at {}{}", catalog.name, Origin(catalog, {"name"}), figures,
                     CatalogAddress(config),
                     Origin(catalog, {iceberg::catalog_property::kUri,
                                      iceberg::catalog_property::kWarehouse}));
}

Finding CheckCatalog(Workspace& workspace, std::size_t tables) {
  const Config& config = workspace.config();
  const Status changed = TryToChange(workspace);
  if (!changed.ok()) {
    return Wrong("catalog", fmt::format("{}: can be read, but not changed: {}",
                                        CatalogText(config, ""), ErrorText(changed)));
  }
  const auto count = static_cast<std::int64_t>(tables);
  return Fine("catalog", CatalogText(config, ", " + FormatCounted(count, "table")));
}

/// Loads every table, and says of each whether Firn can use it.
void CheckTables(Workspace& workspace, const std::string& wal_path,
                 std::vector<Finding>& findings) {
  const auto identifiers = ListAllTables(workspace.catalog());
  if (!identifiers.ok()) {
    findings.push_back(Wrong("catalog", CatalogText(workspace.config(), "") + ": " +
                                            ErrorText(identifiers.status())));
    return;
  }
  findings.push_back(CheckCatalog(workspace, identifiers->size()));
  std::vector<OpenTable> tables;
  std::vector<Finding> of_tables;
  for (const auto& identifier : *identifiers) {
    const std::string subject = "table " + ToString(identifier);
    auto loaded = workspace.catalog().LoadTable(identifier);
    if (!loaded.ok()) {
      of_tables.push_back(Wrong(subject, ErrorText(loaded.status())));
      continue;
    }
    tables.push_back({.identifier = identifier, .loaded = *std::move(loaded)});
    const Status status = CheckTable(workspace, tables.back());
    of_tables.push_back(status.ok() ? Fine(subject, tables.back().metadata().location)
                                    : Wrong(subject, ErrorText(status)));
  }
  findings.push_back(CheckWal(workspace, wal_path, tables));
  findings.insert(findings.end(), of_tables.begin(), of_tables.end());
  CheckConfiguredTables(workspace.config(), *identifiers, findings);
  CheckSources(workspace.config(), *identifiers, findings);
}

/// Whether both lie on one disk, so that one fills the other.
Finding CheckDisks(const std::string& warehouse, const std::string& wal) {
  std::error_code error;
  struct stat a{};
  struct stat b{};
  const bool is_known = stat(NearestExisting(warehouse).c_str(), &a) == 0 &&
                        stat(NearestExisting(wal).c_str(), &b) == 0;
  if (!is_known) return Wrong("disks", std::strerror(errno));
  return Fine("disks", a.st_dev == b.st_dev
                           ? "warehouse and WAL share one, a full WAL stops commits, too"
                           : "warehouse and WAL have one each");
}

/// Lists what is not there, since a folder may be empty and another large; then puts an
/// object there, and deletes it.
Status TryBucket(const std::string& folder, const iceberg::FileIo& io, Runtime& runtime) {
  FIRN_ASSIGN_OR_RETURN(const auto object, io.Locate(folder + "/firn-check/"));
  const auto& [store, prefix] = object;
  FIRN_RETURN_NOT_OK(store->List(prefix).status());
  const std::string key = prefix + NewUlid(runtime);
  FIRN_RETURN_NOT_OK(AddContext(store->PutWhole(key, "", storage::PutMode::kIfAbsent),
                                "can be read, but not written"));
  return AddContext(store->Delete(key), "can be written, but nothing deleted");
}

Finding CheckBucket(const std::string& subject, std::string folder,
                    const iceberg::FileIo& io, Runtime& runtime) {
  while (folder.ends_with('/')) folder.pop_back();
  const Status status = TryBucket(folder, io, runtime);
  return status.ok() ? Fine(subject, folder) : Wrong(subject, ErrorText(status));
}

/// Those of warehouse and WAL that lie in S3.
Status CheckBuckets(const CommandContext& context, const std::string& wal_path,
                    std::vector<Finding>& findings) {
  FIRN_ASSIGN_OR_RETURN(const auto stores, OpenStores(context));
  const std::string warehouse = context.config.catalog.warehouse();
  const auto check = [&](const std::string& subject, const std::string& folder) {
    if (!IsInS3(folder)) return;
    findings.push_back(CheckBucket(subject, folder, stores->file_io(), context.runtime));
  };
  // What a REST catalog calls so may be no place, or one for which it vends the keys.
  const bool is_name = iceberg::CatalogTypeOf(context.config.catalog.properties) ==
                       iceberg::CatalogType::kRest;
  if (!is_name) check("warehouse", warehouse);
  check("WAL folder", wal_path);
  return Status::OK();
}

/// What the warehouse and the WAL need of this machine.
Status CheckMachine(const Config& config, const std::string& wal_path,
                    std::vector<Finding>& findings) {
  const auto folder = config.catalog.warehouse_folder();
  if (folder) {
    FIRN_ASSIGN_OR_RETURN(const std::string warehouse, AbsolutePath(*folder));
    findings.push_back(CheckFolder("warehouse", warehouse,
                                   config.shift.upper_bound_input_bytes_per_task));
    if (!IsInS3(wal_path)) findings.push_back(CheckDisks(warehouse, wal_path));
  }
  if (!IsInS3(wal_path)) {
    findings.push_back(CheckFolder("WAL folder", wal_path, config.wal.flush_bytes));
  }
  findings.push_back(CheckMemory(config.memory_limit));
  return Status::OK();
}

Result<std::vector<Finding>> Check(const CommandContext& context) {
  const Config& config = context.config;
  FIRN_ASSIGN_OR_RETURN(const std::string wal_path, WalRootPath(config));
  std::vector<Finding> findings;
  FIRN_RETURN_NOT_OK(CheckMachine(config, wal_path, findings));
  FIRN_RETURN_NOT_OK(CheckBuckets(context, wal_path, findings));
  const auto workspace = OpenWorkspace(context, WorkspaceMode::kExisting);
  if (IsError(workspace.status(), ErrorKind::kNotFound)) {
    findings.push_back(
        Fine("catalog", CatalogText(config, "") + ": not there yet, will be made"));
    CheckConfiguredTables(config, {}, findings);
    CheckSources(config, {}, findings);
    return findings;
  }
  if (!workspace.ok()) {
    findings.push_back(
        Wrong("catalog", CatalogText(config, "") + ": " + ErrorText(workspace.status())));
    return findings;
  }
  CheckTables(**workspace, wal_path, findings);
  return findings;
}

void PrintText(const std::vector<Finding>& findings) {
  std::size_t width = 0;
  for (const Finding& finding : findings) {
    width = std::max(width, finding.subject.size());
  }
  for (const Finding& finding : findings) {
    const std::string state = finding.fine ? Styled(stdout, Style::kGood, "fine ")
                                           : Styled(stdout, Style::kBad, "WRONG");
    fmt::print("{}  {:<{}}  {}\n", state, Printable(finding.subject), width,
               Printable(finding.text));
  }
}

Json ToJson(const std::vector<Finding>& findings) {
  Json checks = Json::array();
  for (const Finding& finding : findings) {
    checks.push_back(
        {{"subject", finding.subject}, {"fine", finding.fine}, {"text", finding.text}});
  }
  return {{"fine", std::ranges::all_of(findings, &Finding::fine)}, {"checks", checks}};
}

}  // namespace

Status RunCheck(const CommandContext& context, OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<Finding> findings, Check(context));
  if (format == OutputFormat::kJson) {
    PrintJson(ToJson(findings));
  } else {
    PrintText(findings);
  }
  const auto wrong = std::ranges::count(findings, false, &Finding::fine);
  if (wrong == 0) return Status::OK();
  return InvalidError("{} of {} checks found something wrong", wrong, findings.size());
}

}  // namespace firn::cli
