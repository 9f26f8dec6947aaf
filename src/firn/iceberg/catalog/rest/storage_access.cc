#include "firn/iceberg/catalog/rest/storage_access.h"

#include <utility>

#include "firn/core/whole_number.h"

namespace firn::iceberg::rest {
namespace {

/// As Iceberg's Java library names it.
constexpr const char* kExpiryProperty = "s3.session-token-expires-at-ms";

const StorageCredential* LongestMatch(std::string_view location,
                                      const std::vector<StorageCredential>& credentials) {
  const StorageCredential* longest = nullptr;
  for (const StorageCredential& credential : credentials) {
    const bool is_longer =
        longest == nullptr || credential.prefix.size() > longest->prefix.size();
    if (location.starts_with(credential.prefix) && is_longer) longest = &credential;
  }
  return longest;
}

std::optional<WallTime> ExpiryOf(const CatalogProperties& properties) {
  const auto text = FindProperty(properties, kExpiryProperty);
  const auto milliseconds = ParseWholeNumber<std::int64_t>(text.value_or(""));
  constexpr std::int64_t kMillisecondsMax = 1LL << 50;
  if (!milliseconds || *milliseconds < 0 || *milliseconds > kMillisecondsMax) {
    return std::nullopt;
  }
  return WallTime(std::chrono::milliseconds(*milliseconds));
}

/// `above` wins.
CatalogProperties Over(CatalogProperties above, CatalogProperties below) {
  above.merge(below);
  return above;
}

}  // namespace

StorageAccess AccessTo(std::string_view location, const TableAnswer& answer,
                       const CatalogProperties& catalog) {
  CatalogProperties vended = answer.config;
  const StorageCredential* credential = LongestMatch(location, answer.credentials);
  if (credential != nullptr) vended = Over(credential->config, std::move(vended));
  const std::optional<WallTime> expiry = ExpiryOf(vended);
  return {.properties = Over(std::move(vended), catalog), .expiry = expiry};
}

}  // namespace firn::iceberg::rest
