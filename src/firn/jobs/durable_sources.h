#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "firn/core/ids.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/storage/object_store.h"

namespace firn::jobs {

/// Where to look; all must outlive the call.
struct DurableLook {
  Runtime& runtime;
  iceberg::Catalog& catalog;
  storage::ObjectStore& wal_store;
  const WalId& wal_id;
};

/// How far `sources` are durable, by source id: in the table, or in what of the WAL a
/// shift will take. A source of which nothing is durable is left out.
Result<std::map<std::string, std::int64_t>> FindDurableSources(
    const DurableLook& look, const iceberg::TableIdentifier& table,
    const std::vector<std::string>& sources);

}  // namespace firn::jobs
