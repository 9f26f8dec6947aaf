#include "firn/iceberg/metadata/schema_coherence.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace firn::iceberg {
namespace {

using types::Field;
using types::Type;
using types::TypeKind;

/// What is wrong, and where: a path that grows at its front on the way up, so that none
/// is made while all is well.
struct Fault {
  std::string path;
  std::string text;
};
using Found = std::optional<Fault>;

Status ToStatus(const Fault& fault, std::string_view list, std::size_t index) {
  return Error(ErrorKind::kCorruption, "{}[{}]{}: {}", list, index, fault.path,
               fault.text);
}

/// Ids that a schema or spec gives out.
class Ids {
 public:
  /// `last` is the metadata's field `last_name`.
  Ids(std::string_view last_name, std::optional<FieldId> last)
      : last_name_(last_name), last_(last) {}

  /// Nothing if `id` is fine, else what is wrong with it.
  std::optional<std::string> Take(FieldId id) {
    if (id < 0) return fmt::format("{} is negative", id);
    if (!taken_.insert(id).second) return fmt::format("another field has the id {}", id);
    if (!last_ || id <= *last_) return std::nullopt;
    return fmt::format("{} is above {}, {}", id, last_name_, *last_);
  }

 private:
  const std::string_view last_name_;
  const std::optional<FieldId> last_;
  std::unordered_set<FieldId> taken_;
};

/// The names of one struct or spec.
class Names {
 public:
  std::optional<std::string> Take(std::string_view name) {
    if (taken_.insert(name).second) return std::nullopt;
    return fmt::format("another field here has the name '{}'", name);
  }

 private:
  std::unordered_set<std::string_view> taken_;
};

Found CheckType(const Type& type, Ids& ids);

Found CheckStruct(const std::vector<Field>& fields, Ids& ids) {
  Names names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto at = [i](std::string_view member) {
      return fmt::format(".fields[{}].{}", i, member);
    };
    if (auto text = ids.Take(fields[i].id)) return Fault{at("id"), *std::move(text)};
    if (auto text = names.Take(fields[i].name)) {
      return Fault{at("name"), *std::move(text)};
    }
    if (Found below = CheckType(fields[i].type, ids)) {
      return Fault{at("type") + below->path, below->text};
    }
  }
  return std::nullopt;
}

/// The element of a list, or a map's key or value.
Found CheckPart(const Field& part, Ids& ids) {
  if (auto text = ids.Take(part.id)) {
    return Fault{fmt::format(".{}-id", part.name), *std::move(text)};
  }
  if (Found below = CheckType(part.type, ids)) {
    return Fault{fmt::format(".{}{}", part.name, below->path), below->text};
  }
  return std::nullopt;
}

Found CheckType(const Type& type, Ids& ids) {
  if (type.is_primitive()) return std::nullopt;
  if (type.kind() == TypeKind::kStruct) return CheckStruct(type.fields(), ids);
  for (const Field& part : type.fields()) {
    if (Found found = CheckPart(part, ids)) return found;
  }
  return std::nullopt;
}

Found CheckSpec(const types::PartitionSpec& spec, Ids ids) {
  Names names;
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    const types::PartitionField& field = spec.fields[i];
    if (auto text = ids.Take(field.field_id)) {
      return Fault{fmt::format(".fields[{}].field-id", i), *std::move(text)};
    }
    if (auto text = names.Take(field.name)) {
      return Fault{fmt::format(".fields[{}].name", i), *std::move(text)};
    }
  }
  return std::nullopt;
}

/// Only who writes gives out further ids.
std::optional<FieldId> IfWritten(const TableMetadata& metadata, FieldId last) {
  return metadata.format_version == 1 ? std::nullopt : std::optional(last);
}

}  // namespace

Status CheckSchemaIds(const TableMetadata& metadata) {
  const auto last = IfWritten(metadata, metadata.last_column_id);
  for (std::size_t i = 0; i < metadata.schemas.size(); ++i) {
    Ids ids("last-column-id", last);
    const Found fault = CheckStruct(metadata.schemas[i].fields, ids);
    if (fault) return ToStatus(*fault, "schemas", i);
  }
  return Status::OK();
}

Status CheckSpecIds(const TableMetadata& metadata) {
  const auto last = IfWritten(metadata, metadata.last_partition_id);
  for (std::size_t i = 0; i < metadata.partition_specs.size(); ++i) {
    const Found fault =
        CheckSpec(metadata.partition_specs[i], Ids("last-partition-id", last));
    if (fault) return ToStatus(*fault, "partition-specs", i);
  }
  return Status::OK();
}

}  // namespace firn::iceberg
