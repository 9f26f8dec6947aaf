#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firn/cli/catalog_config.h"
#include "firn/core/status.h"

namespace YAML {
class Node;
}

namespace firn::cli {

/// The catalogs that PyIceberg knows of, as it finds them.
///
/// The file is the first .pyiceberg.yaml that says anything in $PYICEBERG_HOME, the home
/// directory and the working directory. Names are read in lower case, values as they are;
/// variables PYICEBERG_CATALOG__<NAME>__<PROPERTY> come over the file, "_" in them stands
/// for "-", and "__" for ".".
class PyIcebergConfig {
 public:
  /// `environment`: "NAME=value". Invalid, with file and line, if the file cannot be
  /// read.
  static Result<PyIcebergConfig> Read(const std::vector<std::string>& environment);

  /// What PyIceberg opens if it is given no name: `default-catalog`, else "default".
  const std::string& default_catalog() const { return default_catalog_; }

  /// The properties of a catalog, whatever the case of its name; nothing if it has none.
  const CatalogConfig* Find(const std::string& name) const;

 private:
  /// False if the file says nothing.
  Result<bool> ReadFile(const std::string& file);
  Status ReadDocument(const YAML::Node& document, const std::string& file);
  void ReadVariable(const std::string& name, const std::string& value);

  std::string default_catalog_ = "default";
  /// By name in lower case.
  std::map<std::string, CatalogConfig> catalogs_;
};

/// Makes it PyIceberg's default catalog, if PyIceberg knows properties of that.
void TakeDefaultCatalog(const PyIcebergConfig& config, CatalogConfig& catalog);

/// Adds the properties that PyIceberg knows of the catalog of this name, except those
/// that it has already.
void AddProperties(const PyIcebergConfig& config, CatalogConfig& catalog);

/// What the process was started with.
std::vector<std::string> ProcessEnvironment();

}  // namespace firn::cli
