#include "firn/cli/table_layout.h"

#include <fmt/ranges.h>

#include "firn/cli/exit_code.h"
#include "firn/iceberg/update/new_table.h"
#include "firn/shift/table_check.h"
#include "firn/sources/dead_letters.h"
#include "firn/types/transform_term.h"

namespace firn::cli {
namespace {

/// "tenant", "day(ts)", "bucket(16, id)".
std::string TermText(const types::Schema& schema, FieldId source,
                     const types::Transform& transform) {
  const std::string name = SourceName(schema, source);
  if (transform.kind == types::TransformKind::kIdentity) return name;
  const std::string text = ToString(transform);
  const std::string function = text.substr(0, text.find('['));
  if (transform.parameter == 0) return fmt::format("{}({})", function, name);
  return fmt::format("{}({}, {})", function, transform.parameter, name);
}

/// What cannot be shifted is told before there is a table.
Status CheckCreation(const iceberg::TableCreation& creation, Runtime& runtime) {
  FIRN_ASSIGN_OR_RETURN(const iceberg::TableMetadata metadata,
                        NewTableMetadata(creation, TableUuid(), runtime.Now()));
  return shift::CheckShiftable(metadata);
}

Status EnsureNamespace(iceberg::Catalog& catalog, const std::string& name) {
  const Status status = catalog.CreateNamespace(name);
  return IsError(status, ErrorKind::kAlreadyExists) ? Status::OK() : status;
}

}  // namespace

Result<types::PartitionSpec> PartitionBy(const std::string& text,
                                         const types::Schema& schema) {
  auto spec = types::ParsePartitionSpec(text, schema);
  FIRN_RETURN_NOT_OK(AsUsageError(AddContext(spec.status(), "--partition-by")));
  return spec;
}

Result<order::SortOrder> SortBy(const std::string& text, const types::Schema& schema) {
  auto order = order::ParseSortOrder(text, schema);
  FIRN_RETURN_NOT_OK(AsUsageError(AddContext(order.status(), "--sort-by")));
  return order;
}

Status CheckNewName(const Config& config, const std::string& name) {
  const auto identifier = iceberg::ParseTableIdentifier(name);
  FIRN_RETURN_NOT_OK(AsUsageError(identifier.status()));
  const std::string suffix = sources::DeadLetterTable("");
  if (name.ends_with(suffix)) {
    return AsUsageError(InvalidError(
        "{}: names that end in {} are those of tables of dead letters; choose another",
        name, suffix));
  }
  const auto warehouse = config.catalog.warehouse_folder();
  if (!warehouse) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const std::string folder, AbsolutePath(*warehouse));
  FIRN_ASSIGN_OR_RETURN(const std::string wal, WalRootPath(config));
  const std::string table = iceberg::DefaultTableLocation(folder, *identifier);
  // SQLite puts files of its own beside the catalog's: catalog.db-wal.
  if (table.starts_with(folder + "/catalog.db")) {
    return AsUsageError(
        InvalidError("{}: its folder would be {}, where the catalog's files are; choose "
                     "another namespace",
                     name, table));
  }
  if (!table.starts_with(wal + "/")) return Status::OK();
  return AsUsageError(InvalidError(
      "{}: its folder would be {}, in the WAL; choose another namespace", name, table));
}

Result<OpenTable> CreateTable(Workspace& workspace, const std::string& name,
                              const NewTable& table) {
  const auto identifier = iceberg::ParseTableIdentifier(name);
  if (!identifier.ok()) return AsUsageError(identifier.status());
  const types::Schema schema = AssignFreshIds(table.schema);
  iceberg::TableCreation creation{.schema = schema, .properties = table.properties};
  FIRN_ASSIGN_OR_RETURN(creation.partition_spec, PartitionBy(table.partition_by, schema));
  FIRN_ASSIGN_OR_RETURN(creation.sort_order, SortBy(table.sort_by, schema));
  FIRN_RETURN_NOT_OK(AsUsageError(CheckCreation(creation, workspace.runtime())));
  FIRN_RETURN_NOT_OK(EnsureNamespace(workspace.catalog(), identifier->namespace_name));
  FIRN_ASSIGN_OR_RETURN(
      iceberg::LoadedTable loaded,
      workspace.catalog().CreateTable(*identifier, std::move(creation)));
  return OpenTable{.identifier = *identifier, .loaded = std::move(loaded)};
}

std::string PartitionText(const iceberg::TableMetadata& metadata) {
  std::vector<std::string> terms;
  for (const types::PartitionField& field : DefaultSpec(metadata).fields) {
    terms.push_back(TermText(CurrentSchema(metadata), field.source_id, field.transform));
  }
  return fmt::format("{}", fmt::join(terms, ", "));
}

std::string SortText(const iceberg::TableMetadata& metadata) {
  std::vector<std::string> terms;
  for (const order::SortField& field : DefaultSortOrder(metadata).fields) {
    terms.push_back(fmt::format(
        "{} {} nulls {}",
        TermText(CurrentSchema(metadata), field.source_id, field.transform),
        field.direction == order::Direction::kAscending ? "asc" : "desc",
        field.null_order == order::NullOrder::kNullsFirst ? "first" : "last"));
  }
  return fmt::format("{}", fmt::join(terms, ", "));
}

}  // namespace firn::cli
