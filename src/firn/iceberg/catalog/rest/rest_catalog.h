#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/runtime.h"
#include "firn/http/http_client.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/iceberg/catalog/metadata_cache.h"
#include "firn/iceberg/catalog/rest/rest_client.h"
#include "firn/iceberg/catalog/rest/rest_messages.h"
#include "firn/iceberg/catalog/rest/rest_properties.h"
#include "firn/iceberg/catalog/rest/storage_access.h"

namespace firn::iceberg {

/// A catalog behind Iceberg's REST protocol (rest-catalog-open-api.yaml), version 1.
///
/// The server decides each commit and writes the metadata. A commit is sent once, unless
/// nothing of it can have been applied or the server takes idempotency keys; what the
/// answers mean is told at rest::OutcomeOf and rest::RestClient. Besides the errors that
/// Catalog names there are some without a kind, with the server's words: the call is
/// refused (401, 403, most of 400), and trying again is of no use. Secrets are in no
/// message.
///
/// Namespaces whose levels hold what Firn takes for no name (a dot, a slash) are not
/// listed. Thread-safe.
class RestCatalog : public Catalog {
 public:
  /// Asks the server for its configuration. `properties` are those that
  /// rest_properties.h reads, `stop` is RestClientOptions'. `runtime` must outlive the
  /// catalog. Errors: Unavailable; without a kind if the server refuses, or what it says
  /// cannot be used.
  static Result<std::unique_ptr<RestCatalog>> Open(
      rest::Properties properties, std::unique_ptr<http::HttpClient> client,
      Runtime& runtime, const StopToken& stop = {});

  Result<LoadedTable> LoadTable(const TableIdentifier& identifier) override;
  /// Without an answer that tells, the table is looked up: one as it was asked for is
  /// taken for the one that was made.
  Result<LoadedTable> CreateTable(const TableIdentifier& identifier,
                                  TableCreation creation) override;
  Result<LoadedTable> CommitTable(const TableIdentifier& identifier,
                                  const std::vector<TableRequirement>& requirements,
                                  const std::vector<TableUpdate>& updates) override;
  Status DropTable(const TableIdentifier& identifier) override;
  Result<std::vector<TableIdentifier>> ListTables(
      std::string_view namespace_name) override;
  Result<std::vector<std::string>> ListNamespaces() override;
  /// Makes parents that are missing, too.
  Status CreateNamespace(std::string_view namespace_name) override;

  /// How the table's files at `location` are reached: what the server vends with the
  /// table. Errors as of LoadTable, for both.
  Result<StorageAccess> LoadAccess(const TableIdentifier& identifier,
                                   std::string_view location);
  /// Vended anew, by the endpoint for credentials where the server says that it has one.
  Result<StorageAccess> RenewAccess(const TableIdentifier& identifier,
                                    std::string_view location);

  /// What was given, with the server's defaults and overrides.
  const rest::Properties& properties() const { return properties_; }

 private:
  struct Connection {
    std::unique_ptr<http::HttpClient> client;
    std::unique_ptr<rest::TokenSource> tokens;
    rest::RestClientOptions options;
    bool offers_credentials = false;
  };

  RestCatalog(rest::Properties properties, Connection connection, Runtime& runtime);

  /// What became of a table that was to be made as `asked`, when `unknown` was the
  /// answer.
  Result<LoadedTable> LookUpCreated(const TableIdentifier& identifier,
                                    const TableMetadata& asked, const Status& unknown);
  /// Remembers the table, for the next answer.
  Result<rest::TableAnswer> SendForTable(const TableIdentifier& identifier,
                                         const rest::RestCall& call);
  /// All pages of a list; `route_of` gives the route of a page by its token.
  template <typename Item>
  Result<std::vector<Item>> ListAll(
      const std::function<rest::Route(std::string_view)>& route_of,
      Result<rest::Page<Item>> (*parse)(std::string_view));
  Status ListBelow(std::string_view parent, std::set<std::string>& names);
  Status PostNamespace(std::string_view namespace_name);

  const rest::Properties properties_;
  const std::unique_ptr<http::HttpClient> http_client_;
  Runtime& runtime_;
  const bool offers_credentials_;
  const rest::Routes routes_;
  const std::unique_ptr<rest::TokenSource> tokens_;
  rest::RestClient client_;
  MetadataCache cache_;
};

}  // namespace firn::iceberg
