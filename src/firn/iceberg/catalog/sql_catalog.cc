#include "firn/iceberg/catalog/sql_catalog.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "firn/core/crash_point.h"
#include "firn/core/ulid.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/io/old_metadata.h"
#include "firn/storage/location.h"

namespace firn::iceberg {
namespace {

constexpr const char* kCreateTables[] = {
    "CREATE TABLE IF NOT EXISTS iceberg_tables ("
    "catalog_name VARCHAR(255) NOT NULL, "
    "table_namespace VARCHAR(255) NOT NULL, "
    "table_name VARCHAR(255) NOT NULL, "
    "metadata_location VARCHAR(1000), "
    "previous_metadata_location VARCHAR(1000), "
    "iceberg_type VARCHAR(5), "
    "PRIMARY KEY (catalog_name, table_namespace, table_name))",
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties ("
    "catalog_name VARCHAR(255) NOT NULL, "
    "namespace VARCHAR(255) NOT NULL, "
    "property_key VARCHAR(255) NOT NULL, "
    "property_value VARCHAR(1000) NOT NULL, "
    "PRIMARY KEY (catalog_name, namespace, property_key))",
};

constexpr std::string_view kTables = "iceberg_tables";
constexpr std::string_view kNamespaces = "iceberg_namespace_properties";
constexpr std::string_view kTypeColumn = "iceberg_type";

/// Of a value in a message.
constexpr std::size_t kShownBytesMax = 100;

constexpr std::string_view kOneTable =
    "catalog_name = $1 AND table_namespace = $2 AND table_name = $3";

/// How PyIceberg and Java note a namespace that has no properties of its own.
constexpr const char* kExistsKey = "exists";
constexpr const char* kExistsValue = "true";
constexpr const char* kLocationKey = "location";

Status NoTable(const TableIdentifier& identifier) {
  return Error(ErrorKind::kNotFound, "there is no table {}", identifier);
}

Status NoNamespace(std::string_view namespace_name) {
  return Error(ErrorKind::kNotFound, "there is no namespace {}", namespace_name);
}

Status MakeTables(SqlDatabase& database) {
  for (const char* sql : kCreateTables) {
    const Status made = database.Write(sql).status();
    // PostgreSQL says so when two make a table at once, IF NOT EXISTS or not.
    if (!IsError(made, ErrorKind::kAlreadyExists)) FIRN_RETURN_NOT_OK(made);
  }
  return Status::OK();
}

Status CheckColumns(const SqlDatabase& database, std::string_view table,
                    const std::vector<std::string>& columns,
                    std::initializer_list<std::string_view> needed) {
  for (const std::string_view name : needed) {
    if (std::ranges::find(columns, name) != columns.end()) continue;
    return InvalidError(
        "{}: table {} is no catalog's, it has no column {}; name another database",
        database.name(), table, name);
  }
  return Status::OK();
}

/// The columns of iceberg_tables. Both tables are there then, made only where they are
/// missing: that needs the write lock.
Result<std::vector<std::string>> ColumnsOfTables(SqlDatabase& database,
                                                 CatalogMode mode) {
  FIRN_ASSIGN_OR_RETURN(auto tables, database.ColumnsOf(kTables));
  FIRN_ASSIGN_OR_RETURN(auto namespaces, database.ColumnsOf(kNamespaces));
  if (tables.empty() || namespaces.empty()) {
    if (mode == CatalogMode::kExisting) {
      return Error(ErrorKind::kNotFound,
                   "{} holds no catalog: it has no tables {} and {}", database.name(),
                   kTables, kNamespaces);
    }
    FIRN_RETURN_NOT_OK(MakeTables(database));
    FIRN_ASSIGN_OR_RETURN(tables, database.ColumnsOf(kTables));
    FIRN_ASSIGN_OR_RETURN(namespaces, database.ColumnsOf(kNamespaces));
  }
  FIRN_RETURN_NOT_OK(CheckColumns(database, kTables, tables,
                                  {"catalog_name", "table_namespace", "table_name",
                                   "metadata_location", "previous_metadata_location"}));
  FIRN_RETURN_NOT_OK(
      CheckColumns(database, kNamespaces, namespaces,
                   {"catalog_name", "namespace", "property_key", "property_value"}));
  return tables;
}

/// A value as a message shows it; the bytes that are not printable text as "\\xff".
std::string Shown(const std::optional<std::string>& value) {
  if (!value) return "NULL";
  std::string shown;
  for (const char c : value->substr(0, kShownBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte >= 0x20 && byte < 0x7F;
    shown += is_plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return fmt::format("'{}'{}", shown, value->size() > kShownBytesMax ? "..." : "");
}

/// Corruption, with `place` and the value, unless a column holds an absolute location.
/// SQLite keeps values of any type in a column of text.
Status CheckIsLocation(const std::optional<std::string>& value, std::string_view place,
                       std::string_view way_out) {
  const bool is_location = value && value->find('\0') == std::string::npos &&
                           storage::ParseLocation(*value).ok();
  if (is_location) return Status::OK();
  return Error(ErrorKind::kCorruption, "{} is no location: {} (it is {})", place, way_out,
               Shown(value));
}

Status TableIsThere(const TableIdentifier& identifier) {
  return Error(ErrorKind::kAlreadyExists, "table {} is there already", identifier);
}

}  // namespace

Result<std::unique_ptr<SqlCatalog>> SqlCatalog::Open(
    std::unique_ptr<SqlDatabase> database, SqlCatalogOptions options, const FileIo& io,
    Runtime& runtime) {
  FIRN_ASSIGN_OR_RETURN(const auto columns, ColumnsOfTables(*database, options.mode));
  const bool has_type_column = std::ranges::find(columns, kTypeColumn) != columns.end();
  return std::unique_ptr<SqlCatalog>(new SqlCatalog(
      std::move(options), std::move(database), has_type_column, io, runtime));
}

SqlCatalog::SqlCatalog(SqlCatalogOptions options, std::unique_ptr<SqlDatabase> database,
                       bool has_type_column, const FileIo& io, Runtime& runtime)
    : options_(std::move(options)),
      database_(std::move(database)),
      only_tables_(
          has_type_column ? " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)" : ""),
      has_type_column_(has_type_column),
      io_(io),
      runtime_(runtime),
      cache_(runtime) {}

std::vector<std::string> SqlCatalog::KeyOf(const TableIdentifier& identifier) const {
  return {options_.catalog_name, identifier.namespace_name, identifier.name};
}

Result<std::string> SqlCatalog::MetadataLocation(const TableIdentifier& identifier) {
  FIRN_ASSIGN_OR_RETURN(
      const auto rows,
      database_->Query(fmt::format("SELECT metadata_location FROM iceberg_tables WHERE "
                                   "{}{}",
                                   kOneTable, only_tables_),
                       KeyOf(identifier)));
  if (rows.empty()) return NoTable(identifier);
  FIRN_RETURN_NOT_OK(CheckIsLocation(
      rows[0][0],
      fmt::format("{}: catalog {}: table {}: column metadata_location of {}",
                  database_->name(), options_.catalog_name, identifier, kTables),
      "set it to the newest file in the folder metadata of the table, or drop the table "
      "and register it anew"));
  return *rows[0][0];
}

Result<LoadedTable> SqlCatalog::LoadTable(const TableIdentifier& identifier) {
  FIRN_ASSIGN_OR_RETURN(std::string location, MetadataLocation(identifier));
  while (true) {
    auto known = cache_.Find(identifier);
    if (known && known->metadata_location == location) return *std::move(known);
    Result<TableMetadata> metadata =
        ReadTableMetadata(io_, location, known ? &known->metadata : nullptr);
    if (metadata.ok()) {
      LoadedTable table{*std::move(metadata), location};
      cache_.Put(identifier, table);
      return table;
    }
    if (!IsError(metadata.status(), ErrorKind::kNotFound)) return metadata.status();
    // Other engines delete old metadata files: a commit in between may have made this one
    // old.
    FIRN_ASSIGN_OR_RETURN(std::string now, MetadataLocation(identifier));
    if (now == location) {
      return Error(ErrorKind::kCorruption, "table {}: its metadata file is gone: {}",
                   identifier, ErrorText(metadata.status()));
    }
    location = std::move(now);
  }
}

Result<bool> SqlCatalog::NamespaceExists(std::string_view namespace_name) {
  FIRN_ASSIGN_OR_RETURN(const std::vector<std::string> namespaces, ListNamespaces());
  return std::ranges::find(namespaces, namespace_name) != namespaces.end();
}

Result<std::string> SqlCatalog::NewTableLocation(const TableIdentifier& identifier) {
  FIRN_ASSIGN_OR_RETURN(
      const auto rows,
      database_->Query("SELECT property_value FROM iceberg_namespace_properties WHERE "
                       "catalog_name = $1 AND namespace = $2 AND property_key = $3",
                       {options_.catalog_name, identifier.namespace_name, kLocationKey}));
  if (rows.empty()) return DefaultTableLocation(options_.warehouse, identifier);
  FIRN_RETURN_NOT_OK(
      CheckIsLocation(rows[0][0],
                      fmt::format("{}: catalog {}: namespace {}: property {} in {}",
                                  database_->name(), options_.catalog_name,
                                  identifier.namespace_name, kLocationKey, kNamespaces),
                      "set it to a folder, or delete the row"));
  std::string folder = *rows[0][0];
  while (folder.ends_with('/')) folder.pop_back();
  return fmt::format("{}/{}", folder, identifier.name);
}

Result<LoadedTable> SqlCatalog::CreateTable(const TableIdentifier& identifier,
                                            TableCreation creation) {
  FIRN_RETURN_NOT_OK(ParseTableIdentifier(ToString(identifier)));
  FIRN_ASSIGN_OR_RETURN(const bool has_namespace,
                        NamespaceExists(identifier.namespace_name));
  if (!has_namespace) return NoNamespace(identifier.namespace_name);
  // Asked first, so that no metadata file is written for nothing.
  const Status found = MetadataLocation(identifier).status();
  if (found.ok()) return TableIsThere(identifier);
  if (!IsError(found, ErrorKind::kNotFound)) return found;
  if (creation.location.empty()) {
    FIRN_ASSIGN_OR_RETURN(creation.location, NewTableLocation(identifier));
  }
  FIRN_ASSIGN_OR_RETURN(TableMetadata metadata,
                        NewTableMetadata(std::move(creation),
                                         TableUuid(NewUuid(runtime_)), runtime_.Now()));
  std::string location = NextMetadataLocation(metadata, "", NewUuid(runtime_));
  FIRN_RETURN_NOT_OK(WriteTableMetadata(io_, location, metadata));

  std::vector<std::string> values = KeyOf(identifier);
  values.push_back(location);
  const Status inserted =
      database_
          ->Write(fmt::format("INSERT INTO iceberg_tables (catalog_name, "
                              "table_namespace, table_name, metadata_location{}) VALUES "
                              "($1, $2, $3, $4{})",
                              has_type_column_ ? ", iceberg_type" : "",
                              has_type_column_ ? ", 'TABLE'" : ""),
                  values)
          .status();
  if (IsError(inserted, ErrorKind::kAlreadyExists)) {
    return TableIsThere(identifier);
  }
  FIRN_RETURN_NOT_OK(inserted);
  LoadedTable table{std::move(metadata), std::move(location)};
  cache_.Put(identifier, table);
  return table;
}

Status SqlCatalog::SwapMetadata(const TableIdentifier& identifier,
                                const std::string& from, const std::string& to) {
  std::vector<std::string> values = KeyOf(identifier);
  values.push_back(from);
  values.push_back(to);
  FIRN_ASSIGN_OR_RETURN(
      const std::int64_t changed,
      database_->Write(
          fmt::format("UPDATE iceberg_tables SET metadata_location = $5, "
                      "previous_metadata_location = $4 WHERE {} AND metadata_location = "
                      "$4{}",
                      kOneTable, only_tables_),
          values));
  if (changed == 1) return Status::OK();
  return Error(ErrorKind::kConflict, "table {}: another commit was faster", identifier);
}

Result<LoadedTable> SqlCatalog::CommitTable(
    const TableIdentifier& identifier, const std::vector<TableRequirement>& requirements,
    const std::vector<TableUpdate>& updates) {
  FIRN_ASSIGN_OR_RETURN(LoadedTable base, LoadTable(identifier));
  FIRN_RETURN_NOT_OK(CheckWritable(base.metadata));
  FIRN_RETURN_NOT_OK(Check(requirements, base.metadata));
  const std::vector<MetadataLogEntry> log_before = base.metadata.metadata_log;
  FIRN_ASSIGN_OR_RETURN(
      TableMetadata metadata,
      Apply(std::move(base.metadata), base.metadata_location, updates, runtime_.Now()));
  std::string location =
      NextMetadataLocation(metadata, base.metadata_location, NewUuid(runtime_));
  FIRN_RETURN_NOT_OK(WriteTableMetadata(io_, location, metadata));
  CrashPoint("catalog.commit.before_swap");
  FIRN_RETURN_NOT_OK(SwapMetadata(identifier, base.metadata_location, location));
  CrashPoint("catalog.commit.after_swap");
  LoadedTable table{std::move(metadata), std::move(location)};
  cache_.Put(identifier, table);
  DeleteOldMetadata(io_, log_before, table.metadata);
  return table;
}

Status SqlCatalog::DropTable(const TableIdentifier& identifier) {
  FIRN_ASSIGN_OR_RETURN(
      const std::int64_t changed,
      database_->Write(
          fmt::format("DELETE FROM iceberg_tables WHERE {}{}", kOneTable, only_tables_),
          KeyOf(identifier)));
  return changed == 0 ? NoTable(identifier) : Status::OK();
}

Result<std::vector<TableIdentifier>> SqlCatalog::ListTables(
    std::string_view namespace_name) {
  FIRN_ASSIGN_OR_RETURN(const bool exists, NamespaceExists(namespace_name));
  if (!exists) return NoNamespace(namespace_name);
  FIRN_ASSIGN_OR_RETURN(
      const auto rows,
      database_->Query(fmt::format("SELECT table_name FROM iceberg_tables WHERE "
                                   "catalog_name = $1 AND table_namespace = $2{}",
                                   only_tables_),
                       {options_.catalog_name, std::string(namespace_name)}));
  std::vector<TableIdentifier> identifiers;
  for (const SqlRow& row : rows) {
    identifiers.push_back({std::string(namespace_name), row[0].value_or("")});
  }
  // Not by the database, whose order may be a language's.
  std::ranges::sort(identifiers);
  return identifiers;
}

Result<std::vector<std::string>> SqlCatalog::ListNamespaces() {
  FIRN_ASSIGN_OR_RETURN(
      const auto rows,
      database_->Query("SELECT table_namespace FROM iceberg_tables WHERE catalog_name = "
                       "$1 UNION SELECT namespace FROM iceberg_namespace_properties "
                       "WHERE catalog_name = $1",
                       {options_.catalog_name}));
  std::set<std::string> namespaces;
  for (const SqlRow& row : rows) {
    for (std::string& name : NamespaceAndParents(row[0].value_or(""))) {
      namespaces.insert(std::move(name));
    }
  }
  return std::vector<std::string>(namespaces.begin(), namespaces.end());
}

Status SqlCatalog::CreateNamespace(std::string_view namespace_name) {
  FIRN_RETURN_NOT_OK(CheckNamespace(namespace_name));
  FIRN_ASSIGN_OR_RETURN(const bool exists, NamespaceExists(namespace_name));
  const Status taken =
      Error(ErrorKind::kAlreadyExists, "namespace {} is there already", namespace_name);
  if (exists) return taken;
  const Status inserted =
      database_
          ->Write(
              "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, "
              "property_key, property_value) VALUES ($1, $2, $3, $4)",
              {options_.catalog_name, std::string(namespace_name), kExistsKey,
               kExistsValue})
          .status();
  return IsError(inserted, ErrorKind::kAlreadyExists) ? taken : inserted;
}

}  // namespace firn::iceberg
