#include "firn/iceberg/testing/rest_test_server.h"

#include <algorithm>
#include <set>
#include <utility>

#include "firn/core/percent_decoded.h"
#include "firn/core/whole_number.h"
#include "firn/iceberg/serde/json_value.h"
#include "firn/iceberg/serde/metadata_json.h"
#include "firn/iceberg/testing/commit_reader.h"

namespace firn::iceberg {
namespace {

using http::ReceivedRequest;
using http::Reply;
using serde::Json;

constexpr const char* kCredentialsEndpoint =
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials";
constexpr char kLevelSeparator = '\x1F';

std::string Unescape(std::string_view text) {
  return PercentDecoded(text).value_or(std::string(text));
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// "a%1Fb": "a.b".
std::string NamespaceOf(std::string_view escaped) {
  std::string name = Unescape(escaped);
  std::ranges::replace(name, kLevelSeparator, '.');
  return name;
}

Json LevelsOf(std::string_view namespace_name) {
  Json levels = Json::array();
  for (const std::string_view level : Split(namespace_name, '.')) levels.push_back(level);
  return levels;
}

Reply JsonReply(int status, const Json& json) {
  return {.status = status,
          .headers = {{.name = "Content-Type", .value = "application/json"}},
          .body = json.dump()};
}

Reply ErrorReply(int status, const std::string& type, const std::string& message) {
  return JsonReply(status,
                   {{"error", {{"message", message}, {"type", type}, {"code", status}}}});
}

Reply FailureReply(const Status& status) {
  if (IsError(status, ErrorKind::kNotFound)) {
    return ErrorReply(404, "NoSuchTableException", status.message());
  }
  if (IsError(status, ErrorKind::kAlreadyExists)) {
    return ErrorReply(409, "AlreadyExistsException", status.message());
  }
  if (IsError(status, ErrorKind::kConflict)) {
    return ErrorReply(409, "CommitFailedException", status.message());
  }
  if (IsError(status, ErrorKind::kOutcomeUnknown)) {
    return ErrorReply(500, "CommitStateUnknownException", status.message());
  }
  if (IsError(status, ErrorKind::kUnavailable)) {
    return ErrorReply(429, "TooManyRequestsException", status.message());
  }
  return ErrorReply(400, "BadRequestException", status.message());
}

/// The value of a parameter of the query; empty if there is none.
std::string Parameter(std::string_view query, std::string_view name) {
  for (const std::string_view part : Split(query, '&')) {
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.substr(0, equals) == name) {
      return std::string(part.substr(equals + 1));
    }
  }
  return {};
}

/// The items of one page under `field`; a page's token is the index of its first item.
Reply PageReply(const char* field, const std::vector<Json>& items, std::size_t page_size,
                std::string_view token) {
  const std::size_t first =
      std::min(ParseWholeNumber<std::size_t>(token).value_or(0), items.size());
  const std::size_t rest = items.size() - first;
  const std::size_t count = page_size == 0 ? rest : std::min(page_size, rest);
  Json page = Json::array();
  for (std::size_t i = first; i < first + count; ++i) page.push_back(items[i]);
  Json answer = {{field, std::move(page)}, {"next-page-token", nullptr}};
  if (count < rest) answer["next-page-token"] = std::to_string(first + count);
  return JsonReply(200, answer);
}

}  // namespace

/// What a path below the prefix names.
struct RestTestServer::Place {
  std::vector<std::string_view> parts;
  std::string_view query;
};

RestTestServer::RestTestServer(Catalog& catalog, Options options, Faults faults)
    : catalog_(catalog),
      options_(std::move(options)),
      faults_(std::move(faults)),
      mutex_(SystemRuntime()),
      server_(SystemRuntime(),
              [this](const ReceivedRequest& request) { return Handle(request); }) {}

void RestTestServer::ForgetTokens() {
  MutexLock lock(mutex_);
  oldest_good_token_ = tokens_given_ + 1;
}

int RestTestServer::tokens_given() {
  MutexLock lock(mutex_);
  return tokens_given_;
}

Reply RestTestServer::Handle(const ReceivedRequest& request) {
  if (faults_.before) {
    if (auto reply = faults_.before(request)) return *reply;
  }
  Reply reply = AnswerOnce(request);
  return faults_.after ? faults_.after(request, std::move(reply)) : reply;
}

Reply RestTestServer::AnswerOnce(const ReceivedRequest& request) {
  const auto key = http::FindHeader(request.headers, "Idempotency-Key");
  if (!key || options_.idempotency_key_lifetime.empty()) return Answer(request);
  {
    MutexLock lock(mutex_);
    const auto answered = answered_.find(std::string(*key));
    if (answered != answered_.end()) return answered->second;
  }
  Reply reply = Answer(request);
  MutexLock lock(mutex_);
  // The specification: errors of the server are not kept.
  if (reply.status < 500) answered_.emplace(*key, reply);
  return reply;
}

Reply RestTestServer::Answer(const ReceivedRequest& request) {
  const std::string_view target = request.target;
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  if (path == "/v1/oauth/tokens") return GiveToken(request);
  if (!IsAuthorized(request)) {
    return ErrorReply(401, "NotAuthorizedException", "the token is not good");
  }
  if (path == "/v1/config") {
    Json config = {{"defaults", Json::object()}, {"overrides", Json::object()}};
    if (!options_.prefix.empty()) config["overrides"]["prefix"] = options_.prefix;
    if (!options_.idempotency_key_lifetime.empty()) {
      config["idempotency-key-lifetime"] = options_.idempotency_key_lifetime;
    }
    if (!options_.credentials.empty())
      config["endpoints"] = Json::array({kCredentialsEndpoint});
    return JsonReply(200, config);
  }
  const std::string root =
      options_.prefix.empty() ? "/v1/" : fmt::format("/v1/{}/", options_.prefix);
  if (!path.starts_with(root))
    return {.status = 404, .body = "<html>nothing here</html>"};
  const Place place = {
      .parts = Split(path.substr(root.size()), '/'),
      .query = mark == std::string_view::npos ? "" : target.substr(mark + 1)};
  if (place.parts.size() == 1) return AnswerNamespaces(request, place);
  if (place.parts.size() == 3) return AnswerTables(request, place);
  if (place.parts.size() == 4) return AnswerTable(request, place);
  if (place.parts.size() == 5 && !options_.credentials.empty()) {
    return {.body = options_.credentials};
  }
  return {.status = 404, .body = "<html>nothing here</html>"};
}

Reply RestTestServer::AnswerNamespaces(const ReceivedRequest& request,
                                       const Place& place) {
  if (request.method == "POST") {
    const Json json = Json::parse(request.body);
    std::string name;
    for (const Json& level : json["namespace"]) {
      name += (name.empty() ? "" : ".") + level.get<std::string>();
    }
    const Status made = catalog_.CreateNamespace(name);
    return made.ok() ? JsonReply(200, json) : FailureReply(made);
  }
  const std::string parent = NamespaceOf(Parameter(place.query, "parent"));
  const auto all = catalog_.ListNamespaces();
  if (!all.ok()) return FailureReply(all.status());
  const std::string start = parent.empty() ? "" : parent + ".";
  std::vector<Json> below;
  for (const std::string& name : *all) {
    const bool is_child =
        name.starts_with(start) && name.find('.', start.size()) == std::string::npos;
    if (is_child) below.push_back(LevelsOf(name));
  }
  return PageReply("namespaces", below, options_.page_size,
                   Parameter(place.query, "pageToken"));
}

Reply RestTestServer::AnswerTables(const ReceivedRequest& request, const Place& place) {
  const std::string namespace_name = NamespaceOf(place.parts[1]);
  if (request.method == "POST") {
    auto received = ParseCreation(request.body);
    if (!received.ok()) return FailureReply(received.status());
    return TableReply(catalog_.CreateTable({namespace_name, received->name},
                                           std::move(received->creation)));
  }
  const auto tables = catalog_.ListTables(namespace_name);
  if (!tables.ok()) return FailureReply(tables.status());
  std::vector<Json> identifiers;
  for (const TableIdentifier& table : *tables) {
    identifiers.push_back(
        {{"namespace", LevelsOf(table.namespace_name)}, {"name", table.name}});
  }
  return PageReply("identifiers", identifiers, options_.page_size,
                   Parameter(place.query, "pageToken"));
}

Reply RestTestServer::AnswerTable(const ReceivedRequest& request, const Place& place) {
  const TableIdentifier table{NamespaceOf(place.parts[1]), Unescape(place.parts[3])};
  if (request.method == "GET") return TableReply(catalog_.LoadTable(table));
  if (request.method == "DELETE") {
    const Status dropped = catalog_.DropTable(table);
    return dropped.ok() ? Reply{.status = 204} : FailureReply(dropped);
  }
  const auto commit = ParseCommit(request.body);
  if (!commit.ok()) return FailureReply(commit.status());
  return TableReply(catalog_.CommitTable(table, commit->requirements, commit->updates));
}

Reply RestTestServer::GiveToken(const ReceivedRequest& request) {
  const std::size_t colon = options_.credential.find(':');
  const bool is_known = Unescape(Parameter(request.body, "client_id")) ==
                            options_.credential.substr(0, colon) &&
                        Unescape(Parameter(request.body, "client_secret")) ==
                            options_.credential.substr(colon + 1);
  if (!is_known) {
    return JsonReply(401, {{"error", "invalid_client"},
                           {"error_description", "no such client: " + request.body}});
  }
  MutexLock lock(mutex_);
  ++tokens_given_;
  return JsonReply(200, {{"access_token", fmt::format("token-{}", tokens_given_)},
                         {"token_type", "bearer"},
                         {"expires_in", options_.token_seconds}});
}

bool RestTestServer::IsAuthorized(const ReceivedRequest& request) {
  if (options_.credential.empty()) return true;
  constexpr std::string_view kStart = "Bearer token-";
  const std::string_view value =
      http::FindHeader(request.headers, "Authorization").value_or("");
  if (!value.starts_with(kStart)) return false;
  MutexLock lock(mutex_);
  return ParseWholeNumber<int>(value.substr(kStart.size())).value_or(0) >=
         oldest_good_token_;
}

Reply RestTestServer::TableReply(const Result<LoadedTable>& table) const {
  if (!table.ok()) return FailureReply(table.status());
  const std::string fields =
      options_.table_fields.empty() ? "" : options_.table_fields + ", ";
  return {.headers = {{.name = "Content-Type", .value = "application/json"}},
          .body = fmt::format(R"({{{}"metadata-location": "{}", "metadata": {}}})",
                              fields, table->metadata_location,
                              MetadataToJson(table->metadata).ValueOrDie())};
}

}  // namespace firn::iceberg
