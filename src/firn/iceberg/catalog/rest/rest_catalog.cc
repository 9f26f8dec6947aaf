#include "firn/iceberg/catalog/rest/rest_catalog.h"

#include <algorithm>
#include <utility>

#include "firn/iceberg/catalog/rest/partition_ids.h"
#include "firn/iceberg/serde/update_json.h"

namespace firn::iceberg {
namespace {

using rest::CallKind;
using rest::RestCall;
using rest::RestClient;
using rest::Route;

/// Of one list. More are a server that goes round in circles.
constexpr int kPagesMax = 100'000;
/// As servers list their endpoints.
constexpr const char* kCredentialsEndpoint =
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials";
/// Levels of namespaces in each other; more are a loop, too.
constexpr int kNamespaceLevelsMax = 64;

/// Nothing in Firn has a name with these characters in it.
std::optional<std::string> NameOf(const rest::Levels& levels) {
  for (const std::string& level : levels) {
    if (level.find('.') != std::string::npos) return std::nullopt;
  }
  std::string name = fmt::format("{}", fmt::join(levels, "."));
  if (!CheckNamespace(name).ok()) return std::nullopt;
  return name;
}

rest::Levels LevelsOf(std::string_view namespace_name) {
  rest::Levels levels;
  while (true) {
    const std::size_t dot = namespace_name.find('.');
    levels.emplace_back(namespace_name.substr(0, dot));
    if (dot == std::string_view::npos) return levels;
    namespace_name.remove_prefix(dot + 1);
  }
}

/// What is found out about the catalog itself says nothing about a table.
Status AboutCatalog(const Status& status) {
  if (IsError(status, ErrorKind::kUnavailable)) return status;
  return Status::Invalid(ErrorText(status));
}

Status Broken(const RestCall& call, const Status& why) {
  return rest::BrokenAnswer(
      {.kind = call.kind, .method = call.method, .path = std::string(call.route.path())},
      why);
}

Result<rest::ServerConfig> AskForConfig(RestClient& client,
                                        const rest::Properties& properties) {
  const auto warehouse = FindProperty(properties, catalog_property::kWarehouse);
  const RestCall call = {.route = rest::Routes::Config(warehouse.value_or(""))};
  FIRN_ASSIGN_OR_RETURN(const std::string answer, client.Send(call));
  Result<rest::ServerConfig> config = rest::ParseServerConfig(answer);
  if (!config.ok()) return Broken(call, config.status());
  return config;
}

/// Ids are given alike by all who make a table.
bool IsAsAsked(const TableMetadata& found, const TableMetadata& asked) {
  return CurrentSchema(found) == CurrentSchema(asked) &&
         DefaultSpec(found) == DefaultSpec(asked) &&
         DefaultSortOrder(found) == DefaultSortOrder(asked);
}

bool Offers(const rest::ServerConfig& config, std::string_view endpoint) {
  return config.endpoints &&
         std::ranges::find(*config.endpoints, endpoint) != config.endpoints->end();
}

}  // namespace

Result<std::unique_ptr<RestCatalog>> RestCatalog::Open(
    rest::Properties properties, std::unique_ptr<http::HttpClient> client,
    Runtime& runtime, const StopToken& stop) {
  FIRN_ASSIGN_OR_RETURN(auto first, rest::ClientOptionsOf(properties));
  first.stop = stop;
  const rest::TokenOptions first_tokens = rest::TokenOptionsOf(properties);
  auto tokens = std::make_unique<rest::TokenSource>(first_tokens, *client, runtime);
  RestClient asker(first, *tokens, *client, runtime);
  const Result<rest::ServerConfig> config = AskForConfig(asker, properties);
  if (!config.ok()) return AboutCatalog(config.status());
  properties = rest::Merged(*config, std::move(properties));
  FIRN_ASSIGN_OR_RETURN(auto options, rest::ClientOptionsOf(properties));
  options.stop = stop;
  options.idempotency_key_lifetime = config->idempotency_key_lifetime;
  if (const auto changed = rest::TokenOptionsOf(properties); changed != first_tokens) {
    tokens = std::make_unique<rest::TokenSource>(changed, *client, runtime);
  }
  return std::unique_ptr<RestCatalog>(
      new RestCatalog(std::move(properties),
                      {.client = std::move(client),
                       .tokens = std::move(tokens),
                       .options = std::move(options),
                       .offers_credentials = Offers(*config, kCredentialsEndpoint)},
                      runtime));
}

RestCatalog::RestCatalog(rest::Properties properties, Connection connection,
                         Runtime& runtime)
    : properties_(std::move(properties)),
      http_client_(std::move(connection.client)),
      runtime_(runtime),
      offers_credentials_(connection.offers_credentials),
      routes_(rest::RouteOptionsOf(properties_)),
      tokens_(std::move(connection.tokens)),
      client_(std::move(connection.options), *tokens_, *http_client_, runtime),
      cache_(runtime) {}

Result<rest::TableAnswer> RestCatalog::SendForTable(const TableIdentifier& identifier,
                                                    const RestCall& call) {
  FIRN_ASSIGN_OR_RETURN(const std::string answer, client_.Send(call));
  const auto known = cache_.Find(identifier);
  Result<rest::TableAnswer> table =
      rest::ParseTable(answer, known ? &known->metadata : nullptr);
  if (!table.ok()) return Broken(call, table.status());
  cache_.Put(identifier, table->table);
  return table;
}

Result<LoadedTable> RestCatalog::LoadTable(const TableIdentifier& identifier) {
  FIRN_ASSIGN_OR_RETURN(rest::TableAnswer answer,
                        SendForTable(identifier, {.route = routes_.Table(identifier)}));
  return std::move(answer.table);
}

Result<StorageAccess> RestCatalog::LoadAccess(const TableIdentifier& identifier,
                                              std::string_view location) {
  FIRN_ASSIGN_OR_RETURN(const rest::TableAnswer answer,
                        SendForTable(identifier, {.route = routes_.Table(identifier)}));
  return rest::AccessTo(location, answer, properties_);
}

Result<StorageAccess> RestCatalog::RenewAccess(const TableIdentifier& identifier,
                                               std::string_view location) {
  if (!offers_credentials_) return LoadAccess(identifier, location);
  const RestCall call = {.route = routes_.Credentials(identifier)};
  FIRN_ASSIGN_OR_RETURN(const std::string answer, client_.Send(call));
  auto credentials = rest::ParseCredentials(answer);
  if (!credentials.ok()) return Broken(call, credentials.status());
  return rest::AccessTo(
      location, {.table = {}, .config = {}, .credentials = *std::move(credentials)},
      properties_);
}

Result<LoadedTable> RestCatalog::CreateTable(const TableIdentifier& identifier,
                                             TableCreation creation) {
  FIRN_RETURN_NOT_OK(ParseTableIdentifier(ToString(identifier)));
  // Finds out here what could not be a table, and gives the ids that the server will.
  FIRN_ASSIGN_OR_RETURN(
      const TableMetadata metadata,
      NewTableMetadata(std::move(creation), TableUuid(), runtime_.Now()));
  FIRN_ASSIGN_OR_RETURN(std::string body,
                        rest::CreateTableJson(identifier.name, metadata));
  Result<rest::TableAnswer> answer =
      SendForTable(identifier, {.kind = CallKind::kCreate,
                                .method = "POST",
                                .route = routes_.Tables(identifier.namespace_name),
                                .body = std::move(body)});
  if (IsError(answer.status(), ErrorKind::kOutcomeUnknown)) {
    return LookUpCreated(identifier, metadata, answer.status());
  }
  FIRN_RETURN_NOT_OK(answer.status());
  return std::move(answer->table);
}

Result<LoadedTable> RestCatalog::LookUpCreated(const TableIdentifier& identifier,
                                               const TableMetadata& asked,
                                               const Status& unknown) {
  Result<LoadedTable> found = LoadTable(identifier);
  // It may be made yet, by a server that is slow.
  if (!found.ok()) {
    return Error(ErrorKind::kOutcomeUnknown, "{}; looked up: {}", ErrorText(unknown),
                 ErrorText(found.status()));
  }
  if (IsAsAsked(found->metadata, asked)) return found;
  return Error(ErrorKind::kAlreadyExists, "table {} is there already, of another layout",
               identifier);
}

Result<LoadedTable> RestCatalog::CommitTable(
    const TableIdentifier& identifier, const std::vector<TableRequirement>& requirements,
    const std::vector<TableUpdate>& updates) {
  rest::Commit commit = {.requirements = requirements, .updates = updates};
  if (rest::NeedsPartitionIds(commit)) {
    FIRN_ASSIGN_OR_RETURN(const LoadedTable base, LoadTable(identifier));
    FIRN_RETURN_NOT_OK(rest::GivePartitionIds(base.metadata, commit));
  }
  FIRN_ASSIGN_OR_RETURN(std::string body,
                        CommitToJson(commit.requirements, commit.updates));
  FIRN_ASSIGN_OR_RETURN(rest::TableAnswer answer,
                        SendForTable(identifier, {.kind = CallKind::kChange,
                                                  .method = "POST",
                                                  .route = routes_.Table(identifier),
                                                  .body = std::move(body)}));
  return std::move(answer.table);
}

Status RestCatalog::DropTable(const TableIdentifier& identifier) {
  return client_
      .Send({.kind = CallKind::kChange,
             .method = "DELETE",
             .route = routes_.DropTable(identifier)})
      .status();
}

template <typename Item>
Result<std::vector<Item>> RestCatalog::ListAll(
    const std::function<Route(std::string_view)>& route_of,
    Result<rest::Page<Item>> (*parse)(std::string_view)) {
  std::vector<Item> items;
  std::string token;
  for (int pages = 1; pages <= kPagesMax; ++pages) {
    const RestCall call = {.route = route_of(token)};
    FIRN_ASSIGN_OR_RETURN(const std::string answer, client_.Send(call));
    Result<rest::Page<Item>> page = parse(answer);
    if (!page.ok()) return Broken(call, page.status());
    std::ranges::move(page->items, std::back_inserter(items));
    if (page->next_token.empty()) return items;
    if (page->next_token == token) {
      return Broken(call, InvalidError("next-page-token: the same as of this page"));
    }
    token = std::move(page->next_token);
  }
  return Broken({.route = route_of(token)},
                InvalidError("next-page-token: {} pages have no end", kPagesMax));
}

Result<std::vector<TableIdentifier>> RestCatalog::ListTables(
    std::string_view namespace_name) {
  FIRN_ASSIGN_OR_RETURN(
      const auto listed,
      ListAll<rest::ListedTable>(
          [&](std::string_view token) { return routes_.Tables(namespace_name, token); },
          rest::ParseTables));
  std::vector<TableIdentifier> identifiers;
  for (const rest::ListedTable& table : listed) {
    identifiers.push_back({std::string(namespace_name), table.name});
  }
  std::ranges::sort(identifiers);
  return identifiers;
}

Status RestCatalog::ListBelow(std::string_view parent, std::set<std::string>& names) {
  const auto listed = ListAll<rest::Levels>(
      [&](std::string_view token) { return routes_.Namespaces(parent, token); },
      rest::ParseNamespaces);
  // Dropped since its name was listed.
  const bool is_gone = !parent.empty() && IsError(listed.status(), ErrorKind::kNotFound);
  if (is_gone) return Status::OK();
  FIRN_RETURN_NOT_OK(listed.status());
  for (const rest::Levels& levels : *listed) {
    const std::optional<std::string> name = NameOf(levels);
    const bool is_new = name && names.insert(*name).second;
    if (!is_new || levels.size() >= kNamespaceLevelsMax) continue;
    FIRN_RETURN_NOT_OK(ListBelow(*name, names));
  }
  return Status::OK();
}

Result<std::vector<std::string>> RestCatalog::ListNamespaces() {
  std::set<std::string> names;
  FIRN_RETURN_NOT_OK(ListBelow("", names));
  return std::vector<std::string>(names.begin(), names.end());
}

Status RestCatalog::PostNamespace(std::string_view namespace_name) {
  FIRN_ASSIGN_OR_RETURN(std::string body,
                        rest::CreateNamespaceJson(LevelsOf(namespace_name)));
  return client_
      .Send({.kind = CallKind::kCreate,
             .method = "POST",
             .route = routes_.Namespaces(),
             .body = std::move(body)})
      .status();
}

Status RestCatalog::CreateNamespace(std::string_view namespace_name) {
  FIRN_RETURN_NOT_OK(CheckNamespace(namespace_name));
  const Status posted = PostNamespace(namespace_name);
  const std::vector<std::string> names = NamespaceAndParents(namespace_name);
  // Some servers make the parents of a namespace, others want them to be there.
  if (names.size() == 1 || !IsError(posted, ErrorKind::kNotFound)) return posted;
  for (const std::string& name : names) {
    const Status made = PostNamespace(name);
    const bool is_parent = name != namespace_name;
    if (is_parent && IsError(made, ErrorKind::kAlreadyExists)) continue;
    FIRN_RETURN_NOT_OK(made);
  }
  return Status::OK();
}

}  // namespace firn::iceberg
