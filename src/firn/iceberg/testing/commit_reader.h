#pragma once

#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/update/new_table.h"
#include "firn/iceberg/update/requirement.h"
#include "firn/iceberg/update/table_update.h"

namespace firn::iceberg {

/// What a REST server reads: the other half of what RestCatalog writes, for tests.

struct ReceivedCommit {
  std::vector<TableRequirement> requirements;
  std::vector<TableUpdate> updates;

  bool operator==(const ReceivedCommit&) const = default;
};
/// "CommitTableRequest". Fails for an action or requirement that is not known, as the
/// specification asks of servers.
Result<ReceivedCommit> ParseCommit(std::string_view text);

struct ReceivedCreation {
  std::string name;
  TableCreation creation;
};
/// "CreateTableRequest".
Result<ReceivedCreation> ParseCreation(std::string_view text);

}  // namespace firn::iceberg
