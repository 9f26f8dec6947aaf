#include "firn/storage/location.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

namespace firn::storage {
namespace {

constexpr std::string_view kFileScheme = "file";

bool IsAsciiLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// The text before the first ':' if it has the form of a scheme (RFC 3986, 3.1), in lower
/// case.
std::optional<std::string> SchemeOf(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string scheme(text.substr(0, colon));
  for (char& c : scheme) {
    if (!IsAsciiLetterOrDigit(c) && c != '+' && c != '-' && c != '.') return std::nullopt;
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return scheme;
}

std::string WithoutSpareSlashes(std::string_view path) {
  std::string result;
  for (const char c : path) {
    if (c != '/' || result.empty() || result.back() != '/') result.push_back(c);
  }
  if (result.size() > 1 && result.back() == '/') result.pop_back();
  return result;
}

Result<Location> FileLocation(Location location, std::string_view text) {
  if (!location.authority.empty() && location.authority != "localhost") {
    return InvalidError("location '{}' names a file on the host '{}': use file:///path",
                        text, location.authority);
  }
  if (!location.path.starts_with('/')) {
    return InvalidError("location '{}' is relative: give the absolute path", text);
  }
  return Location{.scheme = std::string(kFileScheme),
                  .authority = {},
                  .path = WithoutSpareSlashes(location.path)};
}

}  // namespace

Result<Location> ParseLocation(std::string_view text) {
  const std::optional<std::string> scheme = SchemeOf(text);
  if (!scheme.has_value()) {
    return FileLocation({.scheme = {}, .authority = {}, .path = std::string(text)}, text);
  }
  Location location{.scheme = *scheme, .authority = {}, .path = {}};
  std::string_view rest = text.substr(scheme->size() + 1);
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::size_t authority_size = std::min(rest.find('/'), rest.size());
    location.authority = rest.substr(0, authority_size);
    rest.remove_prefix(authority_size);
  }
  location.path = rest;
  if (location.scheme == kFileScheme) return FileLocation(std::move(location), text);
  if (!location.path.empty() && !location.path.starts_with('/')) {
    return InvalidError("location '{}' is relative: write {}://bucket/path", text,
                        location.scheme);
  }
  return location;
}

Result<std::string> LocalPathOf(std::string_view location) {
  FIRN_ASSIGN_OR_RETURN(Location parsed, ParseLocation(location));
  if (parsed.scheme != kFileScheme) {
    return InvalidError("location '{}' is not a local path: its scheme is '{}'", location,
                        parsed.scheme);
  }
  return std::move(parsed.path);
}

std::string LocationOfLocalPath(std::string_view path) {
  if (path.find_first_of("#?\n\r\t") != std::string_view::npos) return std::string(path);
  return fmt::format("{}://{}", kFileScheme, path);
}

}  // namespace firn::storage
