#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"

/// What a REST catalog is asked and answers: the schemas of the same names in Iceberg's
/// rest-catalog-open-api.yaml. Pure.
///
/// The functions that parse give Corruption, naming the field by its path, for a text
/// that is not JSON or not the message; fields that they do not know are passed over.
namespace firn::iceberg::rest {

/// "CatalogConfig". Maps that are missing are empty: servers leave them out.
struct ServerConfig {
  std::map<std::string, std::string> defaults;
  std::map<std::string, std::string> overrides;
  /// As "GET /v1/{prefix}/namespaces"; nothing if the server does not say.
  std::optional<std::vector<std::string>> endpoints;
  /// How long a key may be sent again; nothing if the server knows no idempotency keys.
  std::optional<Duration> idempotency_key_lifetime;

  bool operator==(const ServerConfig&) const = default;
};
Result<ServerConfig> ParseServerConfig(std::string_view text);

/// Properties (s3.access-key-id, ...) for what lies under a location.
struct StorageCredential {
  std::string prefix;
  std::map<std::string, std::string> config;

  bool operator==(const StorageCredential&) const = default;
};
/// "LoadCredentialsResponse".
Result<std::vector<StorageCredential>> ParseCredentials(std::string_view text);

/// "LoadTableResult" and, without what a table's storage needs, "CommitTableResponse".
struct TableAnswer {
  LoadedTable table;
  std::map<std::string, std::string> config;
  std::vector<StorageCredential> credentials;

  bool operator==(const TableAnswer&) const = default;
};
/// `known` as ParseTableMetadata's, which checks the metadata; what is wrong with it has
/// the metadata's location in front.
Result<TableAnswer> ParseTable(std::string_view text,
                               const TableMetadata* known = nullptr);

/// One answer of a list that may have more.
template <typename Item>
struct Page {
  std::vector<Item> items;
  /// Asks for the next page; empty on the last.
  std::string next_token;

  bool operator==(const Page&) const = default;
};

/// The levels of a namespace.
using Levels = std::vector<std::string>;

struct ListedTable {
  Levels namespace_levels;
  std::string name;

  bool operator==(const ListedTable&) const = default;
};
/// "ListTablesResponse".
Result<Page<ListedTable>> ParseTables(std::string_view text);
/// "ListNamespacesResponse".
Result<Page<Levels>> ParseNamespaces(std::string_view text);

/// "ErrorModel" and, with its error as the type, "OAuthError".
struct ServerError {
  std::string type;
  std::string message;

  bool operator==(const ServerError&) const = default;
};
/// Nothing if it is none of the two.
std::optional<ServerError> ParseServerError(std::string_view text);

/// "OAuthTokenResponse".
struct OAuthToken {
  std::string access_token;
  std::optional<std::int64_t> expires_in_seconds;

  bool operator==(const OAuthToken&) const = default;
};
Result<OAuthToken> ParseOAuthToken(std::string_view text);

/// "CreateNamespaceRequest". Invalid if a string is not UTF-8, as below.
Result<std::string> CreateNamespaceJson(const Levels& levels);

/// "CreateTableRequest" for a table that is to look like `metadata`, whose location may
/// be empty: the server's choice.
Result<std::string> CreateTableJson(std::string_view name, const TableMetadata& metadata);

}  // namespace firn::iceberg::rest
