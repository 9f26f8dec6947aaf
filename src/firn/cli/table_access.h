#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/cli/commands.h"
#include "firn/cli/workspace.h"
#include "firn/core/ids.h"
#include "firn/iceberg/catalog/catalog.h"
#include "firn/shift/table_shift.h"
#include "firn/wal/wal_reader.h"

namespace firn::cli {

/// One table of a workspace, loaded.
struct OpenTable {
  iceberg::TableIdentifier identifier;
  iceberg::LoadedTable loaded;

  const iceberg::TableMetadata& metadata() const { return loaded.metadata; }
};

/// Loads a table by the name that a user typed. A usage error if it is no table name;
/// NotFound, saying how to make it, if there is none.
Result<OpenTable> FindTable(Workspace& workspace, const std::string& name);
/// The same, where it may as well be missing.
Result<std::optional<OpenTable>> FindTableIfThere(Workspace& workspace,
                                                  const std::string& name);

/// The WAL root's id for a command that only looks. Of a root that nobody has used yet, a
/// fresh one that is not written: no table speaks of it.
Result<WalId> WalIdForReading(Workspace& workspace);

/// All tables of a catalog, by name.
Result<std::vector<iceberg::TableIdentifier>> ListAllTables(iceberg::Catalog& catalog);

/// How the configuration wants a table to be shifted.
shift::TableShiftOptions ShiftOptions(const Config& config, const std::string& table);

/// The shift of a table, as the configuration wants it. `workspace` and `reader` must
/// outlive it.
shift::TableShift MakeTableShift(Workspace& workspace, wal::WalReader& reader,
                                 const OpenTable& table, const WalId& wal_id);

}  // namespace firn::cli
