#include "firn/iceberg/catalog/rest/rest_messages.h"

#include <utility>

#include "firn/iceberg/catalog/rest/iso_duration.h"
#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/serde/json_lists.h"
#include "firn/iceberg/serde/json_value.h"
#include "firn/iceberg/serde/metadata_json.h"

namespace firn::iceberg::rest {
namespace {

using serde::Json;
using serde::ObjectReader;
using serde::ParseOutcome;

/// `read(reader)` of a document that is one object.
template <typename Read>
auto ParseObject(std::string_view text, const Read& read)
    -> Result<decltype(read(std::declval<ObjectReader&>()))> {
  FIRN_ASSIGN_OR_RETURN(const Json json, serde::ParseJson(text));
  ParseOutcome outcome;
  ObjectReader reader(json, "", outcome);
  auto value = read(reader);
  FIRN_RETURN_NOT_OK(outcome.status);
  return value;
}

void ReadLifetime(ObjectReader& reader, ServerConfig& config) {
  constexpr const char* kField = "idempotency-key-lifetime";
  if (reader.Find(kField) == nullptr) return;
  const std::string text = reader.String(kField);
  config.idempotency_key_lifetime = ParseIsoDuration(text);
  if (config.idempotency_key_lifetime) return;
  reader.outcome().Fail(Error(ErrorKind::kCorruption, "{}: '{}' is no ISO 8601 duration",
                              reader.PathOf(kField), text));
}

std::vector<StorageCredential> ReadCredentials(ObjectReader& reader) {
  constexpr const char* kField = "storage-credentials";
  std::vector<StorageCredential> credentials;
  const Json& array = reader.Array(kField);
  for (std::size_t i = 0; i < array.size(); ++i) {
    ObjectReader one(array[i], reader.PathOf(kField, i), reader.outcome());
    credentials.push_back(
        {.prefix = one.String("prefix"), .config = one.StringMap("config")});
  }
  return credentials;
}

Levels ReadLevels(const Json& json, const std::string& path, ParseOutcome& outcome) {
  Levels levels;
  bool only_strings = json.is_array();
  for (const Json& level : json) {
    only_strings = only_strings && level.is_string();
    if (only_strings) levels.push_back(level.get<std::string>());
  }
  if (only_strings) return levels;
  outcome.Fail(Error(ErrorKind::kCorruption, "{}: expected an array of strings", path));
  return {};
}

/// The elements of the array `field`, each read by `read(json, path)`.
template <typename Item, typename Read>
Page<Item> ReadPage(ObjectReader& reader, std::string_view field, const Read& read) {
  Page<Item> page = {.items = {}, .next_token = reader.OptionalString("next-page-token")};
  reader.Get(field);
  const Json& array = reader.Array(field);
  for (std::size_t i = 0; i < array.size(); ++i) {
    page.items.push_back(read(array[i], reader.PathOf(field, i)));
  }
  return page;
}

std::optional<ServerError> ReadServerError(const Json& json) {
  const auto text = [](const Json& object, const char* field) {
    const auto found = object.find(field);
    const bool is_text = found != object.end() && found->is_string();
    return is_text ? found->get<std::string>() : std::string();
  };
  if (!json.is_object() || !json.contains("error")) return std::nullopt;
  const Json& error = json["error"];
  if (error.is_string()) {
    return ServerError{.type = error.get<std::string>(),
                       .message = text(json, "error_description")};
  }
  if (!error.is_object()) return std::nullopt;
  ServerError read = {.type = text(error, "type"), .message = text(error, "message")};
  if (read.type.empty() && read.message.empty()) return std::nullopt;
  return read;
}

}  // namespace

Result<ServerConfig> ParseServerConfig(std::string_view text) {
  return ParseObject(text, [](ObjectReader& reader) {
    ServerConfig config = {.defaults = reader.StringMap("defaults"),
                           .overrides = reader.StringMap("overrides"),
                           .endpoints = std::nullopt,
                           .idempotency_key_lifetime = std::nullopt};
    if (reader.Find("endpoints") != nullptr) {
      config.endpoints = reader.StringList("endpoints");
    }
    ReadLifetime(reader, config);
    return config;
  });
}

Result<std::vector<StorageCredential>> ParseCredentials(std::string_view text) {
  return ParseObject(text, [](ObjectReader& reader) {
    reader.Get("storage-credentials");
    return ReadCredentials(reader);
  });
}

Result<TableAnswer> ParseTable(std::string_view text, const TableMetadata* known) {
  // Its snapshots, which are most of the answer, are not parsed as JSON then.
  const auto cut = serde::CutTopLevelMember(text, "metadata");
  FIRN_ASSIGN_OR_RETURN(const Json json,
                        serde::ParseJson(cut ? std::string_view(cut->rest) : text));
  ParseOutcome outcome;
  ObjectReader reader(json, "", outcome);
  TableAnswer answer = {.table = {},
                        .config = reader.StringMap("config"),
                        .credentials = ReadCredentials(reader)};
  answer.table.metadata_location = reader.String("metadata-location");
  const Json* metadata = cut ? nullptr : &reader.Get("metadata");
  FIRN_RETURN_NOT_OK(outcome.status);
  Result<TableMetadata> read =
      cut ? ParseTableMetadata(cut->value, known) : serde::ReadTableMetadata(*metadata);
  if (!read.ok()) return AtMetadataFile(read.status(), answer.table.metadata_location);
  answer.table.metadata = *std::move(read);
  return answer;
}

Result<Page<ListedTable>> ParseTables(std::string_view text) {
  return ParseObject(text, [](ObjectReader& reader) {
    return ReadPage<ListedTable>(
        reader, "identifiers", [&](const Json& json, const std::string& path) {
          ObjectReader one(json, path, reader.outcome());
          return ListedTable{
              .namespace_levels = ReadLevels(one.Get("namespace"),
                                             one.PathOf("namespace"), one.outcome()),
              .name = one.String("name")};
        });
  });
}

Result<Page<Levels>> ParseNamespaces(std::string_view text) {
  return ParseObject(text, [](ObjectReader& reader) {
    return ReadPage<Levels>(reader, "namespaces",
                            [&](const Json& json, const std::string& path) {
                              return ReadLevels(json, path, reader.outcome());
                            });
  });
}

std::optional<ServerError> ParseServerError(std::string_view text) {
  const Result<Json> json = serde::ParseJson(text);
  if (!json.ok()) return std::nullopt;
  return ReadServerError(*json);
}

Result<OAuthToken> ParseOAuthToken(std::string_view text) {
  return ParseObject(text, [](ObjectReader& reader) {
    return OAuthToken{.access_token = reader.String("access_token"),
                      .expires_in_seconds = reader.OptionalLong("expires_in")};
  });
}

Result<std::string> CreateNamespaceJson(const Levels& levels) {
  return serde::DumpJson({{"namespace", levels}, {"properties", Json::object()}});
}

Result<std::string> CreateTableJson(std::string_view name,
                                    const TableMetadata& metadata) {
  Json json = {{"name", name},
               {"schema", serde::ToJsonValue(CurrentSchema(metadata))},
               {"partition-spec", serde::ToJsonValue(DefaultSpec(metadata))},
               {"write-order", serde::ToJsonValue(DefaultSortOrder(metadata))},
               {"stage-create", false},
               {"properties", metadata.properties}};
  // The message has no field for it; Java's server and its client use this property.
  json["properties"]["format-version"] = fmt::format("{}", metadata.format_version);
  if (!metadata.location.empty()) json["location"] = metadata.location;
  return serde::DumpJson(json);
}

}  // namespace firn::iceberg::rest
