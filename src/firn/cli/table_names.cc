#include "firn/cli/table_names.h"

#include "firn/cli/table_access.h"
#include "firn/cli/workspace.h"

namespace firn::cli {
namespace {

/// Nobody waits longer for a completion.
constexpr std::int64_t kWaitMs = 500;

/// Gives a REST catalog up as soon.
void WaitNoLonger(iceberg::CatalogProperties& properties) {
  const std::string wait = fmt::to_string(kWaitMs);
  properties["rest.client.connection-timeout-ms"] = wait;
  properties["rest.client.request-timeout-ms"] = wait;
  properties["rest.client.max-retries"] = "1";
}

}  // namespace

Result<std::vector<std::string>> ListTableNames(const Config& config, Runtime& runtime) {
  FIRN_ASSIGN_OR_RETURN(iceberg::CatalogSettings settings, SettingsOf(config));
  settings.mode = iceberg::CatalogMode::kExisting;
  settings.wait_ms = kWaitMs;
  WaitNoLonger(settings.properties);
  FIRN_ASSIGN_OR_RETURN(const auto stores, Stores::Open(settings.properties, runtime));
  FIRN_ASSIGN_OR_RETURN(const auto catalog,
                        iceberg::OpenCatalog(settings, stores->file_io(), runtime));
  FIRN_ASSIGN_OR_RETURN(const auto tables, ListAllTables(*catalog));
  std::vector<std::string> names;
  for (const auto& identifier : tables) names.push_back(ToString(identifier));
  return names;
}

}  // namespace firn::cli
