#include <algorithm>
#include <map>
#include <optional>

#include "firn/cli/commands.h"
#include "firn/cli/json_output.h"
#include "firn/cli/key_text.h"
#include "firn/cli/manifest_list_text.h"
#include "firn/cli/manifest_text.h"
#include "firn/cli/terminal.h"
#include "firn/cli/text_table.h"
#include "firn/cli/units.h"
#include "firn/iceberg/serde/manifest_avro.h"
#include "firn/iceberg/serde/manifest_list_avro.h"
#include "firn/types/single_value.h"

namespace firn::cli {
namespace {

using iceberg::DataFile;
using iceberg::EntryStatus;
using iceberg::ManifestEntry;
using iceberg::ManifestHeader;

std::string_view NameOf(EntryStatus status) {
  switch (status) {
    case EntryStatus::kExisting:
      return "existing";
    case EntryStatus::kAdded:
      return "added";
    case EntryStatus::kDeleted:
      return "deleted";
  }
  return "";
}

std::string_view NameOf(iceberg::FileContent content) {
  switch (content) {
    case iceberg::FileContent::kData:
      return "data";
    case iceberg::FileContent::kPositionDeletes:
      return "position deletes";
    case iceberg::FileContent::kEqualityDeletes:
      return "equality deletes";
  }
  return "";
}

/// A bound as text; its bytes if they do not fit the type.
std::string BoundText(const types::Type& type, std::string_view bytes) {
  const auto value = types::FromBytes(type, bytes);
  return value.ok() ? types::ToText(type, *value) : HexText(bytes);
}

/// A column by its full name.
struct Column {
  FieldId id = 0;
  std::string name;
  types::Type type;
};

void AddPrimitiveColumns(const std::vector<types::Field>& fields,
                         const std::string& parent, std::vector<Column>& columns) {
  for (const types::Field& field : fields) {
    const std::string name = parent + field.name;
    if (field.type.is_primitive()) {
      columns.push_back({.id = field.id, .name = name, .type = field.type});
    }
    AddPrimitiveColumns(field.type.fields(), name + ".", columns);
  }
}

std::vector<Column> PrimitiveColumns(const types::Schema& schema) {
  std::vector<Column> columns;
  AddPrimitiveColumns(schema.fields, "", columns);
  return columns;
}

std::string PartitionText(const ManifestHeader& header, const DataFile& file) {
  std::string text;
  for (std::size_t i = 0; i < file.partition.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", header.spec.fields[i].name,
                        PartitionValueText(header, i, file.partition[i]));
  }
  return text;
}

std::string SpecText(const ManifestHeader& header) {
  std::string text = fmt::format("partition spec {}", header.spec.id);
  for (std::size_t i = 0; i < header.spec.fields.size(); ++i) {
    const types::PartitionField& field = header.spec.fields[i];
    const types::Field* source = SourceOf(header, i);
    text += fmt::format("{}{} = {}({})", i == 0 ? ": " : ", ", field.name,
                        ToString(field.transform), source ? source->name : "?");
  }
  return text;
}

/// Of one column over all live files.
struct ColumnFigures {
  std::int64_t bytes = 0;
  std::int64_t values = 0;
  std::int64_t nulls = 0;
  std::int64_t nans = 0;
  std::optional<types::Value> lower;
  std::optional<types::Value> upper;
};

std::int64_t CountOf(const std::map<FieldId, std::int64_t>& counts, FieldId id) {
  const auto found = counts.find(id);
  return found == counts.end() ? 0 : found->second;
}

/// The bound of a column in one file; nothing if it has none that can be read.
std::optional<types::Value> BoundOf(const std::map<FieldId, std::string>& bounds,
                                    const Column& column) {
  const auto found = bounds.find(column.id);
  if (found == bounds.end()) return std::nullopt;
  auto value = types::FromBytes(column.type, found->second);
  return value.ok() ? std::optional(*std::move(value)) : std::nullopt;
}

ColumnFigures FiguresOf(const Column& column, const std::vector<ManifestEntry>& entries) {
  ColumnFigures figures;
  for (const ManifestEntry& entry : entries) {
    const DataFile& file = entry.data_file;
    if (entry.status == EntryStatus::kDeleted) continue;
    figures.bytes += CountOf(file.column_sizes, column.id);
    figures.values += CountOf(file.value_counts, column.id);
    figures.nulls += CountOf(file.null_value_counts, column.id);
    figures.nans += CountOf(file.nan_value_counts, column.id);
    const auto lower = BoundOf(file.lower_bounds, column);
    const auto upper = BoundOf(file.upper_bounds, column);
    if (lower && (!figures.lower || *lower < *figures.lower)) figures.lower = lower;
    if (upper && (!figures.upper || *figures.upper < *upper)) figures.upper = upper;
  }
  return figures;
}

void PrintColumns(const ManifestHeader& header,
                  const std::vector<ManifestEntry>& entries) {
  TextTable table({{"column"},
                   {"type"},
                   {"size", Align::kRight},
                   {"values", Align::kRight},
                   {"nulls", Align::kRight},
                   {"NaNs", Align::kRight},
                   {"lowest bound"},
                   {"highest bound"}});
  for (const Column& column : PrimitiveColumns(header.schema)) {
    const ColumnFigures figures = FiguresOf(column, entries);
    const auto text = [&](const std::optional<types::Value>& bound) {
      return bound ? types::ToText(column.type, *bound) : "";
    };
    table.AddRow({column.name, column.type.ToString(), FormatBytes(figures.bytes),
                  FormatCount(figures.values), FormatCount(figures.nulls),
                  FormatCount(figures.nans), text(figures.lower), text(figures.upper)});
  }
  fmt::print("\nlive files by column\n{}", table.ToString());
}

void PrintText(const std::string& file, const ManifestHeader& header,
               const std::vector<ManifestEntry>& entries) {
  fmt::print("manifest  {}\nof        {} files, format v{}, {}\n\n", Printable(file),
             ContentName(header.content), header.format_version,
             Printable(SpecText(header)));
  TextTable table({{"status"},
                   {"snapshot", Align::kRight},
                   {"sequence", Align::kRight},
                   {"partition"},
                   {"rows", Align::kRight},
                   {"size", Align::kRight},
                   {"file", Align::kLeft, kNoLimit}});
  for (const ManifestEntry& entry : entries) {
    const DataFile& data = entry.data_file;
    table.AddRow({std::string(NameOf(entry.status)), TextOrInherited(entry.snapshot_id),
                  TextOrInherited(entry.sequence_number), PartitionText(header, data),
                  FormatCount(data.record_count), FormatBytes(data.file_size_in_bytes),
                  data.file_path.substr(data.file_path.rfind('/') + 1)});
  }
  fmt::print("{}", table.ToString());
  PrintColumns(header, entries);
}

Json ColumnsJson(const ManifestHeader& header, const DataFile& file) {
  Json json = Json::object();
  const auto count = [](const std::map<FieldId, std::int64_t>& counts, FieldId id) {
    const auto found = counts.find(id);
    return found == counts.end() ? Json(nullptr) : Json(found->second);
  };
  const auto bound = [](const std::map<FieldId, std::string>& bounds,
                        const Column& column) {
    const auto found = bounds.find(column.id);
    return found == bounds.end() ? Json(nullptr)
                                 : Json(BoundText(column.type, found->second));
  };
  for (const Column& column : PrimitiveColumns(header.schema)) {
    json[column.name] = {{"id", column.id},
                         {"bytes", count(file.column_sizes, column.id)},
                         {"values", count(file.value_counts, column.id)},
                         {"nulls", count(file.null_value_counts, column.id)},
                         {"nans", count(file.nan_value_counts, column.id)},
                         {"lower", bound(file.lower_bounds, column)},
                         {"upper", bound(file.upper_bounds, column)}};
  }
  return json;
}

Json ToJson(const ManifestHeader& header, const ManifestEntry& entry) {
  const DataFile& file = entry.data_file;
  Json partition = Json::object();
  for (std::size_t i = 0; i < file.partition.size(); ++i) {
    partition[header.spec.fields[i].name] =
        types::IsNull(file.partition[i])
            ? Json(nullptr)
            : Json(PartitionValueText(header, i, file.partition[i]));
  }
  return {{"status", NameOf(entry.status)},
          {"snapshot_id", JsonOf(entry.snapshot_id)},
          {"sequence_number", JsonOf(entry.sequence_number)},
          {"file_sequence_number", JsonOf(entry.file_sequence_number)},
          {"first_row_id", file.first_row_id ? Json(*file.first_row_id) : Json(nullptr)},
          {"content", NameOf(file.content)},
          {"path", file.file_path},
          {"format", file.file_format},
          {"partition", std::move(partition)},
          {"rows", file.record_count},
          {"bytes", file.file_size_in_bytes},
          {"sort_order_id", JsonOf(file.sort_order_id)},
          {"split_offsets", file.split_offsets},
          {"columns", ColumnsJson(header, file)}};
}

Json ToJson(const std::string& file, const ManifestHeader& header,
            const std::vector<ManifestEntry>& entries) {
  Json json = {{"manifest", file},
               {"content", ContentName(header.content)},
               {"format_version", header.format_version},
               {"partition_spec_id", header.spec.id.value()},
               {"entries", Json::array()}};
  for (const ManifestEntry& entry : entries) {
    json["entries"].push_back(ToJson(header, entry));
  }
  return json;
}

Status InspectManifest(const std::string& file, std::string_view bytes,
                       const ManifestHeader& header, OutputFormat format) {
  const auto entries =
      iceberg::DecodeManifest(bytes, header.spec, header.partition_types);
  FIRN_RETURN_NOT_OK(AddContext(entries.status(), file));
  if (format == OutputFormat::kJson) {
    PrintJson(ToJson(file, header, *entries));
  } else {
    PrintText(file, header, *entries);
  }
  return Status::OK();
}

}  // namespace

Status RunInspectManifest(const CommandContext& context, const std::string& file,
                          OutputFormat format) {
  FIRN_ASSIGN_OR_RETURN(const auto stores, OpenStores(context));
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, stores->Read(file));
  const auto header = iceberg::DecodeManifestHeader(bytes);
  FIRN_RETURN_NOT_OK(AddContext(header.status(), file));
  if (*header) return InspectManifest(file, bytes, **header, format);
  const auto manifests = iceberg::DecodeManifestList(bytes);
  FIRN_RETURN_NOT_OK(AddContext(manifests.status(), file));
  if (format == OutputFormat::kJson) {
    PrintJson(ManifestListJson(file, *manifests, *stores));
  } else {
    PrintManifestList(file, *manifests, *stores);
  }
  return Status::OK();
}

}  // namespace firn::cli
