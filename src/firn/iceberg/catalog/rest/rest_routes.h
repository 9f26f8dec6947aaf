#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"

namespace firn::iceberg::rest {

/// One endpoint of the server with what it is about.
struct Route {
  /// Path and query below the base URI, encoded: "/v1/namespaces?parent=a".
  std::string target;

  /// The path alone, which is what messages show.
  std::string_view path() const {
    return std::string_view(target).substr(0, target.find('?'));
  }
};

/// Where the endpoints of a REST catalog are (rest-catalog-open-api.yaml, "paths"). Pure.
class Routes {
 public:
  struct Options {
    /// Stands between "/v1" and the rest of a path; taken as it is, since it may have
    /// slashes.
    std::string prefix = {};
    /// Stands between the levels of a namespace, encoded.
    std::string namespace_separator = "%1F";
  };

  explicit Routes(const Options& options);

  /// Does not depend on the prefix.
  static Route Config(std::string_view warehouse);
  Route Namespaces() const;
  /// The namespaces right below `parent` (all at the top if it is empty), from the page
  /// that `page_token` asks for.
  Route Namespaces(std::string_view parent, std::string_view page_token) const;
  Route Namespace(std::string_view namespace_name) const;
  Route Tables(std::string_view namespace_name) const;
  Route Tables(std::string_view namespace_name, std::string_view page_token) const;
  Route Table(const TableIdentifier& identifier) const;
  /// Asks for the table to be dropped and its files to be kept.
  Route DropTable(const TableIdentifier& identifier) const;
  Route Credentials(const TableIdentifier& identifier) const;

 private:
  std::string JoinLevels(std::string_view namespace_name) const;

  const std::string root_;
  const std::string namespace_separator_;
};

}  // namespace firn::iceberg::rest
