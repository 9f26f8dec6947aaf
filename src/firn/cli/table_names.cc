#include "firn/cli/table_names.h"

#include <filesystem>

#include "firn/cli/table_access.h"
#include "firn/cli/workspace.h"

namespace firn::cli {
namespace {

/// Nobody waits longer for a completion.
constexpr std::int64_t kBusyTimeoutMs = 500;

}  // namespace

Result<std::vector<std::string>> ListTableNames(const Config& config, Runtime& runtime) {
  FIRN_ASSIGN_OR_RETURN(iceberg::SqlCatalogOptions options, CatalogOptions(config));
  std::vector<std::string> names;
  if (!std::filesystem::exists(options.database_path)) return names;
  options.mode = iceberg::SqliteMode::kExisting;
  options.busy_timeout_ms = kBusyTimeoutMs;
  FIRN_ASSIGN_OR_RETURN(const auto store, storage::LocalStore::Make(runtime, "/"));
  FIRN_ASSIGN_OR_RETURN(
      const iceberg::FileIo io,
      iceberg::FileIo::Make({{.prefix = "file:///", .store = store.get()}}));
  FIRN_ASSIGN_OR_RETURN(const auto catalog,
                        iceberg::SqlCatalog::Open(options, io, runtime));
  FIRN_ASSIGN_OR_RETURN(const auto tables, ListAllTables(*catalog));
  for (const auto& identifier : tables) names.push_back(ToString(identifier));
  return names;
}

}  // namespace firn::cli
