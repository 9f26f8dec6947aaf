#pragma once

#include <map>
#include <optional>
#include <string>

#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog_properties.h"

namespace firn::cli {

/// The catalog that a configuration names, and how it is reached.
struct CatalogConfig {
  std::string name = "firn";
  /// As PyIceberg names them: type, uri, warehouse, s3.endpoint, ...
  iceberg::CatalogProperties properties;
  /// Where a property was written, for messages: "firn.yaml:3: catalog.uri".
  std::map<std::string, std::string> places;
  /// The file "catalog.db" in the warehouse, rather than what `uri` says: an address of
  /// SQLite ends at a '?', and a folder may have one.
  bool is_embedded = false;

  /// Also replaces.
  void Set(const std::string& property, std::string value, std::string place);

  /// A folder, a location ("s3://lake/tables"), or what a REST catalog calls by this
  /// name; the folder "warehouse" if nothing is said.
  std::string warehouse() const;

  /// The warehouse if it is a folder of this machine, maybe a relative path.
  std::optional<std::string> warehouse_folder() const;
};

/// Adds what goes without saying: a SQLite file in the warehouse. Then Invalid, with its
/// place, for a property with which no catalog can be opened.
Status CompleteCatalog(CatalogConfig& catalog);

}  // namespace firn::cli
