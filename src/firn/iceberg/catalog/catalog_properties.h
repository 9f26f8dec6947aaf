#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firn::iceberg {

/// How a catalog is reached, in PyIceberg's names: "type", "uri", "warehouse", "token",
/// "s3.endpoint", ... Values may be secrets: no message shows one.
using CatalogProperties = std::map<std::string, std::string>;

namespace catalog_property {
inline constexpr const char* kType = "type";
inline constexpr const char* kUri = "uri";
inline constexpr const char* kWarehouse = "warehouse";
}  // namespace catalog_property

enum class CatalogType { kSql, kRest };

enum class CatalogMode {
  /// Makes an embedded catalog, and the tables of one in a database, if they are missing.
  kCreate,
  /// Makes nothing.
  kExisting,
};

/// What is wrong with one property, for whoever knows where it was written.
struct PropertyProblem {
  std::string property;
  std::string text;

  bool operator==(const PropertyProblem&) const = default;
};

/// The value of a property; nothing where it is missing or empty, as PyIceberg takes it.
std::optional<std::string> FindProperty(const CatalogProperties& properties,
                                        const std::string& name);

/// What `type` says, else what the scheme of `uri` implies; nothing if neither is known.
std::optional<CatalogType> CatalogTypeOf(const CatalogProperties& properties);

/// The first thing that keeps a catalog from being opened with these properties: an
/// unknown type, a missing uri, or one that does not fit the type.
std::optional<PropertyProblem> FindPropertyProblem(const CatalogProperties& properties);

/// An address without what may be a secret in it: "postgresql://host:5432/lake", a
/// SQLite file as its path.
std::string ShownUri(std::string_view uri);

/// Whether Firn or PyIceberg knows a property of this name.
bool IsKnownProperty(std::string_view name);

/// The names without a dot that IsKnownProperty knows.
const std::vector<std::string>& KnownPlainProperties();

enum class SqlDialect { kSqlite, kPostgres };

/// The database that an address names, whatever Python driver it asks for
/// ("postgresql+psycopg2://").
struct SqlAddress {
  SqlDialect dialect = SqlDialect::kSqlite;
  /// A path for SQLite, libpq's form of the address for PostgreSQL.
  std::string target;

  bool operator==(const SqlAddress&) const = default;
};

/// Nothing for an address of no known database, and for one of a database in memory.
std::optional<SqlAddress> ParseSqlUri(std::string_view uri);

}  // namespace firn::iceberg
