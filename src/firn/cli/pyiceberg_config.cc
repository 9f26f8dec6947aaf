#include "firn/cli/pyiceberg_config.h"

#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>

#include "firn/cli/file_text.h"

namespace firn::cli {
namespace {

constexpr const char* kFileName = ".pyiceberg.yaml";
constexpr std::string_view kVariablePrefix = "pyiceberg_";
constexpr std::string_view kVariableSeparator = "__";
constexpr const char* kDefaultCatalogKey = "default-catalog";
constexpr const char* kCatalogKey = "catalog";
/// Of a catalog, among the places of its properties.
constexpr const char* kNameKey = "name";

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string ReplaceAll(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// "s3__access_key_id": "s3.access-key-id".
std::string NameInVariable(std::string_view part) {
  return ReplaceAll(ReplaceAll(std::string(part), kVariableSeparator, "."), "_", "-");
}

std::optional<std::string> FindVariable(const std::vector<std::string>& environment,
                                        std::string_view name) {
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    if (equals == name.size() && variable.starts_with(name)) {
      return variable.substr(equals + 1);
    }
  }
  return std::nullopt;
}

/// Where the file may be, in PyIceberg's order.
std::vector<std::filesystem::path> Folders(const std::vector<std::string>& environment) {
  std::vector<std::filesystem::path> folders;
  for (const char* variable : {"PYICEBERG_HOME", "HOME"}) {
    const auto folder = FindVariable(environment, variable);
    if (folder && !folder->empty()) folders.emplace_back(*folder);
  }
  folders.emplace_back(".");
  return folders;
}

std::string PlaceOf(const std::string& file, const YAML::Node& node,
                    const std::string& name) {
  return fmt::format("{}:{}: {}", file, node.Mark().line + 1, name);
}

Status CheckIsMapping(const YAML::Node& node, const std::string& file,
                      const std::string& name) {
  if (node.IsMap() || node.IsNull()) return Status::OK();
  return InvalidError("{}: expected keys and values", PlaceOf(file, node, name));
}

/// Mappings in mappings are as if their names were joined by dots.
Status ReadProperties(const YAML::Node& node, const std::string& file,
                      const std::string& prefix, CatalogConfig& catalog) {
  for (const auto& entry : node) {
    const std::string name = prefix + Lower(entry.first.as<std::string>());
    if (entry.second.IsMap()) {
      FIRN_RETURN_NOT_OK(ReadProperties(entry.second, file, name + ".", catalog));
    } else if (entry.second.IsSequence()) {
      return InvalidError("{}: expected one value", PlaceOf(file, entry.first, name));
    } else {
      catalog.Set(name, entry.second.IsNull() ? "" : entry.second.Scalar(),
                  PlaceOf(file, entry.first, catalog.name + "." + name));
    }
  }
  return Status::OK();
}

/// Whether anything says which catalog that is: its type, address or warehouse.
bool IsDefined(const CatalogConfig& catalog) {
  for (const char* property :
       {iceberg::catalog_property::kType, iceberg::catalog_property::kUri,
        iceberg::catalog_property::kWarehouse}) {
    if (iceberg::FindProperty(catalog.properties, property)) return true;
  }
  return false;
}

}  // namespace

Result<PyIcebergConfig> PyIcebergConfig::Read(
    const std::vector<std::string>& environment) {
  PyIcebergConfig config;
  for (const std::filesystem::path& folder : Folders(environment)) {
    const std::string file = (folder / kFileName).lexically_normal().string();
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) continue;
    FIRN_ASSIGN_OR_RETURN(const bool says_anything, config.ReadFile(file));
    if (says_anything) break;
  }
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos) continue;
    config.ReadVariable(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return config;
}

Result<bool> PyIcebergConfig::ReadFile(const std::string& file) {
  FIRN_ASSIGN_OR_RETURN(const std::string text, ReadFileText(file));
  try {
    const YAML::Node document = YAML::Load(text);
    FIRN_RETURN_NOT_OK(ReadDocument(document, file));
    return document.size() > 0;
  } catch (const YAML::Exception& e) {
    return InvalidError("{}:{}: not valid YAML: {}", file, e.mark.line + 1, e.msg);
  }
}

Status PyIcebergConfig::ReadDocument(const YAML::Node& document,
                                     const std::string& file) {
  FIRN_RETURN_NOT_OK(CheckIsMapping(document, file, "the file"));
  for (const auto& entry : document) {
    const std::string key = Lower(entry.first.as<std::string>());
    if (key == kDefaultCatalogKey) {
      default_catalog_ = entry.second.as<std::string>();
      default_catalog_place_ = PlaceOf(file, entry.first, key);
    }
    if (key != kCatalogKey) continue;
    FIRN_RETURN_NOT_OK(CheckIsMapping(entry.second, file, key));
    for (const auto& of_catalog : entry.second) {
      const std::string name = Lower(of_catalog.first.as<std::string>());
      catalogs_[name].name = name;
      FIRN_RETURN_NOT_OK(CheckIsMapping(of_catalog.second, file, name));
      FIRN_RETURN_NOT_OK(ReadProperties(of_catalog.second, file, "", catalogs_[name]));
    }
  }
  return Status::OK();
}

void PyIcebergConfig::ReadVariable(const std::string& name, const std::string& value) {
  const std::string lower = Lower(name);
  if (!lower.starts_with(kVariablePrefix) || value.empty()) return;
  const std::string_view key = std::string_view(lower).substr(kVariablePrefix.size());
  if (key == "default_catalog") {
    default_catalog_ = value;
    default_catalog_place_ = name;
  }
  const std::size_t first = key.find(kVariableSeparator);
  if (first == std::string_view::npos || key.substr(0, first) != kCatalogKey) return;
  const std::string_view rest = key.substr(first + kVariableSeparator.size());
  const std::size_t second = rest.find(kVariableSeparator);
  if (second == std::string_view::npos) return;
  CatalogConfig& catalog = catalogs_[NameInVariable(rest.substr(0, second))];
  catalog.Set(NameInVariable(rest.substr(second + kVariableSeparator.size())), value,
              name);
}

std::vector<std::string> PyIcebergConfig::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, catalog] : catalogs_) names.push_back(name);
  return names;
}

const CatalogConfig* PyIcebergConfig::Find(const std::string& name) const {
  const auto found = catalogs_.find(Lower(name));
  return found == catalogs_.end() ? nullptr : &found->second;
}

void TakeDefaultCatalog(const PyIcebergConfig& config, CatalogConfig& catalog) {
  const std::string& place = config.default_catalog_place();
  if (place.empty() && config.Find(config.default_catalog()) == nullptr) return;
  catalog.name = config.default_catalog();
  catalog.places[kNameKey] = place.empty() ? "PyIceberg's default" : place;
}

Status CheckDefined(const PyIcebergConfig& config, const CatalogConfig& catalog) {
  const auto place = catalog.places.find(kNameKey);
  const bool is_named =
      place != catalog.places.end() && catalog.name != CatalogConfig().name;
  if (!is_named || IsDefined(catalog)) return Status::OK();
  const std::vector<std::string> known = config.Names();
  return InvalidError(
      "{}: nothing says where catalog \"{}\" is; {}, or say it in firn.yaml, with "
      "catalog.uri or warehouse",
      place->second, catalog.name,
      known.empty() ? "PyIceberg's settings have none"
                    : fmt::format("name one that PyIceberg's settings have ({})",
                                  fmt::join(known, ", ")));
}

void AddProperties(const PyIcebergConfig& config, CatalogConfig& catalog) {
  const CatalogConfig* known = config.Find(catalog.name);
  if (known == nullptr) return;
  for (const auto& [property, value] : known->properties) {
    if (iceberg::FindProperty(catalog.properties, property)) continue;
    catalog.Set(property, value, known->places.at(property));
  }
}

std::vector<std::string> ProcessEnvironment() {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  return environment;
}

}  // namespace firn::cli
