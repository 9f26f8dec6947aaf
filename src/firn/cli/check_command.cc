#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "firn/cli/commands.h"
#include "firn/cli/evolve_schema.h"
#include "firn/cli/json_output.h"
#include "firn/cli/logged_tables.h"
#include "firn/cli/place_check.h"
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

/// The WAL's id if it has one; NotFound before its first use.
using MaybeWalId = Result<WalId>;

std::vector<LoggedTable> WithoutThose(std::vector<LoggedTable> logged,
                                      const std::vector<OpenTable>& tables) {
  for (const OpenTable& table : tables) {
    std::erase_if(logged, [&](const LoggedTable& one) {
      return one.uuid == table.metadata().table_uuid;
    });
  }
  return logged;
}

std::string IdsOf(const std::vector<LoggedTable>& tables) {
  std::vector<std::string> ids;
  for (const LoggedTable& table : tables) ids.push_back(fmt::to_string(table.uuid));
  return fmt::format("{}", fmt::join(ids, ", "));
}

/// A table that was dropped leaves what it had in the log; but a catalog that has none of
/// the log's tables is likely another one.
Finding OfUnknownTables(const std::string& path, const std::vector<LoggedTable>& logged) {
  return Wrong("WAL", fmt::format("{}: {}, and the catalog has none of them ({}): name "
                                  "the catalog that has them, or bring its file back; if "
                                  "they were dropped, delete their folders in the WAL",
                                  path, SumText(logged), IdsOf(logged)));
}

Finding CheckWal(Workspace& workspace, const std::string& path,
                 const std::vector<OpenTable>& tables) {
  const MaybeWalId id = wal::ReadWalId(workspace.wal_store());
  if (IsError(id.status(), ErrorKind::kNotFound)) {
    return Fine("WAL", path + ": not used yet");
  }
  if (!id.ok()) return Wrong("WAL", ErrorText(id.status()));
  const auto logged = ListLoggedTables(workspace.wal_store());
  if (!logged.ok()) return Wrong("WAL", ErrorText(logged.status()));
  const std::string text = fmt::format("{}: id {}; {}", path, *id, SumText(*logged));
  const auto strangers = WithoutThose(*logged, tables);
  if (strangers.empty()) return Fine("WAL", text);
  if (strangers.size() < logged->size()) {
    return Fine("WAL", fmt::format("{}; the catalog does not have {} of them ({})", text,
                                   FormatCount(std::ssize(strangers)), IdsOf(strangers)));
  }
  return OfUnknownTables(path, *logged);
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
  FIRN_RETURN_NOT_OK(CheckUnknownFields(workspace.config(), table));
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
  if (!settings->sqlite_file.empty()) return settings->sqlite_file;
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

/// Two names of one table share its log, and each has positions of its own: what is
/// loaded under one name may be shifted under the other, or under both.
void CheckHaveOneName(const std::vector<OpenTable>& tables,
                      std::vector<Finding>& findings) {
  std::map<TableUuid, iceberg::TableIdentifier> names;
  for (const OpenTable& table : tables) {
    const auto [first, is_first] =
        names.emplace(table.metadata().table_uuid, table.identifier);
    if (is_first) continue;
    findings.push_back(
        Wrong(fmt::format("tables {} and {}", first->second, table.identifier),
              fmt::format("are one table by two names, which share one log: rows may "
                          "land under either, or under both; take one of the names out "
                          "of the catalog, without the files (uuid {})",
                          table.metadata().table_uuid)));
  }
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
  CheckHaveOneName(tables, findings);
  CheckConfiguredTables(workspace.config(), *identifiers, findings);
  CheckSources(workspace.config(), *identifiers, findings);
}

Result<std::vector<LoggedTable>> ListLogAlone(const CommandContext& context,
                                              const std::string& path) {
  FIRN_ASSIGN_OR_RETURN(const auto stores, OpenStores(context));
  FIRN_ASSIGN_OR_RETURN(const auto wal, stores->OpenFolder(path, Stores::Missing::kFail));
  return ListLoggedTables(*wal);
}

/// What the log holds although there is no catalog.
void CheckLogAlone(const CommandContext& context, const std::string& path,
                   std::vector<Finding>& findings) {
  const auto logged = ListLogAlone(context, path);
  const bool is_missing = IsError(logged.status(), ErrorKind::kNotFound);
  if (is_missing || (logged.ok() && logged->empty())) return;
  findings.push_back(logged.ok() ? OfUnknownTables(path, *logged)
                                 : Wrong("WAL", ErrorText(logged.status())));
}

Result<std::vector<Finding>> Check(const CommandContext& context) {
  const Config& config = context.config;
  FIRN_ASSIGN_OR_RETURN(const std::string wal_path, WalRootPath(config));
  std::vector<Finding> findings;
  FIRN_RETURN_NOT_OK(CheckPlaces(context, wal_path, findings));
  const auto workspace = OpenWorkspace(context, WorkspaceMode::kExisting);
  if (IsError(workspace.status(), ErrorKind::kNotFound)) {
    findings.push_back(
        Fine("catalog", CatalogText(config, "") + ": not there yet, will be made"));
    CheckLogAlone(context, wal_path, findings);
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
