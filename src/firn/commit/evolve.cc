#include "firn/commit/evolve.h"

#include <optional>
#include <utility>

#include "firn/commit/commit_retry.h"
#include "firn/iceberg/update/schema_change.h"

namespace firn::commit {
namespace {

/// All attempts to change one schema.
class Evolution {
 public:
  Evolution(iceberg::Catalog& catalog, const EvolvedTable& table,
            const types::Schema& wanted)
      : catalog_(catalog), table_(table), wanted_(wanted) {}

  Result<iceberg::LoadedTable> Run(CommitRetry retry) {
    return TryCommit<iceberg::LoadedTable>(
        retry, [this] { return Try(); }, [this] { return LookForIt(); });
  }

 private:
  struct View {
    iceberg::LoadedTable table;
    /// Nothing if the table takes the rows.
    std::optional<iceberg::PreparedSchemaChange> change = std::nullopt;
  };

  Result<View> Look() {
    View view;
    FIRN_ASSIGN_OR_RETURN(view.table, catalog_.LoadTable(table_.identifier));
    if (view.table.metadata.table_uuid != table_.uuid) {
      return Error(ErrorKind::kNotFound, "the table was dropped and made anew");
    }
    FIRN_ASSIGN_OR_RETURN(view.change,
                          iceberg::PrepareSchemaChange(view.table.metadata, wanted_));
    return view;
  }

  Result<iceberg::LoadedTable> Try() {
    FIRN_ASSIGN_OR_RETURN(View view, Look());
    if (!view.change) return std::move(view.table);
    return catalog_.CommitTable(table_.identifier, view.change->requirements,
                                view.change->updates);
  }

  std::optional<iceberg::LoadedTable> LookForIt() {
    Result<View> view = Look();
    if (!view.ok() || view->change) return std::nullopt;
    return std::move(view->table);
  }

  iceberg::Catalog& catalog_;
  const EvolvedTable& table_;
  const types::Schema& wanted_;
};

}  // namespace

Result<iceberg::LoadedTable> EvolveTable(iceberg::Catalog& catalog, Runtime& runtime,
                                         const EvolvedTable& table,
                                         const types::Schema& wanted) {
  auto evolved = Evolution(catalog, table, wanted).Run(CommitRetry(runtime, table.stop));
  if (evolved.ok()) return evolved;
  return AddContext(evolved.status(),
                    fmt::format("changing the schema of {}", table.identifier));
}

}  // namespace firn::commit
