#include "firn/iceberg/catalog/catalog.h"

#include <algorithm>

namespace firn::iceberg {
namespace {

constexpr char kSeparator = '.';

/// Namespace and name become folders.
bool IsForbidden(char c) {
  return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool IsName(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, IsForbidden);
}

}  // namespace

std::string ToString(const TableIdentifier& identifier) {
  return fmt::format("{}{}{}", identifier.namespace_name, kSeparator, identifier.name);
}

Result<TableIdentifier> ParseTableIdentifier(std::string_view text) {
  const std::size_t dot = text.rfind(kSeparator);
  if (dot == std::string_view::npos) {
    return InvalidError("'{}' is no table name: write namespace.table", text);
  }
  const std::string_view namespace_name = text.substr(0, dot);
  const std::string_view name = text.substr(dot + 1);
  if (!IsName(name)) return InvalidError("'{}' is no table name", text);
  FIRN_RETURN_NOT_OK(CheckNamespace(namespace_name));
  return TableIdentifier{std::string(namespace_name), std::string(name)};
}

Status CheckNamespace(std::string_view namespace_name) {
  std::string_view rest = namespace_name;
  while (true) {
    const std::size_t dot = rest.find(kSeparator);
    if (!IsName(rest.substr(0, dot))) {
      return InvalidError("'{}' is no namespace: write names joined by dots",
                          namespace_name);
    }
    if (dot == std::string_view::npos) return Status::OK();
    rest.remove_prefix(dot + 1);
  }
}

std::vector<std::string> NamespaceAndParents(std::string_view namespace_name) {
  std::vector<std::string> names;
  for (std::size_t dot = namespace_name.find(kSeparator); dot != std::string_view::npos;
       dot = namespace_name.find(kSeparator, dot + 1)) {
    names.emplace_back(namespace_name.substr(0, dot));
  }
  names.emplace_back(namespace_name);
  return names;
}

std::string DefaultTableLocation(std::string_view warehouse,
                                 const TableIdentifier& identifier) {
  while (warehouse.ends_with('/')) warehouse.remove_suffix(1);
  return fmt::format("{}/{}/{}", warehouse, identifier.namespace_name, identifier.name);
}

}  // namespace firn::iceberg
