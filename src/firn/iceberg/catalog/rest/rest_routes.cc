#include "firn/iceberg/catalog/rest/rest_routes.h"

#include <fmt/format.h>

namespace firn::iceberg::rest {
namespace {

bool IsUnreserved(char c) {
  return ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') ||
         c == '-' || c == '.' || c == '_' || c == '~';
}

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

std::string EscapeUrl(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (IsUnreserved(c)) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

Routes::Routes(const Options& options)
    : root_(RootOf(options.prefix)), namespace_separator_(options.namespace_separator) {}

std::string Routes::JoinLevels(std::string_view namespace_name) const {
  std::string joined;
  while (true) {
    const std::size_t dot = namespace_name.find('.');
    joined += EscapeUrl(namespace_name.substr(0, dot));
    if (dot == std::string_view::npos) return joined;
    joined += namespace_separator_;
    namespace_name.remove_prefix(dot + 1);
  }
}

Route Routes::Config(std::string_view warehouse) {
  return WithQuery("/v1/config", {{"warehouse", EscapeUrl(warehouse)}});
}

Route Routes::Namespaces() const { return {fmt::format("{}/namespaces", root_)}; }

Route Routes::Namespaces(std::string_view parent, std::string_view page_token) const {
  return WithQuery(Namespaces().target, {{"parent", JoinLevels(parent)},
                                         {"pageToken", EscapeUrl(page_token)}});
}

Route Routes::Namespace(std::string_view namespace_name) const {
  return {fmt::format("{}/namespaces/{}", root_, JoinLevels(namespace_name))};
}

Route Routes::Tables(std::string_view namespace_name) const {
  return {fmt::format("{}/tables", Namespace(namespace_name).target)};
}

Route Routes::Tables(std::string_view namespace_name, std::string_view page_token) const {
  return WithQuery(Tables(namespace_name).target, {{"pageToken", EscapeUrl(page_token)}});
}

Route Routes::Table(const TableIdentifier& identifier) const {
  return {fmt::format("{}/{}", Tables(identifier.namespace_name).target,
                      EscapeUrl(identifier.name))};
}

Route Routes::DropTable(const TableIdentifier& identifier) const {
  return WithQuery(Table(identifier).target, {{"purgeRequested", "false"}});
}

Route Routes::Credentials(const TableIdentifier& identifier) const {
  return {fmt::format("{}/credentials", Table(identifier).target)};
}

}  // namespace firn::iceberg::rest
