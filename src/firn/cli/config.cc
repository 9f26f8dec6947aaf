#include "firn/cli/config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/ranges.h>

#include "firn/cli/file_text.h"
#include "firn/cli/pyiceberg_config.h"
#include "firn/cli/units.h"
#include "firn/core/nearest.h"

namespace firn::cli {
namespace {

namespace catalog_property = iceberg::catalog_property;

constexpr const char* kDefaultFile = "firn.yaml";
constexpr const char* kNameKey = "name";
constexpr std::int64_t kWorkersMax = 256;
/// With less, what one row or one open run takes would not fit, and nothing would go on.
constexpr std::int64_t kMemoryLimitMin = 8LL << 20;

/// A value of the document, and how errors name it.
struct Place {
  YAML::Node node;
  std::string file;
  std::string name;

  /// "firn.yaml:3: wal.path"; without the name for the document itself.
  std::string ToString() const {
    return fmt::format("{}:{}{}{}", file, node.Mark().line + 1, name.empty() ? "" : ": ",
                       name);
  }

  Status Error(const std::string& what) const {
    return InvalidError("{}: {}", ToString(), what);
  }
};

/// Replaces ${NAME} by the environment's value.
Result<std::string> ReplaceVariables(const Place& place, const std::string& text) {
  std::string out;
  std::size_t from = 0;
  while (true) {
    const std::size_t open = text.find("${", from);
    if (open == std::string::npos) return out + text.substr(from);
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) return place.Error("\"${\" without \"}\"");
    const std::string name = text.substr(open + 2, close - open - 2);
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) {
      return place.Error(fmt::format("the environment has no variable {}", name));
    }
    out += text.substr(from, open - from) + value;
    from = close + 1;
  }
}

Result<std::string> Text(const Place& place) {
  if (!place.node.IsScalar()) return place.Error("expected one value");
  return ReplaceVariables(place, place.node.Scalar());
}

using Setter = std::function<Status(const Place&)>;

Setter SetText(std::string& target) {
  return [&target](const Place& place) { return Text(place).Value(&target); };
}

/// A setter that parses text with `parse`, and says where it failed.
template <typename T, typename Parse>
Setter SetParsed(T& target, Parse parse) {
  return [&target, parse = std::move(parse)](const Place& place) -> Status {
    FIRN_ASSIGN_OR_RETURN(const std::string text, Text(place));
    const auto value = parse(text);
    if (!value.ok()) return place.Error(ErrorText(value.status()));
    target = *value;
    return Status::OK();
  };
}

template <typename T>
Setter SetBytes(T& target, std::int64_t min = 1) {
  return SetParsed(target, [min](const std::string& text) -> Result<std::int64_t> {
    FIRN_ASSIGN_OR_RETURN(const std::int64_t bytes, ParseBytes(text));
    if (bytes >= min) return bytes;
    if (min == 1) return InvalidError("must be above 0");
    return InvalidError("must be at least {}, not {}", FormatBytes(min),
                        FormatBytes(bytes));
  });
}

Setter SetDuration(Duration& target) { return SetParsed(target, ParseDuration); }

Setter SetCount(std::int64_t& target) { return SetParsed(target, ParseCount); }

template <typename T>
struct Choice {
  const char* name;
  T value;
};

template <typename T>
Setter SetChoice(T& target, std::vector<Choice<T>> choices) {
  const auto choose = [choices =
                           std::move(choices)](const std::string& text) -> Result<T> {
    std::vector<std::string_view> names;
    for (const Choice<T>& choice : choices) {
      if (text == choice.name) return choice.value;
      names.push_back(choice.name);
    }
    return InvalidError("\"{}\" is neither {}", text, fmt::join(names, " nor "));
  };
  return SetParsed(target, choose);
}

Setter SetBool(bool& target) {
  return SetChoice<bool>(target, {{"true", true}, {"false", false}});
}

Setter SetOversizedClusters(planner::OversizedClusters& target) {
  using planner::OversizedClusters;
  return SetChoice<OversizedClusters>(
      target, {{"cut_at_keys", OversizedClusters::kCutAtKeys},
               {"split_row_groups", OversizedClusters::kSplitRowGroups}});
}

Setter SetLocalFiles(LocalFiles& target) {
  return SetChoice<LocalFiles>(
      target, {{"owner", LocalFiles::kOwner}, {"umask", LocalFiles::kUmask}});
}

Setter SetSchemaEvolution(SchemaEvolution& target) {
  return SetChoice<SchemaEvolution>(target, {{"none", SchemaEvolution::kNone},
                                             {"add", SchemaEvolution::kAdd},
                                             {"map", SchemaEvolution::kMap}});
}

using Keys = std::map<std::string, Setter>;

std::string Join(const std::string& parent, const std::string& key) {
  return parent.empty() ? key : parent + "." + key;
}

Status UnknownKey(const Place& place, const std::string& key, const Keys& keys) {
  std::vector<std::string> known;
  for (const auto& [name, setter] : keys) known.push_back(name);
  return place.Error(fmt::format("unknown key; the nearest known one is \"{}\"",
                                 NearestName(known, key)));
}

/// Hands each entry of a mapping to the setter of its key.
Status ReadMapping(const Place& place, const Keys& keys) {
  if (place.node.IsNull()) return Status::OK();
  if (!place.node.IsMap()) return place.Error("expected keys and values");
  std::vector<std::string> seen;
  for (const auto& entry : place.node) {
    const std::string key = entry.first.Scalar();
    const Place key_place{entry.first, place.file, Join(place.name, key)};
    const auto setter = keys.find(key);
    if (setter == keys.end()) return UnknownKey(key_place, key, keys);
    if (std::ranges::count(seen, key) > 0) return key_place.Error("given twice");
    seen.push_back(key);
    FIRN_RETURN_NOT_OK(setter->second({entry.second, place.file, key_place.name}));
  }
  return Status::OK();
}

Setter Section(Keys keys) {
  return
      [keys = std::move(keys)](const Place& place) { return ReadMapping(place, keys); };
}

Setter SetTextList(std::vector<std::string>& target) {
  return [&target](const Place& place) -> Status {
    if (!place.node.IsSequence()) return place.Error("expected a list");
    for (const auto& item : place.node) {
      FIRN_ASSIGN_OR_RETURN(std::string text, Text({item, place.file, place.name}));
      target.push_back(std::move(text));
    }
    return Status::OK();
  };
}

/// What is said of a table's unknown fields must not contradict itself.
Status CheckUnknownFields(const TableConfig& table, const Place& place) {
  const bool is_map = table.schema_evolution == SchemaEvolution::kMap;
  if (is_map && table.ignore_unknown) {
    return place.Error(
        "schema_evolution: map keeps unknown fields, and ignore_unknown leaves them out; "
        "give one of the two");
  }
  if (is_map == !table.unknown_fields_column.empty()) return Status::OK();
  return place.Error(
      is_map
          ? "schema_evolution: map needs unknown_fields_column, the name of the "
            "column of type map<string, string> that unknown fields go to"
          : "unknown_fields_column is for schema_evolution: map, and for nothing else");
}

Setter SetTables(std::map<std::string, TableConfig>& target) {
  return [&target](const Place& place) -> Status {
    if (!place.node.IsSequence()) return place.Error("expected a list of tables");
    for (const auto& item : place.node) {
      std::string name;
      TableConfig table;
      const Place item_place{item, place.file, place.name + "[]"};
      FIRN_RETURN_NOT_OK(ReadMapping(
          item_place,
          {{"name", SetText(name)},
           {"non_empty_partition_fields", SetTextList(table.non_empty_partition_fields)},
           {"schema_evolution", SetSchemaEvolution(table.schema_evolution)},
           {"unknown_fields_column", SetText(table.unknown_fields_column)},
           {"time_units", SetTextList(table.time_units)},
           {"ignore_unknown", SetBool(table.ignore_unknown)}}));
      if (name.empty()) return item_place.Error("a table without a name");
      FIRN_RETURN_NOT_OK(CheckUnknownFields(table, item_place));
      if (!target.emplace(name, table).second) {
        return item_place.Error(fmt::format("table {} is listed twice", name));
      }
    }
    return Status::OK();
  };
}

Setter SetFolders(std::vector<FolderConfig>& target) {
  return [&target](const Place& place) -> Status {
    if (!place.node.IsSequence()) return place.Error("expected a list of folders");
    for (const auto& item : place.node) {
      FolderConfig folder;
      const Place item_place{item, place.file, place.name + "[]"};
      FIRN_RETURN_NOT_OK(ReadMapping(
          item_place, {{"table", SetText(folder.table)},
                       {"path", SetText(folder.path)},
                       {"pattern", SetText(folder.pattern)},
                       {"format", SetText(folder.format)},
                       {"delimiter", SetText(folder.delimiter)},
                       {"null_values", SetTextList(folder.null_values)},
                       {"header", SetBool(folder.header)},
                       {"stable_for", SetDuration(folder.stable_for)},
                       {"poll_interval", SetDuration(folder.poll_interval)}}));
      if (folder.table.empty() || folder.path.empty()) {
        return item_place.Error("a folder needs a table and a path");
      }
      target.push_back(std::move(folder));
    }
    return Status::OK();
  };
}

Status SetProperty(const Place& place, const std::string& property,
                   CatalogConfig& catalog) {
  if (catalog.properties.contains(property)) return place.Error("given twice");
  FIRN_ASSIGN_OR_RETURN(std::string value, Text(place));
  catalog.Set(property, std::move(value), place.ToString());
  return Status::OK();
}

Status UnknownProperty(const Place& place, const std::string& name) {
  std::vector<std::string> known = iceberg::KnownPlainProperties();
  known.emplace_back(kNameKey);
  return place.Error(fmt::format("unknown key; the nearest known one is \"{}\"",
                                 NearestName(known, name)));
}

/// Properties as PyIceberg names them; a mapping in one is as if its names were joined by
/// dots.
Status ReadProperties(const Place& place, const std::string& prefix,
                      CatalogConfig& catalog) {
  for (const auto& entry : place.node) {
    const std::string key = entry.first.Scalar();
    const std::string property = Join(prefix, key);
    const std::string name = Join(place.name, key);
    if (entry.second.IsMap()) {
      FIRN_RETURN_NOT_OK(
          ReadProperties({entry.second, place.file, name}, property, catalog));
    } else if (property == kNameKey) {
      const Place name_place{entry.second, place.file, name};
      FIRN_ASSIGN_OR_RETURN(catalog.name, Text(name_place));
      catalog.places[kNameKey] = name_place.ToString();
    } else if (!iceberg::IsKnownProperty(property)) {
      return UnknownProperty({entry.first, place.file, name}, property);
    } else {
      FIRN_RETURN_NOT_OK(
          SetProperty({entry.second, place.file, name}, property, catalog));
    }
  }
  return Status::OK();
}

Status ReadCatalog(const Place& place, CatalogConfig& catalog) {
  if (place.node.IsNull()) return Status::OK();
  if (!place.node.IsMap()) return place.Error("expected keys and values");
  return ReadProperties(place, "", catalog);
}

Keys TopLevelKeys(Config& config) {
  WalConfig& wal = config.wal;
  ShiftConfig& shift = config.shift;
  HttpConfig& http = config.http;
  return {
      {"warehouse",
       [&](const Place& place) {
         return SetProperty(place, catalog_property::kWarehouse, config.catalog);
       }},
      {"catalog", [&](const Place& place) { return ReadCatalog(place, config.catalog); }},
      {"wal", Section({{"path", SetText(wal.path)},
                       {"flush_bytes", SetBytes(wal.flush_bytes)},
                       {"flush_age", SetDuration(wal.flush_age)},
                       {"row_group_bytes", SetBytes(wal.row_group_bytes)},
                       {"max_uncommitted_bytes", SetBytes(wal.max_uncommitted_bytes)},
                       {"retention", SetDuration(wal.retention)},
                       {"dead_after", SetDuration(wal.dead_after)}})},
      {"shift",
       Section({{"iteration_bytes", SetBytes(shift.iteration_bytes)},
                {"lower_bound_input_bytes_per_task",
                 SetBytes(shift.lower_bound_input_bytes_per_task)},
                {"upper_bound_input_bytes_per_task",
                 SetBytes(shift.upper_bound_input_bytes_per_task)},
                {"max_row_groups_per_task", SetCount(shift.max_row_groups_per_task)},
                {"oversized_clusters", SetOversizedClusters(shift.oversized_clusters)},
                {"writer_max_parquet_bytes", SetBytes(shift.writer_max_parquet_bytes)},
                {"workers", SetCount(shift.workers)},
                {"start_bytes", SetBytes(shift.start_bytes)},
                {"max_age", SetDuration(shift.max_age)}})},
      {"merge", Section({{"max_open_runs", SetCount(config.merge_max_open_runs)}})},
      {"commit", Section({{"queue_size", SetCount(config.commit_queue_size)}})},
      {"memory_limit", SetBytes(config.memory_limit, kMemoryLimitMin)},
      {"local_files", SetLocalFiles(config.local_files)},
      {"tables", SetTables(config.tables)},
      {"http", Section({{"listen", SetText(http.listen)},
                        {"max_body_bytes", SetBytes(http.max_body_bytes)},
                        {"max_decompressed_bytes", SetBytes(http.max_decompressed_bytes)},
                        {"max_header_bytes", SetBytes(http.max_header_bytes)},
                        {"max_connections", SetCount(http.max_connections)},
                        {"idle_timeout", SetDuration(http.idle_timeout)},
                        {"request_timeout", SetDuration(http.request_timeout)},
                        {"answer_timeout", SetDuration(http.answer_timeout)}})},
      {"sources", Section({{"files", SetFolders(config.source_files)}})},
      {"dead_letters",
       Section({{"alarm_records", SetCount(config.dead_letters.alarm_records)},
                {"alarm_interval", SetDuration(config.dead_letters.alarm_interval)}})},
      {"shutdown_timeout", SetDuration(config.shutdown_timeout)},
  };
}

Status CheckBounds(const Config& config, const Place& document) {
  const ShiftConfig& shift = config.shift;
  const std::int64_t upper = shift.upper_bound_input_bytes_per_task;
  if (upper < shift.lower_bound_input_bytes_per_task) {
    return document.Error(fmt::format(
        "shift: upper_bound_input_bytes_per_task ({}) is below "
        "lower_bound_input_bytes_per_task ({})",
        FormatBytes(upper), FormatBytes(shift.lower_bound_input_bytes_per_task)));
  }
  if (shift.writer_max_parquet_bytes && *shift.writer_max_parquet_bytes < upper) {
    return document.Error(fmt::format(
        "shift: writer_max_parquet_bytes ({}) is below upper_bound_input_bytes_per_task "
        "({})",
        FormatBytes(*shift.writer_max_parquet_bytes), FormatBytes(upper)));
  }
  if (shift.workers > kWorkersMax) {
    return document.Error(
        fmt::format("shift: workers ({}) are more than {}", shift.workers, kWorkersMax));
  }
  if (config.merge_max_open_runs < 2) {
    return document.Error("merge: max_open_runs must be at least 2");
  }
  if (config.wal.dead_after <= Duration::zero()) {
    return document.Error("wal: dead_after must be above 0");
  }
  return Status::OK();
}

/// Whether anything but a warehouse was written of it.
bool SaysWhichCatalog(const CatalogConfig& catalog) {
  return std::ranges::any_of(catalog.places, [](const auto& place) {
    return place.first != catalog_property::kWarehouse;
  });
}

/// Nothing if there is none.
std::optional<std::string> ConfigFile(const ConfigSource& source) {
  if (source.file) return source.file;
  if (const char* variable = std::getenv("FIRN_CONFIG")) return variable;
  if (std::filesystem::exists(kDefaultFile)) return kDefaultFile;
  return std::nullopt;
}

}  // namespace

Result<Config> ParseConfig(const std::string& text, const std::string& file) {
  Config config;
  try {
    const Place document{YAML::Load(text), file, ""};
    FIRN_RETURN_NOT_OK(ReadMapping(document, TopLevelKeys(config)));
    FIRN_RETURN_NOT_OK(CheckBounds(config, document));
  } catch (const YAML::Exception& e) {
    const bool has_tab = text.starts_with('\t') || text.find("\n\t") != std::string::npos;
    return InvalidError("{}:{}: not valid YAML: {}{}", file, e.mark.line + 1, e.msg,
                        has_tab ? "; indent with blanks, YAML allows no tabs there" : "");
  }
  return config;
}

Result<Config> LoadConfig(const ConfigSource& source) {
  Config config;
  const auto file = ConfigFile(source);
  if (file) {
    FIRN_ASSIGN_OR_RETURN(const std::string text, ReadFileText(*file));
    FIRN_ASSIGN_OR_RETURN(config, ParseConfig(text, *file));
  }
  // A warehouse on the command line is enough: nobody's catalog comes over it but one
  // that the file speaks of.
  const bool is_enough = source.warehouse && !SaysWhichCatalog(config.catalog);
  if (source.warehouse) {
    config.catalog.Set(catalog_property::kWarehouse, *source.warehouse, "--warehouse");
  }
  if (!is_enough) {
    FIRN_ASSIGN_OR_RETURN(const auto others, PyIcebergConfig::Read(ProcessEnvironment()));
    // Without a word of a catalog or a warehouse.
    if (config.catalog.places.empty()) TakeDefaultCatalog(others, config.catalog);
    AddProperties(others, config.catalog);
    FIRN_RETURN_NOT_OK(CheckDefined(others, config.catalog));
  }
  FIRN_RETURN_NOT_OK(CompleteCatalog(config.catalog));
  return config;
}

}  // namespace firn::cli
