#include "firn/iceberg/catalog/catalog_properties.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace firn::iceberg {
namespace {

constexpr std::string_view kSchemeEnd = "://";
constexpr const char* kSqlUris =
    "write sqlite:///<path> or postgresql://<user>:<password>@<host>/<database>";

/// What can be followed by a dot and more.
constexpr std::array<std::string_view, 10> kFamilies = {
    "adls", "auth", "client", "gcs", "header",
    "hdfs", "rest", "s3",     "ssl", "table-default"};

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// "postgresql" of "postgresql+psycopg2://host"; empty if there is none.
std::string SchemeOf(std::string_view uri) {
  const std::size_t end = uri.find(kSchemeEnd);
  if (end == std::string_view::npos) return "";
  return Lower(std::string(uri.substr(0, std::min(end, uri.find('+')))));
}

/// What stands behind the scheme.
std::string_view RestOf(std::string_view uri) {
  return uri.substr(uri.find(kSchemeEnd) + kSchemeEnd.size());
}

bool IsSqlScheme(std::string_view scheme) {
  return scheme == "sqlite" || scheme == "postgresql" || scheme == "postgres";
}

bool IsHttpScheme(std::string_view scheme) {
  return scheme == "http" || scheme == "https";
}

std::optional<CatalogType> TypeOfName(const std::string& name) {
  if (name == "sql") return CatalogType::kSql;
  if (name == "rest") return CatalogType::kRest;
  return std::nullopt;
}

std::optional<CatalogType> TypeOfScheme(std::string_view scheme) {
  if (IsSqlScheme(scheme)) return CatalogType::kSql;
  if (IsHttpScheme(scheme)) return CatalogType::kRest;
  return std::nullopt;
}

/// Without what could be a secret.
std::string Described(std::string_view uri) {
  const std::string scheme = SchemeOf(uri);
  return scheme.empty() ? "no address with a scheme" : fmt::format("{}://...", scheme);
}

std::optional<PropertyProblem> ProblemOfUri(CatalogType type, const std::string& uri) {
  using catalog_property::kUri;
  if (type == CatalogType::kRest && !IsHttpScheme(SchemeOf(uri))) {
    return PropertyProblem{
        kUri,
        fmt::format("{} cannot be a REST catalog; write https://<host>", Described(uri))};
  }
  if (type == CatalogType::kSql && !ParseSqlUri(uri)) {
    return PropertyProblem{
        kUri, fmt::format("{} cannot be a SQL catalog; {}", Described(uri), kSqlUris)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FindProperty(const CatalogProperties& properties,
                                        const std::string& name) {
  const auto found = properties.find(name);
  if (found == properties.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<CatalogType> CatalogTypeOf(const CatalogProperties& properties) {
  if (const auto type = FindProperty(properties, catalog_property::kType)) {
    return TypeOfName(Lower(*type));
  }
  const auto uri = FindProperty(properties, catalog_property::kUri);
  return uri ? TypeOfScheme(SchemeOf(*uri)) : std::nullopt;
}

std::optional<PropertyProblem> FindPropertyProblem(const CatalogProperties& properties) {
  using catalog_property::kType;
  using catalog_property::kUri;
  const auto uri = FindProperty(properties, kUri);
  if (const auto type = CatalogTypeOf(properties)) {
    if (uri) return ProblemOfUri(*type, *uri);
    return PropertyProblem{
        kUri, fmt::format("missing; {}", *type == CatalogType::kSql
                                             ? kSqlUris
                                             : "write https://<host of the catalog>")};
  }
  if (const auto type = FindProperty(properties, kType)) {
    return PropertyProblem{kType,
                           fmt::format("\"{}\" is not known; use sql or rest", *type)};
  }
  if (!uri) return PropertyProblem{kUri, fmt::format("missing; {}", kSqlUris)};
  return PropertyProblem{kUri, fmt::format("{} is no catalog that Firn knows; {}, or "
                                           "https://<host> of a REST catalog",
                                           Described(*uri), kSqlUris)};
}

const std::vector<std::string>& KnownPlainProperties() {
  static const std::vector<std::string> kNames = {"access-delegation",
                                                  "audience",
                                                  "credential",
                                                  "echo",
                                                  "init_catalog_tables",
                                                  "oauth2-server-uri",
                                                  "pool_pre_ping",
                                                  "prefix",
                                                  "py-catalog-impl",
                                                  "py-io-impl",
                                                  "resource",
                                                  "schema_version",
                                                  "scope",
                                                  "snapshot-loading-mode",
                                                  "token",
                                                  "type",
                                                  "uri",
                                                  "view-endpoints-supported",
                                                  "warehouse"};
  return kNames;
}

bool IsKnownProperty(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) {
    return std::ranges::find(KnownPlainProperties(), name) !=
           KnownPlainProperties().end();
  }
  return std::ranges::find(kFamilies, name.substr(0, dot)) != kFamilies.end();
}

std::string ShownUri(std::string_view uri) {
  const auto address = ParseSqlUri(uri);
  if (address && address->dialect == SqlDialect::kSqlite) return address->target;
  const std::string scheme = SchemeOf(uri);
  if (scheme.empty()) return "";
  const std::string_view rest = RestOf(uri);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  // An '@' behind the host, or a '?' before its end: was it part of a password?
  if (rest.find('@', slash) != std::string_view::npos ||
      authority.find('?') != std::string_view::npos) {
    return fmt::format("{}://...", scheme);
  }
  const std::size_t login_end = authority.rfind('@') + 1;
  return fmt::format("{}://{}{}", scheme, authority.substr(login_end),
                     rest.substr(slash, rest.find('?', slash) - slash));
}

std::optional<SqlAddress> ParseSqlUri(std::string_view uri) {
  const std::string scheme = SchemeOf(uri);
  if (!IsSqlScheme(scheme)) return std::nullopt;
  std::string_view rest = RestOf(uri);
  if (scheme != "sqlite") {
    return SqlAddress{SqlDialect::kPostgres, fmt::format("postgresql://{}", rest)};
  }
  // SQLAlchemy's options of the connection; Firn has its own.
  rest = rest.substr(0, rest.find('?'));
  if (!rest.starts_with('/')) return std::nullopt;
  rest.remove_prefix(1);
  if (rest.empty() || rest == ":memory:") return std::nullopt;
  return SqlAddress{SqlDialect::kSqlite, std::string(rest)};
}

}  // namespace firn::iceberg
