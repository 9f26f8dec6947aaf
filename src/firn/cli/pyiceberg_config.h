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

  /// Where that name was written; empty if it was nowhere.
  const std::string& default_catalog_place() const { return default_catalog_place_; }

  /// The names of all catalogs, in lower case and in order.
  std::vector<std::string> Names() const;

  /// The properties of a catalog, whatever the case of its name; nothing if it has none.
  const CatalogConfig* Find(const std::string& name) const;

 private:
  /// False if the file says nothing.
  Result<bool> ReadFile(const std::string& file);
  Status ReadDocument(const YAML::Node& document, const std::string& file);
  void ReadVariable(const std::string& name, const std::string& value);

  std::string default_catalog_ = "default";
  std::string default_catalog_place_;
  /// By name in lower case.
  std::map<std::string, CatalogConfig> catalogs_;
};

/// Makes it PyIceberg's default catalog, if the settings name one, or have properties of
/// the one that goes without saying.
void TakeDefaultCatalog(const PyIcebergConfig& config, CatalogConfig& catalog);

/// Adds the properties that PyIceberg knows of the catalog of this name, except those
/// that it has already.
void AddProperties(const PyIcebergConfig& config, CatalogConfig& catalog);

/// Invalid, with the place of the name and the catalogs that PyIceberg knows, if
/// `catalog` was named and nothing says which one that is: what is mistyped must not
/// become a new one in the folder "warehouse". The default name may be given, too.
Status CheckDefined(const PyIcebergConfig& config, const CatalogConfig& catalog);

/// What the process was started with.
std::vector<std::string> ProcessEnvironment();

}  // namespace firn::cli
