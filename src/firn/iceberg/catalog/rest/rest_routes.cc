#include "firn/iceberg/catalog/rest/rest_routes.h"

#include <fmt/format.h>

#include "firn/storage/s3/uri.h"

namespace firn::iceberg::rest {
namespace {

using storage::s3::EncodeUriPart;

std::string RootOf(std::string_view prefix) {
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return prefix.empty() ? "/v1" : fmt::format("/v1/{}", prefix);
}

/// Parameters without a value are left out.
Route WithQuery(std::string path,
                std::initializer_list<std::pair<const char*, std::string>> query) {
  char before = '?';
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    path += fmt::format("{}{}={}", before, name, value);
    before = '&';
  }
  return {std::move(path)};
}

}  // namespace

Routes::Routes(const Options& options)
    : root_(RootOf(options.prefix)), namespace_separator_(options.namespace_separator) {}

std::string Routes::JoinLevels(std::string_view namespace_name) const {
  std::string joined;
  while (true) {
    const std::size_t dot = namespace_name.find('.');
    joined += EncodeUriPart(namespace_name.substr(0, dot));
    if (dot == std::string_view::npos) return joined;
    joined += namespace_separator_;
    namespace_name.remove_prefix(dot + 1);
  }
}

Route Routes::Config(std::string_view warehouse) {
  return WithQuery("/v1/config", {{"warehouse", EncodeUriPart(warehouse)}});
}

Route Routes::Namespaces() const { return {fmt::format("{}/namespaces", root_)}; }

Route Routes::Namespaces(std::string_view parent, std::string_view page_token) const {
  return WithQuery(Namespaces().target, {{"parent", JoinLevels(parent)},
                                         {"pageToken", EncodeUriPart(page_token)}});
}

Route Routes::Namespace(std::string_view namespace_name) const {
  return {fmt::format("{}/namespaces/{}", root_, JoinLevels(namespace_name))};
}

Route Routes::Tables(std::string_view namespace_name) const {
  return {fmt::format("{}/tables", Namespace(namespace_name).target)};
}

Route Routes::Tables(std::string_view namespace_name, std::string_view page_token) const {
  return WithQuery(Tables(namespace_name).target,
                   {{"pageToken", EncodeUriPart(page_token)}});
}

Route Routes::Table(const TableIdentifier& identifier) const {
  return {fmt::format("{}/{}", Tables(identifier.namespace_name).target,
                      EncodeUriPart(identifier.name))};
}

Route Routes::DropTable(const TableIdentifier& identifier) const {
  return WithQuery(Table(identifier).target, {{"purgeRequested", "false"}});
}

Route Routes::Credentials(const TableIdentifier& identifier) const {
  return {fmt::format("{}/credentials", Table(identifier).target)};
}

}  // namespace firn::iceberg::rest
